"""What of a database an agent may know: whose values it may read, and what people wrote down."""

from dataclasses import replace

from merit.context import Context, enriched, open_context
from merit.settings import DatabaseSettings, Settings
from merit.types import Schema

_MOST_NOTES = 40  # lines in a prompt
_LONGEST_NAME = 200  # characters; PostgreSQL's and MySQL's have at most 64, SQLite's and DuckDB's any number


def nameable(schema: Schema) -> Schema:
    """A schema without tables and columns whose names are too long to be meant as names."""
    tables = []
    for table in schema.tables:
        columns = tuple(column for column in table.columns if len(column.name) <= _LONGEST_NAME)
        if columns and len(table.name) <= _LONGEST_NAME:
            tables.append(replace(table, columns=columns))
    return replace(schema, tables=tuple(tables))


def readable(schema: Schema, settings: DatabaseSettings) -> Schema:
    """The part of a schema whose values may be read."""
    tables = []
    for table in schema.tables:
        columns = tuple(column for column in table.columns if not settings.is_private(table.name, column.name))
        if columns:
            tables.append(replace(table, columns=columns))
    return Schema(schema.db_id, tuple(tables))


def with_context(schema: Schema, settings: Settings) -> tuple[Schema, Context]:
    """A schema with the comments and keys that people wrote down, and the rest of what they wrote."""
    context = open_context(schema, settings)
    return enriched(schema, context), context


def notes(context: Context) -> tuple[str, ...]:
    """Rules, words and metrics as lines of a prompt."""
    words = [f"{term}: {meaning}" for term, meaning in context.glossary.items()]
    metrics = [f"{metric.name}: {metric.expression}" for metric in context.metrics]
    return (*context.rules, *words, *metrics)[:_MOST_NOTES]
