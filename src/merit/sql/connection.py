"""One guarded SQLite connection: read-only three times over, capped, interruptible, and typed in what it returns."""

import os
import re
import sqlite3
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from merit.sql.limits import MIB, Limits
from merit.sql.result import Error, Result, Row, Rows, Timeout
from merit.sql.watchdog import WATCHDOG
from merit.types import Cause

READABLE_PRAGMAS = frozenset(
    {"foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_list", "table_xinfo"}
)
OUTSIDE_FUNCTIONS = frozenset({"edit", "fts3_tokenizer", "load_extension", "readfile", "writefile"})
# These gather text without minding the cell limit, or turn what is too long into NULL instead of an error.
HUNGRY_FUNCTIONS = frozenset(
    {"format", "json_group_array", "json_group_object", "jsonb_group_array", "jsonb_group_object", "printf"}
)
# Table-valued functions that only read. SQLite declares such a table when it is first mentioned, with the same
# authorizer calls as CREATE TABLE, so they are mentioned once on our behalf before the authorizer stands.
READABLE_TABLES = frozenset({"json_each", "json_tree"} | {f"pragma_{name}" for name in READABLE_PRAGMAS})
_READABLE_TABLE = re.compile(rf"\b({'|'.join(sorted(READABLE_TABLES))})\b")

_OUTSIDE_ACTIONS = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA})
_FREE_ACTIONS = frozenset({sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})

_ALLOWED_PRAGMAS = READABLE_PRAGMAS | {"data_version"}  # which full-text search asks for itself
_SCHEMA_TABLES = frozenset({"sqlite_master", "sqlite_temp_master"})
_READING = re.compile(r"\s*(?:explain|select|values|with)\b", re.IGNORECASE)

_CHUNK_BYTES = 8 * MIB
_QUICK_ROW_BYTES = 8 * MIB
_QUICK_WAIT_S = 0.05
_LONG_WAIT_S = 3600.0  # whoever waits in a process of its own is killed at the deadline

_WRITE_REFUSED = "attempt to write a readonly database"
_CAUSES = {
    sqlite3.SQLITE_READONLY: Cause.READ_ONLY,
    sqlite3.SQLITE_TOOBIG: Cause.TOO_LARGE,
    sqlite3.SQLITE_NOMEM: Cause.TOO_LARGE,
    # The database itself is never written, so only temporary files can run out of room.
    sqlite3.SQLITE_FULL: Cause.TOO_LARGE,
    sqlite3.SQLITE_CANTOPEN: Cause.DATABASE_UNREADABLE,
    sqlite3.SQLITE_CORRUPT: Cause.DATABASE_UNREADABLE,
    sqlite3.SQLITE_NOTADB: Cause.DATABASE_UNREADABLE,
    sqlite3.SQLITE_BUSY: Cause.DATABASE_BUSY,
    sqlite3.SQLITE_LOCKED: Cause.DATABASE_BUSY,
    sqlite3.SQLITE_IOERR: Cause.DATABASE_UNREADABLE,
    sqlite3.SQLITE_PERM: Cause.DATABASE_UNREADABLE,
}


def _decode_lossy(text: bytes) -> str:
    return text.decode(errors="ignore")


def _uri(path: Path, frozen: bool) -> str:
    # A file nobody else writes needs no locks; one with a journal beside it must be read through it.
    sidecars = (path.with_name(path.name + suffix) for suffix in ("-wal", "-journal"))
    frozen = frozen and not any(sidecar.exists() for sidecar in sidecars)
    return f"file:{quote(os.fsencode(path.absolute()))}?mode=ro" + ("&immutable=1" if frozen else "")


@dataclass(frozen=True, slots=True)
class Caps:
    """What SQLite itself refuses: longer cells, longer LIKE patterns."""

    cell_bytes: int
    pattern_bytes: int = 50_000


