"""What was chosen from a schema, why, and how a prompt says it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from merit.prompts.tables import TableTexts
from merit.types import Schema

INDENT = " "  # of trimmed tables: tokenizers take one space and the word behind it together, a second one costs a token


@dataclass(frozen=True, slots=True)
class ChosenColumn:
    """A column and why it is in."""

    name: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChosenTable:
    """A table, why it is in, its columns, and how many of its columns were left out."""

    name: str
    reasons: tuple[str, ...]
    columns: tuple[ChosenColumn, ...]
    left_out: int


@dataclass(frozen=True)
class Selection:
    """The part of a schema that goes into a prompt."""

    schema: Schema  # trimmed; foreign keys only to tables that are in
    left_out_tables: int
    left_out_columns: int  # of tables that are in
    text: str  # CREATE TABLE statements, and what was left out
    tokens: int  # of the text, line by line
    explain: Callable[[], tuple[ChosenTable, ...]] = field(repr=False, compare=False)

    @property
    def whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.left_out_tables and not self.left_out_columns

    @cached_property
    def tables(self) -> tuple[ChosenTable, ...]:
        """The chosen tables with reasons, the likeliest first; a prompt needs none, so they are made when asked for."""
        return self.explain()

    def record(self) -> dict[str, object]:
        """As JSON shows it."""
        tables = [
            {
                "name": table.name,
                "reasons": list(table.reasons),
                "columns": [{"name": column.name, "reasons": list(column.reasons)} for column in table.columns],
                "left_out": table.left_out,
            }
            for table in self.tables
        ]
        return {
            "whole": self.whole,
            "tokens": self.tokens,
            "left_out_tables": self.left_out_tables,
            "left_out_columns": self.left_out_columns,
            "tables": tables,
        }


def schema_text(schema: Schema, texts: TableTexts, tables: int, columns: int, usual_type: str = "") -> str:
    """The statements of a trimmed schema, the type of columns without one, and a line on what is not shown."""
    if not tables and not columns:
        return texts.text(schema)
    text = texts.text(schema, usual_type or None)
    missing = [_counted(columns, "column") + " of these tables"] * bool(columns)
    missing += [_counted(tables, "other table")] * bool(tables)
    notes = [f"-- Columns without a type are {usual_type}."] * bool(usual_type and text)
    notes += [text] * bool(text)
    return "\n\n".join([*notes, f"-- Not shown: {' and '.join(missing)}."])


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
