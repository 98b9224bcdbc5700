"""A schema with what people wrote down about it, so that whatever reads schemas can use it."""

from collections import defaultdict
from dataclasses import replace

from merit.context.context import Context, Meaning, NotedTable, Notes
from merit.context.identifiers import table_parts
from merit.context.text import DESCRIPTION_CHARACTERS, prompt_line
from merit.types import Column, Schema, Table


def comments_of(schema: Schema) -> Notes:
    """What the comments in the database say."""
    notes = Notes("the database")
    for table in schema.tables:
        columns = {column.name: Meaning(_line(column.comment)) for column in table.columns if column.comment}
        if columns or table.comment:
            parts = table_parts(table.name) or (table.name,)
            notes.tables[table.name] = NotedTable(parts, Meaning(_line(table.comment)), columns)
    return notes


def enriched(schema: Schema, context: Context) -> Schema:
    """The schema with descriptions and synonyms as comments, and with relationships as foreign keys that it lacks."""
    keys: dict[tuple[str, str], list[str]] = defaultdict(list)
    for relationship in context.relationships:
        for ours, theirs in zip(relationship.columns, relationship.to_columns, strict=True):
            keys[relationship.table, ours].append(f"{relationship.to_table}.{theirs}")

    def with_notes(column: Column, table: Table) -> Column:
        place = (table.name, column.name)
        known = {key.casefold() for key in column.foreign_keys}
        added = tuple(dict.fromkeys(key for key in keys.get(place, ()) if key.casefold() not in known))
        return replace(
            column,
            foreign_keys=column.foreign_keys + added,
            comment=_comment(context.columns.get(place)) or column.comment,
        )

    tables = (
        replace(
            table,
            columns=tuple(with_notes(column, table) for column in table.columns),
            comment=_comment(context.tables.get(table.name)) or table.comment,
        )
        for table in schema.tables
    )
    return replace(schema, tables=tuple(tables))


def _comment(meaning: Meaning | None) -> str:
    if meaning is None:
        return ""
    called = f"also called {', '.join(meaning.synonyms)}" if meaning.synonyms else ""
    return _line("; ".join(filter(None, (meaning.description.rstrip("."), called))))


def _line(text: str) -> str:
    return prompt_line(text, DESCRIPTION_CHARACTERS)
