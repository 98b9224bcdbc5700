"""One SQLite file as an `Engine`."""

from pathlib import Path

from merit.sql.sqlite.catalogue import read_schema
from merit.sql.sqlite.sandbox import SQLiteSandbox
from merit.types import Limits, Result, Schema


class SQLiteEngine:
    """Runs any text against one SQLite file; every statement runs in a process that can be killed."""

    dialect = "sqlite"

    def __init__(self, database: Path, *, frozen: bool = False, shared: SQLiteSandbox | None = None) -> None:
        """Open `database`; `frozen` promises that nothing writes it meanwhile.

        Several engines may use one `shared` sandbox, which knows itself whether its files are frozen and stays open
        when an engine is closed.
        """
        if frozen and shared is not None:
            raise ValueError("a shared sandbox has its own `frozen`; give one of the two")
        self._database = database
        self._sandbox = shared if shared is not None else SQLiteSandbox(frozen=frozen)
        self._owns_sandbox = shared is None

    def execute(self, sql: str, limits: Limits) -> Result:
        """Run one read-only query."""
        return self._sandbox.execute(self._database, sql, limits)

    def schema(self) -> Schema:
        """The tables and views of the file, as its own catalogue describes them."""
        return read_schema(self._sandbox, self._database)

    def close(self) -> None:
        """End the engine's own processes."""
        if self._owns_sandbox:
            self._sandbox.close()
