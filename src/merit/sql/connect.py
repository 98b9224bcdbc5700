"""Opening a database by its URL."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from merit.errors import DatabaseUnusable
from merit.sql.address import DatabaseAddress, masked, parse
from merit.sql.reflect import EVERYTHING, SchemaFilter
from merit.sql.sqlite.filtered import FilteredSQLite
from merit.types import Engine

_DRIVERS = {"postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql", "duckdb": "duckdb"}
_EXTRAS = {"psycopg": "postgres", "pymysql": "mysql", "duckdb": "duckdb"}


def open_engine(url: str, *, shown: SchemaFilter = EVERYTHING, cache: Path | None = None) -> Engine:
    """Open `sqlite:///file`, `duckdb:///file`, `postgresql://...`, `mysql://...` or `mariadb://...`, and connect.

    `shown` says what of the schema is shown; `cache` is a folder in which a schema is kept that takes long to read.
    InputError for a URL that cannot be used, DatabaseUnusable for a database that cannot be reached.
    """
    address = parse(url)
    if address.dialect == "sqlite":
        return FilteredSQLite(address, shown)
    _import_driver(_DRIVERS[address.dialect])
    if address.dialect == "postgresql":
        return import_module("merit.sql.postgres").PostgresEngine(address, shown, cache)  # type: ignore[no-any-return]
    if address.dialect == "duckdb":
        return import_module("merit.sql.duckdb").DuckDBEngine(address, shown)  # type: ignore[no-any-return]
    return import_module("merit.sql.mysql").MySQLEngine(address, shown, cache)  # type: ignore[no-any-return]


def _import_driver(name: str) -> ModuleType:
    """A driver, imported only when a database needs it."""
    try:
        return import_module(name)
    except ImportError as error:
        extra = _EXTRAS[name]
        raise DatabaseUnusable(
            f"the driver {name} is missing ({error}); run, in merit's own folder: pip install '.[{extra}]'"
        ) from None


__all__ = ["DatabaseAddress", "SchemaFilter", "masked", "open_engine"]
