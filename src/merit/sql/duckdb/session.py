"""The parent's end of one process that has a DuckDB file open."""

import marshal
import re
import signal
from pathlib import Path
from typing import Any

from merit.errors import DatabaseUnusable
from merit.files import file_state
from merit.sql.address import DatabaseAddress
from merit.sql.database_file import database_file
from merit.sql.encoding import decode
from merit.sql.pool import SessionLost
from merit.sql.process import Child
from merit.sql.unevaluated import only_call
from merit.types import Cause, Error, Limits, Result, Rows, Timeout

_SPARE_S = 30.0  # for a machine that is busy elsewhere; the child's own deadline is exact
_LINE = re.compile(r"^LINE (\d+): (.*)\n( *)\^", re.MULTILINE)
_HINT = re.compile(r"^(?:Did you mean|Candidate|HINT:).*", re.MULTILINE)
_SQLITE = b"SQLite format 3\0"  # begins every such file


class DuckDBSession:
    """A process that runs statements on one file; it is killed when a statement overruns."""

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address
        self._sound = True
        self._fresh = True  # no statement has run
        self._path = path = database_file(address)
        self._log = Path(f"{path}.wal")  # DuckDB's own, what it has not written into the file yet
        if self._log.exists() and not self._log.is_file():  # opening a pipe would wait for its writer
            raise DatabaseUnusable(f"{address.shown}: {self._log.name} beside it is not a regular file; remove it")
        self._state = self._state_now()
        self._child = Child("merit.sql.duckdb.worker", [str(path), address.timezone])
        kind, *words = marshal.loads(self._child.greeting)
        if kind != "ready":
            self.close()
            with path.open("rb") as file:
                if file.read(len(_SQLITE)) == _SQLITE:
                    raise DatabaseUnusable(f"{address.shown}: is a SQLite file; write sqlite:/// before it")
            way_out = "close the program that has it open, or give a DuckDB database of this version"
            raise DatabaseUnusable(f"{address.shown}: cannot be opened: {address.scrubbed(words[0])}; {way_out}")
        self.version = str(words[0])

    @property
    def usable(self) -> bool:
        """Whether it can take another statement: not on a file that was replaced or copied over meanwhile."""
        return self._sound and self._state_now() == self._state

    def query(self, sql: str, limits: Limits) -> Result:
        """Run one query."""
        return self._ask("run", sql, limits)

    def parse(self, sql: str, limits: Limits, called: tuple[str, ...] = ()) -> Error | None:
        """What DuckDB says of a text's syntax, or that a function is not there; nothing is evaluated."""
        result = self._ask("call", only_call(called, '"'), limits) if called else self._ask("parse", sql, limits)
        return result if isinstance(result, Error) else None

    def _ask(self, task: str, sql: str, limits: Limits) -> Result:
        request = marshal.dumps((task, sql, limits.values()))
        try:
            answer = marshal.loads(self._child.ask(request, limits.timeout_s + _SPARE_S))
        except TimeoutError:
            self._sound = False
            return Timeout(limits.timeout_s)
        except (EOFError, ConnectionError):
            return self._ended(limits)
        result = _decoded(answer, sql)
        if isinstance(result, Error) and result.cause in (Cause.TOO_LARGE, Cause.CRASHED) and result.code:
            self._sound = False  # DuckDB does not give back all memory after it ran out of it
            if not self._fresh:
                raise SessionLost(result.message)  # an earlier statement may have taken it
        self._fresh = False
        return result

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query of our own, over the catalogue."""
        result = self.query(sql, Limits(timeout_s=60.0, result_bytes=1 << 30))
        if not isinstance(result, Rows):
            raise DatabaseUnusable(f"{self._address.shown}: its catalogue cannot be read: {result.message}")
        return list(result.rows)

    def close(self) -> None:
        """Kill the process."""
        self._child.close()

    def _state_now(self) -> tuple[tuple[int, ...], ...]:
        return file_state(self._path), file_state(self._log)

    def _ended(self, limits: Limits) -> Result:
        self._sound = False
        if self._child.process.wait() == -signal.SIGALRM:
            return Timeout(limits.timeout_s)
        if not self._fresh:
            raise SessionLost("its process ended")  # perhaps not by this statement
        return Error(Cause.CRASHED, "the database engine stopped while running this statement")


def _decoded(answer: tuple[Any, ...], sql: str) -> Result:
    if answer[0] == "rows":
        _, columns, encoded, truncated = answer
        return Rows(tuple(columns), decode(encoded), truncated, steady=False)
    _, cause, message, code = answer
    hint = _HINT.search(message)
    return Error(Cause(cause), message, code, hint=hint[0] if hint else "", position=_position(message, sql))


def _position(message: str, sql: str) -> int | None:
    """Where the caret under the quoted line points; DuckDB cuts long lines."""
    quoted = _LINE.search(message)
    lines = sql.splitlines(keepends=True)
    if quoted is None or not 0 < int(quoted[1]) <= len(lines):
        return None
    number, shown = int(quoted[1]), quoted[2]
    column = len(quoted[3]) - len(f"LINE {number}: ")
    if shown.startswith("...") and not lines[number - 1].startswith("..."):
        column += lines[number - 1].find(shown[3:].removesuffix("...")) - 3
    return sum(map(len, lines[: number - 1])) + column + 1
