"""The file of a database that is one: SQLite's and DuckDB's."""

from pathlib import Path

from merit.errors import DatabaseUnusable
from merit.sql.address import DatabaseAddress


def database_file(address: DatabaseAddress) -> Path:
    """The file that is meant, if it is one."""
    path = Path(address.database)
    if path.is_dir():
        raise DatabaseUnusable(f"{address.shown}: is a folder; name the database file")
    if not path.is_file():
        raise DatabaseUnusable(f"{address.shown}: there is no such database file; check the path")
    return path
