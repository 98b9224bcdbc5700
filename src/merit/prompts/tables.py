"""A schema as CREATE TABLE statements with a few example values: how people and models know tables best."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from merit.types import Column, Schema, Table, Value

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST = 40  # characters of an example value
_LONGEST_COMMENT = 200
_REMEMBERED = 10_000  # names and types; those of a large schema come again with every question
_BACKTICKS = frozenset({"mysql", "mariadb"})
Examples = Callable[[str, str], Sequence[Value]]  # of a table's column


def create_tables(
    schema: Schema,
    dialect: str = "sqlite",
    examples: Examples = lambda *_: (),
    *,
    indent: str = "  ",
    usual_type: str | None = None,
) -> str:
    """All tables of a schema, one statement each; example values stand behind their columns as comments.

    Columns of the usual type are written without it; the caller says which it is.
    """
    layout = _Layout(dialect, examples, indent, usual_type)
    text = "\n\n".join(_create(table, layout) for table in schema.tables)
    return text.encode("utf-8", "replace").decode()  # a lone surrogate can be neither written nor sent


@dataclass(frozen=True, slots=True)
class _Layout:
    """How statements are written."""

    dialect: str
    examples: Examples
    indent: str
    usual_type: str | None


def _create(table: Table, layout: _Layout) -> str:
    dialect = layout.dialect
    keys = [column.name for column in table.columns if column.primary_key]
    parts = [
        (_column(column, layout, keys), _comment(column.comment, layout.examples(table.name, column.name)))
        for column in table.columns
    ]
    if len(keys) > 1:
        parts.append((f"PRIMARY KEY ({', '.join(quoted(key, dialect) for key in keys)})", ""))
    for column in table.columns:
        for target in column.foreign_keys:
            there, _, key = target.rpartition(".")
            reference = f"{qualified(there, dialect)} ({quoted(key, dialect)})"
            parts.append((f"FOREIGN KEY ({quoted(column.name, dialect)}) REFERENCES {reference}", ""))
    last = len(parts) - 1
    lines = [
        f"{layout.indent}{text}{',' if number < last else ''}{comment}" for number, (text, comment) in enumerate(parts)
    ]
    kind = "VIEW" if table.view else "TABLE"
    opening = f"CREATE {kind} {qualified(table.name, dialect)} ({_comment(table.comment)}"
    return "\n".join([opening, *lines, ");"])


def _column(column: Column, layout: _Layout, keys: Sequence[str]) -> str:
    key = " PRIMARY KEY" if keys == [column.name] else ""
    declared = shown_type(column)
    return f"{quoted(column.name, layout.dialect)} {'' if declared == layout.usual_type else declared}".rstrip() + key


def shown_type(column: Column) -> str:
    """A column's type on one line: it can be any text, and a line break would end its line."""
    return _one_line(column.type)


@lru_cache(maxsize=_REMEMBERED)
def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if line.isprintable() else ""


def _comment(comment: str, values: Sequence[Value] = ()) -> str:
    """What people wrote about a name, and example values, on the same line."""
    if not comment and not values:
        return ""
    written = " ".join(comment.split())[:_LONGEST_COMMENT]
    shown = ", ".join(text for value in values if (text := literal(value)))
    parts = [part for part in (written if written.isprintable() else "", shown) if part]
    return f" -- {': '.join(parts)}" if parts else ""


def literal(value: Value) -> str:
    """A value as SQL writes it, on one line and not too long; nothing where it could not be read."""
    if value is None or isinstance(value, bytes):
        return ""
    if not isinstance(value, str):
        return str(value)
    if not value.isprintable():
        return ""
    text = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."
    return "'" + text.replace("'", "''") + "'"


def qualified(name: str, dialect: str) -> str:
    """The name of a table, on a server perhaps with its schema before a dot."""
    if dialect == "sqlite":
        return quoted(name, dialect)
    return ".".join(quoted(part, dialect) for part in name.split("."))


@lru_cache(maxsize=_REMEMBERED)
def quoted(name: str, dialect: str) -> str:
    """A name as a statement of this dialect writes it: in quotes only where it needs them."""
    if _PLAIN.fullmatch(name):
        return name
    mark = "`" if dialect in _BACKTICKS or dialect == "sqlite" else '"'
    return mark + name.replace(mark, mark * 2) + mark
