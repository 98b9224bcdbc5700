"""One MySQL or MariaDB database as an `Engine`."""

from pathlib import Path

from merit.sql.address import DatabaseAddress
from merit.sql.bounds import unfit
from merit.sql.guard import listed, refusal
from merit.sql.mysql.catalogue import fingerprint, read_catalogue
from merit.sql.mysql.role import check_role
from merit.sql.mysql.session import MySQLSession
from merit.sql.pool import ConnectionPool
from merit.sql.reflect import EVERYTHING, SchemaFilter, cached_schema
from merit.sql.volatility import Volatility
from merit.types import Health, Limits, Result, Schema

# Stored functions by what they declare: the server checks none of it, so one that declares nothing may do anything.
_VOLATILE = """
SELECT LOWER(ROUTINE_NAME), MAX(SQL_DATA_ACCESS NOT IN ('NO SQL', 'READS SQL DATA'))
FROM information_schema.ROUTINES WHERE LOWER(ROUTINE_NAME) IN %s GROUP BY 1
"""


class MySQLEngine:
    """Runs any text against one database: refused, or run in a read-only transaction and killed when late."""

    def __init__(self, address: DatabaseAddress, shown: SchemaFilter = EVERYTHING, cache: Path | None = None) -> None:
        """Connect, and ask whether it is MySQL or MariaDB; `cache` is a folder for what was read from the catalogue."""
        self._address = address
        self._shown = shown
        self._cache = cache
        self._pool = ConnectionPool(lambda: MySQLSession(address), address.shown)
        self._volatile = Volatility(
            lambda names: dict(self._pool.run(lambda session: session.rows(_VOLATILE, (tuple(names),)))),
            listed("mysql"),
        )
        with self._pool.session() as session:  # a wrong password is told now, not at the first statement
            self.dialect = session.dialect

    def execute(self, sql: str, limits: Limits) -> Result:
        """Run one read-only query."""
        return unfit(sql, limits) or self._pool.guarded(refusal(sql, self.dialect, self._volatile.of(sql)), sql, limits)

    def schema(self) -> Schema:
        """The tables and views of the URL's database, and of others that the filter includes."""
        return self._pool.run(self._read_schema)

    def health(self) -> Health:
        """What the server is, and what the role could do there."""
        return self._pool.run(check_role)

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()

    def _read_schema(self, session: MySQLSession) -> Schema:
        database = self._address.database
        everywhere = not database or bool(self._shown.include)
        return cached_schema(
            self._cache,
            lambda: f"{self._address.shown} {self._shown} {fingerprint(session, database, everywhere)}",
            lambda: read_catalogue(session, database, everywhere).schema(database or "mysql", self._shown),
        )