class Connection:
    """A connection to one database file that can be handed any text at all."""

    def __init__(self, path: Path, *, frozen: bool, quick: bool) -> None:
        """Open `path`; `frozen` says that nobody writes it meanwhile, `quick` that it is opened in our own process."""
        self._raw = sqlite3.connect(
            _uri(path, frozen),
            timeout=_QUICK_WAIT_S if quick else _LONG_WAIT_S,  # for somebody else's lock
            uri=True,
            isolation_level=None,
            cached_statements=0,
            check_same_thread=False,
        )
        try:
            self._raw.execute("PRAGMA query_only=1")
            self._raw.execute("PRAGMA trusted_schema=0")
            if sys.version_info >= (3, 12):  # builds differ in whether "text" may be a literal; benchmarks need it
                self._raw.setconfig(sqlite3.SQLITE_DBCONFIG_DQS_DML, True)
            self._declare_virtual_tables()
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:  # then statements will wait
                self._raw.close()
                raise
        self._raw.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._raw.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
        self._raw.set_authorizer(self._authorize)
        self._declared: set[str] = set()
        self._quick = quick
        self._caps: Caps | None = None
        self._sql = ""
        self._refusal: Error | None = None
        self._expired = False

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()

    def expire(self) -> None:
        """Interrupt the running statement (called by the watchdog)."""
        self._expired = True
        self._raw.interrupt()

    def run(self, sql: str, limits: Limits, caps: Caps, timeout_s: float, *, distinct: bool, lossy: bool) -> Result:
        """Run one query within `limits`, the narrower `caps` and `timeout_s`."""
        unfit = _unfit(sql, limits)
        if unfit is not None:
            return unfit
        if caps is not self._caps:
            self._apply(caps)
        lowered = sql.lower()
        if "json_" in lowered or "pragma_" in lowered:
            self._declare(lowered)
        self._sql = sql
        self._refusal = None
        self._expired = False
        try:
            WATCHDOG.arm(self, time.monotonic() + timeout_s)
            return self._fetch(sql, limits, caps, distinct, lossy)
        except sqlite3.Warning as error:  # Python 3.11's word for several statements
            return Error(Cause.STATEMENTS, str(error))
        except sqlite3.Error as error:
            return self._failure(error, timeout_s)
        except MemoryError:
            return Error(Cause.TOO_LARGE, "out of memory")
        except UnicodeError:  # a message or a column name
            return Error(Cause.DBMS, "the database answered with text that is not UTF-8")
        finally:
            WATCHDOG.disarm(self)

    def _fetch(self, sql: str, limits: Limits, caps: Caps, distinct: bool, lossy: bool) -> Result:
        cursor = self._raw.execute(sql)
        try:
            if cursor.description is None:
                return Error(Cause.STATEMENTS, "not a query: there is no statement, or one without a result")
            columns = tuple([column[0] for column in cursor.description])
            row_bytes = len(columns) * caps.cell_bytes
            if self._quick and row_bytes > _QUICK_ROW_BYTES:
                return Error(Cause.TOO_LARGE, "a row this wide needs a process of its own")
            try:
                rows, truncated = _collect(cursor, row_bytes, limits, distinct)
            except sqlite3.OperationalError as error:
                if not lossy or hasattr(error, "sqlite_errorcode"):
                    raise
                # Python's own error: text that is not UTF-8. Only then pay for decoding cell by cell.
                return self._fetch_lossy(sql, columns, limits, caps, distinct)
            return Rows(columns, rows, truncated)
        finally:
            cursor.close()

    def _fetch_lossy(self, sql: str, columns: tuple[str, ...], limits: Limits, caps: Caps, distinct: bool) -> Rows:
        self._raw.text_factory = _decode_lossy
        try:
            cursor = self._raw.execute(sql)
            try:
                return Rows(columns, *_collect(cursor, len(columns) * caps.cell_bytes, limits, distinct))
            finally:
                cursor.close()
        finally:
            self._raw.text_factory = str

    def _apply(self, caps: Caps) -> None:
        self._raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, caps.cell_bytes)
        self._raw.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, caps.pattern_bytes)
        self._caps = caps

    def _declare(self, lowered: str) -> None:
        """Have SQLite declare the harmless table-valued functions that a statement mentions."""
        for name in set(_READABLE_TABLE.findall(lowered)) - self._declared:
            try:
                self._raw.set_authorizer(None)
                self._raw.execute(f"SELECT 1 FROM {name}('0')").close()
            except sqlite3.Error:  # a build without this function: the statement itself will say so
                pass
            finally:
                self._raw.set_authorizer(self._authorize)
            self._declared.add(name)

    def _declare_virtual_tables(self) -> None:
        """Have SQLite connect the database's own virtual tables (full-text search, ...); also its first real read."""
        virtual = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'"
        for (name,) in self._raw.execute(virtual).fetchall():
            quoted = name.replace('"', '""')
            try:
                self._raw.execute(f'SELECT 1 FROM "{quoted}" LIMIT 0').close()
            except sqlite3.OperationalError:  # a module this build does not have
                continue

    def _authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action in _FREE_ACTIONS:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            name = (second or "").lower()
            if name in OUTSIDE_FUNCTIONS:
                self._refusal = Error(Cause.FORBIDDEN, f"not authorized to use function: {name}")
            elif self._quick and name in HUNGRY_FUNCTIONS:
                self._refusal = Error(Cause.TOO_LARGE, f"{name} needs a process of its own")
            else:
                return sqlite3.SQLITE_OK
        elif action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _ALLOWED_PRAGMAS:
            return sqlite3.SQLITE_OK
        elif action in _OUTSIDE_ACTIONS:
            self._refusal = Error(Cause.FORBIDDEN, "not authorized")
        elif first in _SCHEMA_TABLES and _READING.match(self._sql):
            self._refusal = Error(Cause.FORBIDDEN, "not authorized")  # an undeclared table-valued function
        else:
            self._refusal = Error(Cause.READ_ONLY, _WRITE_REFUSED)
        return sqlite3.SQLITE_DENY

    def _failure(self, error: sqlite3.Error, timeout_s: float) -> Error | Timeout:
        code = getattr(error, "sqlite_errorcode", None)
        if self._refusal is not None:
            return self._refusal
        if code is None:  # Python's driver itself: several statements (3.12 on), parameters, text that is not UTF-8
            several = "one statement" in str(error)
            return Error(Cause.STATEMENTS if several else Cause.DBMS, str(error))
        if code == sqlite3.SQLITE_AUTH:  # nobody refused: Ctrl-C struck inside the authorizer, which cannot raise
            raise KeyboardInterrupt
        if code == sqlite3.SQLITE_INTERRUPT and self._expired:
            return Timeout(timeout_s)
        if code == sqlite3.SQLITE_IOERR_WRITE:
            return Error(Cause.TOO_LARGE, "the query needs more temporary space than allowed")
        if str(error) == "LIKE or GLOB pattern too complex":
            return Error(Cause.TOO_LARGE, str(error))
        cause = _CAUSES.get(code & 0xFF, Cause.DBMS)
        return Error(cause, _WRITE_REFUSED if cause is Cause.READ_ONLY else str(error))


