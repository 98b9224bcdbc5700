"""One DuckDB file as an `Engine`."""

import os
from pathlib import Path

from merit.sql.address import DatabaseAddress
from merit.sql.bounds import unfit
from merit.sql.duckdb.catalogue import read_catalogue, refused_macros
from merit.sql.duckdb.session import DuckDBSession
from merit.sql.guard import listed, refusal
from merit.sql.pool import ConnectionPool
from merit.sql.reflect import EVERYTHING, SchemaFilter
from merit.sql.volatility import Volatility
from merit.types import Health, Limits, Remark, Result, Schema


class DuckDBEngine:
    """Runs any text against one DuckDB file: refused, or run in a process that reaches nothing else."""

    dialect = "duckdb"

    def __init__(self, address: DatabaseAddress, shown: SchemaFilter = EVERYTHING) -> None:
        """Open the file."""
        self._address = address
        self._shown = shown
        self._pool = ConnectionPool(lambda: DuckDBSession(address), address.shown)
        self._volatile = Volatility(
            lambda names: self._pool.run(lambda session: refused_macros(session, names)), listed("duckdb")
        )
        with self._pool.session():  # a damaged file is told now, not at the first statement
            pass

    def execute(self, sql: str, limits: Limits) -> Result:
        """Run one read-only query."""
        return unfit(sql, limits) or self._pool.guarded(refusal(sql, self.dialect, self._volatile.of(sql)), sql, limits)

    def schema(self) -> Schema:
        """The tables and views of the file."""
        name = Path(self._address.database).stem
        return self._pool.run(lambda session: read_catalogue(session).schema(name, self._shown))

    def health(self) -> Health:
        """What the engine is, and that it can only read."""
        version = self._pool.run(lambda session: session.version)
        writable = os.access(self._address.database, os.W_OK)
        findings = (
            Remark(True, "statements run in a process that opens the file read-only and cannot write any file"),
            Remark(True, "no extension, other file, network or setting can be reached"),
            Remark(
                True,
                "this user could write the file, but merit cannot" if writable else "this user cannot write the file",
            ),
        )
        return Health("DuckDB", version, "", findings)

    def close(self) -> None:
        """End every process."""
        self._pool.close()
