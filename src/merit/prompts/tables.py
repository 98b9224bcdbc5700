"""A schema as CREATE TABLE statements with a few example values: how people and models know tables best."""

import re
from collections.abc import Callable, Sequence

from merit.types import Column, Schema, Table, Value

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST = 40  # characters of an example value
_LONGEST_COMMENT = 200
_BACKTICKS = frozenset({"mysql", "mariadb"})
Examples = Callable[[str, str], Sequence[Value]]  # of a table's column


def create_tables(
    schema: Schema, dialect: str = "sqlite", examples: Examples = lambda *_: (), *, indent: str = "  "
) -> str:
    """All tables of a schema, one statement each; example values stand behind their columns as comments."""
    text = "\n\n".join(_create(table, dialect, examples, indent) for table in schema.tables)
    return text.encode("utf-8", "replace").decode()  # a lone surrogate can be neither written nor sent


def _create(table: Table, dialect: str, examples: Examples, indent: str) -> str:
    keys = [column.name for column in table.columns if column.primary_key]
    parts = [
        (_column(column, dialect, keys), _comment(column.comment, examples(table.name, column.name)))
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
    lines = [f"{indent}{text}{',' if number < last else ''}{comment}" for number, (text, comment) in enumerate(parts)]
    kind = "VIEW" if table.view else "TABLE"
    opening = f"CREATE {kind} {qualified(table.name, dialect)} ({_comment(table.comment)}"
    return "\n".join([opening, *lines, ");"])


def _column(column: Column, dialect: str, keys: Sequence[str]) -> str:
    key = " PRIMARY KEY" if keys == [column.name] else ""
    declared = " ".join(column.type.split())  # a type can be any text, and a line break would end its line
    return f"{quoted(column.name, dialect)} {declared if declared.isprintable() else ''}".rstrip() + key


def _comment(comment: str, values: Sequence[Value] = ()) -> str:
    """What people wrote about a name, and example values, on the same line."""
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


def quoted(name: str, dialect: str) -> str:
    """A name as a statement of this dialect writes it: in quotes only where it needs them."""
    if _PLAIN.fullmatch(name):
        return name
    mark = "`" if dialect in _BACKTICKS or dialect == "sqlite" else '"'
    return mark + name.replace(mark, mark * 2) + mark
