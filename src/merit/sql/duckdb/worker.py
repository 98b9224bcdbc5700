"""The process in which DuckDB runs statements: `python -m merit.sql.duckdb.worker SOCKET LIFELINE FILE TIMEZONE`.

The database is open read-only, nothing but its file can be reached, no setting can be changed, and the process itself
cannot write a byte to any file. The kernel ends it when a statement is not done at its deadline.
"""

import datetime
import marshal
import os
import resource
import signal
import socket
import sys
import types
import zoneinfo
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from merit.sql.bounds import CellTooLarge, collect
from merit.sql.conversion import same_json, to_value
from merit.sql.encoding import encode
from merit.sql.process import cap_this_process, end_with_parent, limit_this_process, receive, send
from merit.sql.unevaluated import NEVER_VALID, without_end
from merit.types import Limits, Row, Value
from merit.types.engine import MIB

MEMORY = "1GB"  # for a statement; more is an error, since there is no place to spill to
THREADS = 2
PROCESS_BYTES = 3 * 1024 * MIB  # of address space, which is more than what is used
_CHUNK_ROWS = 256
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "memory_limit": MEMORY,
    "threads": str(THREADS),
    "temp_directory": "",
}
_QUERIES = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
_NOTHING: tuple[Any, ...] = ("rows", [], encode([]), False)
_NO_QUERY = ("error", "statements", "not a query: there is no statement, or one without a result", "")
_SEVERAL = ("error", "statements", "You can only execute one statement at a time.", "")


class _Zone(zoneinfo.ZoneInfo):
    """A time zone with the one method of pytz that DuckDB's driver calls."""

    def localize(self, moment: datetime.datetime) -> datetime.datetime:
        return moment.replace(tzinfo=self)


def _offer_time_zones() -> None:
    """DuckDB's driver asks for pytz to make timestamps with time zones; Python's own time zones do."""
    stand_in = types.ModuleType("pytz")
    stand_in.timezone = _Zone  # type: ignore[attr-defined]
    stand_in.utc = _Zone("UTC")  # type: ignore[attr-defined]
    sys.modules["pytz"] = stand_in


def opened(path: str, timezone: str) -> duckdb.DuckDBPyConnection:
    """A connection that reads the file and reaches nothing else."""
    connection = duckdb.connect(path, read_only=True, config=_CONFIG)
    connection.execute(f"SET TimeZone = '{timezone}'")
    connection.execute("SET lock_configuration = true")
    return connection


def run(connection: duckdb.DuckDBPyConnection, sql: str, limits: Limits) -> tuple[Any, ...]:
    """An answer as it is sent: rows, or an error."""
    try:
        statements = connection.extract_statements(sql)
        if len(statements) != 1:
            return _SEVERAL if statements else _NO_QUERY
        if statements[0].type not in _QUERIES:
            return _refused(str(statements[0].type).rpartition(".")[2])
        cursor = connection.execute(statements[0])
        columns = [str(column[0]) for column in cursor.description]
        is_json = [str(column[1]) == "JSON" for column in cursor.description]
        rows, truncated = collect(_streamed(cursor, is_json), limits)
    except CellTooLarge as large:
        return "error", "too_large", str(large), ""
    except MemoryError:
        return "error", "too_large", "out of memory", ""
    except duckdb.Error as error:
        return "error", _cause(error), str(error), type(error).__name__
    except (RuntimeError, ValueError, OverflowError) as error:  # a value that the driver cannot make
        return "error", "dbms", f"the driver cannot return a value of this result: {error}", ""
    return "rows", columns, encode(rows), truncated


def parse(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, ...]:
    """What is wrong with a text's syntax, or no rows; the text is not prepared, which would evaluate parts of it."""
    text = without_end(sql)
    try:
        connection.extract_statements(text + NEVER_VALID)
    except duckdb.ParserException as error:
        at_end = text.count("\n") + 2  # the line of the semicolon
        place = str(error).rpartition("\n\nLINE ")[2]
        if place.startswith(f"{at_end}: ;"):
            return "error", "dbms", "Parser Error: syntax error at end of input", type(error).__name__
        if not place.startswith(f"{at_end + 1}: ="):
            return "error", "dbms", str(error).replace(NEVER_VALID, ""), type(error).__name__
    except duckdb.Error:
        pass
    return _NOTHING


def call(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, ...]:
    """That a query's one function is not there, or no rows."""
    try:
        connection.execute(f"PREPARE merit AS {sql}")
        connection.execute("DEALLOCATE merit")
    except duckdb.CatalogException as error:
        return "error", "dbms", str(error).partition("\n\nLINE ")[0], type(error).__name__
    except duckdb.Error:
        pass
    return _NOTHING


_WORDS = {"parse": parse, "call": call}


def _streamed(cursor: duckdb.DuckDBPyConnection, is_json: list[bool]) -> Iterator[Row]:
    size = 8  # the first rows are few, so that even very long ones do no harm
    while chunk := cursor.fetchmany(size):
        for row in chunk:
            yield tuple([_converted(value, json) for value, json in zip(row, is_json, strict=True)])
        size = _CHUNK_ROWS


def _converted(value: Any, json: bool) -> Value:
    return same_json(value) if json and value is not None else to_value(value)


def _refused(kind: str) -> tuple[Any, ...]:
    reaching = kind in ("ATTACH", "DETACH", "LOAD", "SET", "VARIABLE_SET", "PRAGMA", "EXPORT", "COPY_DATABASE", "CALL")
    return "error", "forbidden" if reaching else "read_only", f"not a query: {kind} is not allowed", ""


def _cause(error: duckdb.Error) -> str:
    text = str(error)
    if isinstance(error, duckdb.OutOfMemoryException):
        return "too_large"
    if isinstance(error, duckdb.PermissionException):
        return "forbidden"
    if isinstance(error, duckdb.InvalidInputException) and "read-only" in text:
        return "read_only"
    if isinstance(error, duckdb.FatalException | duckdb.InternalException):
        return "crashed"
    return "dbms"


def _serve(channel: socket.socket, path: str, timezone: str) -> None:
    """Answer requests until the parent goes away; the first answer says whether the file could be opened."""
    try:
        connection = opened(path, timezone)
    except duckdb.Error as error:
        send(channel, marshal.dumps(("error", str(error))))
        return
    send(channel, marshal.dumps(("ready", duckdb.__version__)))
    while True:
        try:
            task, text, limit_values = marshal.loads(receive(channel))
        except (EOFError, ConnectionError):
            return
        limits = Limits(*limit_values)
        signal.setitimer(signal.ITIMER_REAL, limits.timeout_s)  # SIGALRM ends this process
        answer = run(connection, text, limits) if task == "run" else _WORDS[task](connection, text)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        send(channel, marshal.dumps(answer))


def _cap_memory() -> None:
    """Bound what DuckDB does not count itself: texts that a function makes, and rows as Python values."""
    if sys.platform == "linux":
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit_this_process(resource.RLIMIT_AS, used + PROCESS_BYTES)


if __name__ == "__main__":
    cap_this_process(file_bytes=0)
    _cap_memory()
    end_with_parent(int(sys.argv[2]))
    _offer_time_zones()
    with socket.socket(fileno=int(sys.argv[1])) as served:
        _serve(served, sys.argv[3], sys.argv[4])
    os._exit(0)
