"""One guarded SQLite connection: read-only three times over, capped, and typed in what it returns.

It lives in a process of its own (`merit.sql.sqlite.worker`), which is killed when a statement overruns: some texts,
views and generated columns keep SQLite busy for minutes while it prepares a statement, where interrupts have no effect.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import apsw

from merit.sql.bounds import shortened, unfit
from merit.sql.encoding import encode
from merit.sql.sqlite.lexing import canonical
from merit.sql.sqlite.lossy import BytesOfText
from merit.sql.sqlite.opening import CAUSES, code_name, open_file, primary_code, unopened
from merit.types import Cause, Error, Limits, Row, Rows
from merit.types.engine import MIB

SQLITE_VERSION = apsw.sqlite_lib_version()

READABLE_PRAGMAS = frozenset(
    {"foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_list", "table_xinfo"}
)
OUTSIDE_FUNCTIONS = frozenset({"edit", "fts3_tokenizer", "load_extension", "readfile", "writefile"})
# What a statement returns from these depends on the moment, or on chance.
UNSTEADY_FUNCTIONS = frozenset(
    {"changes", "current_date", "current_time", "current_timestamp", "date", "datetime", "julianday"}
    | {"last_insert_rowid", "random", "randomblob", "strftime", "time", "timediff", "total_changes", "unixepoch"}
)

_OUTSIDE_ACTIONS = frozenset({apsw.SQLITE_ATTACH, apsw.SQLITE_DETACH, apsw.SQLITE_PRAGMA})
_FREE_ACTIONS = frozenset({apsw.SQLITE_READ, apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE})
# Full-text search asks for data_version itself, dataset checks use quick_check: both only tell, so others may ask, too.
_ALLOWED_PRAGMAS = READABLE_PRAGMAS | {"data_version", "quick_check"}
_SCHEMA_TABLES = frozenset({"sqlite_master", "sqlite_temp_master"})
# Virtual tables that a database may have of its own; others, such as dbstat, tell of files rather than of data.
_MODULES = ("fts3", "fts4", "fts4aux", "fts5", "fts5vocab", "geopoly", "json_each", "json_tree", "rtree", "rtree_i32")
_READING = re.compile(r"\s*(?:explain|select|values|with)\b", re.IGNORECASE)

# The first rows are few, so that even very long ones do no harm; once rows are known to be short, many are taken.
_FIRST_ROWS = 8
_CHUNK_ROWS = 4096
_CHUNK_BYTES = 8 * MIB
_EMPTY_BYTES = len(encode([]))
_LONG_WAIT_MS = 3_600_000  # for another program's lock: the process is killed at the deadline

_WRITE_REFUSED = "attempt to write a readonly database"
_NOT_UTF8 = Error(Cause.DBMS, "the database answered with text that is not UTF-8")
_NOT_A_QUERY = Error(Cause.STATEMENTS, "not a query: there is no statement, or one without a result")
_SEVERAL = Error(Cause.STATEMENTS, "You can only execute one statement at a time.")


class OutOfMemory(Exception):
    """SQLite reached its heap limit; whether the statement is the cause shows only when it is run again alone."""


class GuardedConnection:
    """A connection to one database file that any text can be run on safely."""

    def __init__(self, path: Path, *, frozen: bool, scratch: Path) -> None:
        """Open `path`; `frozen` promises that nothing writes it meanwhile, `scratch` is a folder for copies."""
        self._raw = open_file(path, frozen, scratch)
        # A virtual table keeps statements that it prepared over other tables and views. SQLite tells of their functions
        # once, so one that depends on the moment counts for all that this connection reads from then on.
        self._kept_steady = True
        try:
            self._raw.set_busy_timeout(_LONG_WAIT_MS)
            self._raw.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            self._raw.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            self._raw.config(apsw.SQLITE_DBCONFIG_DQS_DML, 1)  # "text" may be a literal: benchmarks need it
            self._raw.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
            self._raw.limit(apsw.SQLITE_LIMIT_WORKER_THREADS, 0)
            self._raw.pragma("query_only", 1)
            self._raw.drop_modules(_MODULES)
            self._encoding = str(self._raw.pragma("encoding"))
            self._raw.authorizer = self._note_kept
            self._connect_virtual_tables()
        except apsw.Error as error:
            self._raw.close(True)
            raise unopened(error) from None
        self._raw.authorizer = self._authorize
        self._raw.exec_trace = self._inspect
        self._cell_bytes = 0
        self._sql = ""
        self._columns: tuple[str, ...] | None = None
        self._refusal: Error | None = None
        self._steady = True

    def close(self) -> None:
        """Close the connection."""
        self._raw.close(True)

    def interrupt(self) -> None:
        """Stop the statement that is run now, from another thread: it takes too much temporary space."""
        self._raw.interrupt()

    def run(self, sql: str, limits: Limits, *, distinct: bool, lossy: bool) -> Rows | Error:
        """Run one query within `limits`, but for the time, which is the process's to keep."""
        refused = unfit(sql, limits)
        if refused is not None:
            return refused
        if limits.cell_bytes != self._cell_bytes:
            self._raw.limit(apsw.SQLITE_LIMIT_LENGTH, limits.cell_bytes)
            self._cell_bytes = limits.cell_bytes
        try:
            return self._fetch(sql, limits, distinct)
        except UnicodeDecodeError:
            columns = self._columns
            if columns is None or not lossy:
                return self._refusal or _NOT_UTF8
        except apsw.NoMemError:
            raise OutOfMemory from None
        except apsw.Error as error:
            return self._failure(error)
        try:
            return self._fetch_lossy(sql, columns, limits, distinct)
        except apsw.NoMemError:
            raise OutOfMemory from None
        except apsw.Error as error:
            return self._failure(error)

    def _fetch(self, sql: str, limits: Limits, distinct: bool) -> Rows | Error:
        self._sql = sql
        self._columns = self._refusal = None
        self._steady = self._kept_steady
        try:
            return self._execute(sql, limits, distinct, _FIRST_ROWS)
        except MemoryError:  # rows that are long, and taken many at a time
            self._columns = None
            return self._execute(sql, limits, distinct, 1)

    def _execute(self, sql: str, limits: Limits, distinct: bool, first_rows: int) -> Rows | Error:
        cursor = self._raw.execute(sql)
        try:
            if self._columns is None:
                return _NOT_A_QUERY
            rows, truncated = _collect(cursor, limits, distinct, first_rows)
            return Rows(self._columns, rows, truncated, self._steady)
        finally:
            cursor.close(True)

    def _fetch_lossy(self, sql: str, columns: tuple[str, ...], limits: Limits, distinct: bool) -> Rows | Error:
        """Run a query again for the bytes of its text, and drop what is not UTF-8 from them."""
        statement = canonical(sql)  # without a semicolon or comment at its end
        if statement.startswith(("explain ", "pragma ")):
            return _NOT_UTF8
        raw = BytesOfText(len(columns), self._encoding)
        fetched = self._fetch(raw.query(statement), limits, distinct)
        if isinstance(fetched, Error):
            return fetched
        rows = [raw.read(row) for row in fetched.rows]
        unique = list(dict.fromkeys(rows)) if distinct else rows
        return Rows(columns, unique, fetched.truncated, fetched.steady)

    def _inspect(self, cursor: apsw.Cursor, statement: str, _bindings: object) -> bool:
        """Look at a statement that is prepared and not yet run; apsw calls this for each statement of a text."""
        if self._columns is not None:  # what follows the query: only comments come so far
            return True
        description = cursor.get_description()
        if not cursor.is_readonly:
            self._refusal = Error(Cause.READ_ONLY, _WRITE_REFUSED)
        elif not description:
            self._refusal = _NOT_A_QUERY
        elif canonical(self._sql[len(statement) :]) or (
            self._sql.count(";") > 1 and canonical(self._sql).endswith(";")  # of two at the end it takes off one
        ):
            self._refusal = _SEVERAL
        else:
            self._columns = tuple([name for name, _ in description])
        return self._columns is not None

    def _connect_virtual_tables(self) -> None:
        """Have SQLite connect the database's own virtual tables (full-text search, ...); also its first real read."""
        virtual = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'"
        try:
            names = [str(name) for (name,) in self._raw.execute(virtual)]
        except UnicodeDecodeError:  # statements that name such a table will say so themselves
            return
        for name in names:
            quoted = name.replace('"', '""')
            try:
                self._raw.execute(f'SELECT 1 FROM "{quoted}" LIMIT 0').fetchall()
            # A module that this SQLite does not have, or a damaged table.
            except (apsw.SQLError, apsw.CorruptError, UnicodeDecodeError):
                continue

    def _note_kept(self, action: int, _first: str | None, second: str | None, *_: str | None) -> int:
        """Allow all that virtual tables prepare when they are connected, which no statement of others is part of."""
        if action == apsw.SQLITE_FUNCTION and (second or "").lower() in UNSTEADY_FUNCTIONS:
            self._kept_steady = False
        return apsw.SQLITE_OK

    def _authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action in _FREE_ACTIONS:
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_FUNCTION:
            name = (second or "").lower()
            if name not in OUTSIDE_FUNCTIONS:
                if name in UNSTEADY_FUNCTIONS:
                    self._steady = False
                    if self._columns is not None:  # prepared by a statement that runs already
                        self._kept_steady = False
                return apsw.SQLITE_OK
            self._refusal = Error(Cause.FORBIDDEN, f"not authorized to use function: {name}")
        elif action == apsw.SQLITE_PRAGMA and (first or "").lower() in _ALLOWED_PRAGMAS:
            return apsw.SQLITE_OK
        elif action in _OUTSIDE_ACTIONS:
            self._refusal = Error(Cause.FORBIDDEN, "not authorized")
        elif first in _SCHEMA_TABLES and _READING.match(self._sql):
            self._refusal = Error(Cause.FORBIDDEN, "not authorized")  # a table-valued function that is not allowed
        else:
            self._refusal = Error(Cause.READ_ONLY, _WRITE_REFUSED)
        return apsw.SQLITE_DENY

    def _failure(self, error: apsw.Error) -> Error:
        if self._refusal is not None:
            return self._refusal
        if isinstance(error, apsw.BindingsError):
            return Error(Cause.DBMS, "the query has parameters (such as ?), and no values are given for them")
        code = code_name(error)
        if code in ("SQLITE_IOERR_WRITE", "SQLITE_INTERRUPT"):
            return Error(Cause.TOO_LARGE, "the query needs more temporary space than allowed", code)
        cause = CAUSES.get(primary_code(error), Cause.DBMS)
        return shortened(Error(cause, _WRITE_REFUSED if cause is Cause.READ_ONLY else str(error), code))