def _unfit(sql: str, limits: Limits) -> Error | None:
    """What is wrong with a text before any database sees it."""
    try:
        size = len(sql.encode())
    except UnicodeEncodeError:
        return Error(Cause.DBMS, "unrecognized token: the statement is not valid Unicode text")
    if size > limits.sql_bytes:
        return Error(Cause.TOO_LARGE, f"statement too long: {size} bytes, at most {limits.sql_bytes} are run")
    if "\0" in sql:
        return Error(Cause.DBMS, "unrecognized token: the statement contains a NUL character")
    return None


def _collect(cursor: sqlite3.Cursor, row_bytes: int, limits: Limits, distinct: bool) -> tuple[list[Row], bool]:
    """Fetch rows until they end or reach a cap; the second value says that a cap cut them off."""
    rows: list[Row] = []
    seen: dict[Row, None] = {}
    # A chunk holds so few rows that even the longest possible ones do no harm.
    chunk_rows = max(1, _CHUNK_BYTES // row_bytes)
    unmeasured = row_bytes <= _CHUNK_BYTES  # a first chunk of ordinary rows
    room = limits.result_bytes - _CHUNK_BYTES
    while chunk := cursor.fetchmany(chunk_rows):
        fetched = len(chunk)
        if distinct:
            chunk = [row for row in dict.fromkeys(chunk) if row not in seen]
            seen.update(dict.fromkeys(chunk))
        if not unmeasured:
            room -= held_bytes(chunk)
            if room < 0:
                return rows, True
        unmeasured = False
        rows += chunk
        if len(rows) > limits.rows:
            return rows[: limits.rows], True
        if fetched < chunk_rows:
            break
    return rows, False


def held_bytes(rows: list[Row]) -> int:
    """About how much memory Python needs to hold these rows: at most 40 times their encoded size."""
    texts = [value for row in rows for value in row if isinstance(value, str | bytes)]
    return sum(64 + 40 * len(row) for row in rows) + sum(map(sys.getsizeof, texts))
