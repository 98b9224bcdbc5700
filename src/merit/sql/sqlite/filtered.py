"""A SQLite file as `open_engine` opens it: with a filter on its schema."""

from dataclasses import replace

from merit.errors import DatabaseUnusable
from merit.sql.address import DatabaseAddress
from merit.sql.database_file import database_file
from merit.sql.reflect import SchemaFilter
from merit.sql.sqlite.engine import SQLiteEngine
from merit.types import Column, Error, Limits, Result, Schema

_SCHEMA = "main"  # SQLite's own name for the schema of a file


class FilteredSQLite(SQLiteEngine):
    """Runs any text against one SQLite file, and shows a part of its schema."""

    def __init__(self, address: DatabaseAddress, shown: SchemaFilter) -> None:
        self._address = address
        self._shown = shown
        super().__init__(database_file(address))

    def execute(self, sql: str, limits: Limits) -> Result:
        """Run one read-only query; a file that is gone or damaged meanwhile is raised, as with other engines."""
        result = super().execute(sql, limits)
        if isinstance(result, Error) and result.cause.environmental:
            raise DatabaseUnusable(f"{self._address.shown}: {result.message}")
        return result

    def schema(self) -> Schema:
        """The tables, views and columns that are shown; keys to others are left out."""
        whole = super().schema()
        tables = [table for table in whole.tables if self._shown.shows_table(_SCHEMA, table.name)]
        columns = {
            table.name: [c for c in table.columns if self._shown.shows_column(_SCHEMA, table.name, c.name)]
            for table in tables
        }
        targets = {f"{name}.{column.name}" for name, shown in columns.items() for column in shown}

        def kept(column: Column) -> Column:
            return replace(column, foreign_keys=tuple(key for key in column.foreign_keys if key in targets))

        return replace(
            whole,
            tables=tuple(
                replace(table, columns=tuple(map(kept, columns[table.name]))) for table in tables if columns[table.name]
            ),
        )