def _collect(cursor: Iterator[Row], limits: Limits, distinct: bool, first_rows: int) -> tuple[list[Row], bool]:
    """Fetch rows until they end or reach a cap; the second value says that a cap cut them off."""
    rows: list[Row] = []
    seen: dict[Row, None] = {}
    room = limits.result_bytes
    wanted = first_rows
    while chunk := list(islice(cursor, wanted if distinct else min(wanted, limits.rows + 1 - len(rows)))):
        last = len(chunk) < wanted
        if distinct:
            chunk = [row for row in dict.fromkeys(chunk) if row not in seen]
            seen.update(dict.fromkeys(chunk))
        size = held_bytes(chunk)
        if size > room:
            return rows + _fitting(chunk, room), True
        room -= size
        rows += chunk
        if len(rows) > limits.rows:
            return rows[: limits.rows], True
        if last:
            break
        if first_rows > 1 and chunk:
            wanted = max(1, min(_CHUNK_ROWS, _CHUNK_BYTES * len(chunk) // size))
    return rows, False


def held_bytes(rows: list[Row]) -> int:
    """About how much memory Python needs to hold these rows; the same on every Python."""
    return len(encode(rows)) - _EMPTY_BYTES + len(rows) * (64 + 40 * len(rows[0])) if rows else 0


def _fitting(rows: list[Row], room: int) -> list[Row]:
    """As many of the first rows as there is room for."""
    fitting: list[Row] = []
    for row in rows:
        room -= held_bytes([row])
        if room < 0:
            break
        fitting.append(row)
    return fitting
