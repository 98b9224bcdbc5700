"""One SQLite file as an `Engine`."""

import os
from pathlib import Path

from merit.sql.sqlite.catalogue import read_schema
from merit.sql.sqlite.connection import SQLITE_VERSION
from merit.sql.sqlite.sandbox import SQLiteSandbox
from merit.types import Health, Limits, Remark, Result, Schema


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

    def health(self) -> Health:
        """What the engine is, and that it can only read."""
        self.schema()  # a damaged file is told
        writable = os.access(self._database, os.W_OK)
        findings = (
            Remark(True, "statements run in a process that opens the file read-only, under an allow-list of actions"),
            Remark(True, "no other file, extension or setting can be reached"),
            Remark(
                True,
                "this user could write the file, but merit cannot" if writable else "this user cannot write the file",
            ),
        )
        return Health("SQLite", SQLITE_VERSION, "", findings)

    def close(self) -> None:
        """End the engine's own processes."""
        if self._owns_sandbox:
            self._sandbox.close()
