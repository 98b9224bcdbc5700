"""One PostgreSQL database as an `Engine`."""

from pathlib import Path

from merit.sql.address import DatabaseAddress
from merit.sql.bounds import unfit
from merit.sql.guard import listed, refusal
from merit.sql.pool import ConnectionPool
from merit.sql.postgres.catalogue import fingerprint, read_catalogue
from merit.sql.postgres.role import check_role
from merit.sql.postgres.session import PostgresSession
from merit.sql.reflect import EVERYTHING, SchemaFilter, cached_schema
from merit.sql.volatility import Volatility
from merit.types import Health, Limits, Result, Schema

# An aggregate counts as immutable in pg_proc, whatever its steps do. A volatile function that is listed as harmless is
# so as the server's or an extension's own, and not where somebody made another one of that name.
_VOLATILE = """
SELECT p.proname, bool_or(p.provolatile = 'v' AND NOT (p.proname = ANY(%s::text[]) AND (
  p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace OR EXISTS (
    SELECT 1 FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e'))) OR EXISTS (
  SELECT 1 FROM pg_catalog.pg_aggregate a JOIN pg_catalog.pg_proc step ON step.oid IN (a.aggtransfn, a.aggfinalfn,
    a.aggcombinefn, a.aggserialfn, a.aggdeserialfn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn)
  WHERE a.aggfnoid = p.oid AND step.provolatile = 'v'))
FROM pg_catalog.pg_proc p WHERE p.proname = ANY(%s::text[]) GROUP BY p.proname
"""


class PostgresEngine:
    """Runs any text against one database: refused, or run in a read-only transaction and cancelled when late."""

    dialect = "postgresql"

    def __init__(self, address: DatabaseAddress, shown: SchemaFilter = EVERYTHING, cache: Path | None = None) -> None:
        """Connect; `cache` is a folder for what was read from the catalogue."""
        self._address = address
        self._shown = shown
        self._cache = cache
        self._pool = ConnectionPool(lambda: PostgresSession(address), address.shown)
        harmless = sorted(listed("harmless"))
        self._volatile = Volatility(
            lambda names: dict(self._pool.run(lambda session: session.rows(_VOLATILE, [harmless, names])))
        )
        with self._pool.session():  # a wrong password is told now, not at the first statement
            pass

    def execute(self, sql: str, limits: Limits) -> Result:
        """Run one read-only query."""
        if unusable := unfit(sql, limits):
            return unusable
        return self._pool.guarded(refusal(sql, self.dialect, self._volatile.of(sql)), sql, limits)

    def schema(self) -> Schema:
        """The tables and views that the role may read."""
        return self._pool.run(self._read_schema)

    def health(self) -> Health:
        """What the server is, and what the role could do there."""
        return self._pool.run(check_role)

    def _read_schema(self, session: PostgresSession) -> Schema:
        return cached_schema(
            self._cache,
            lambda: f"{self._address.shown} {self._shown} {fingerprint(session)}",
            lambda: read_catalogue(session).schema(session.database, self._shown),
        )

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()
