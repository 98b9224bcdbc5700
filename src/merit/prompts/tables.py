"""A schema as CREATE TABLE statements with a few example values: how people and models know tables best."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from merit.types import Column, Schema, Table, Value

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST = 40  # characters of an example value
_LONGEST_COMMENT = 200
_REMEMBERED = 10_000  # names and types; those of a large schema come again with every question
_BACKTICKS = frozenset({"mysql", "mariadb"})
Examples = Callable[[str, str], Sequence[Value]]  # of a table's column


def create_tables(schema: Schema, dialect: str = "sqlite", *, indent: str = "  ") -> str:
    """All tables of a schema, one statement each, without example values."""
    return TableTexts(dialect, indent=indent).text(schema)


class TableTexts:
    """CREATE TABLE statements of parts of one schema, again and again: what is said of a column is made once.

    Example values stand behind their columns as comments.
    """

    def __init__(self, dialect: str = "sqlite", examples: Examples = lambda *_: (), *, indent: str = "  ") -> None:
        self._dialect = dialect
        self._examples = examples
        self._indent = indent
        self._columns: dict[tuple[str, str], tuple[str, str, str]] = {}  # name, type and comment, by table and column
        self._openings: dict[str, str] = {}  # first lines, by table

    def text(self, schema: Schema, usual_type: str | None = None) -> str:
        """All tables of a part; columns of the usual type are written without it, and the caller says which it is."""
        text = "\n\n".join(self._create(table, usual_type) for table in schema.tables)
        return text.encode("utf-8", "replace").decode()  # a lone surrogate can be neither written nor sent

    def _create(self, table: Table, usual_type: str | None) -> str:
        dialect = self._dialect
        keys = [column.name for column in table.columns if column.primary_key]
        parts = [self._column(table.name, column, usual_type) for column in table.columns]
        if len(keys) == 1:
            parts = [
                (f"{text} PRIMARY KEY" if column.primary_key else text, comment)
                for (text, comment), column in zip(parts, table.columns, strict=True)
            ]
        elif keys:
            parts.append((f"PRIMARY KEY ({', '.join(quoted(key, dialect) for key in keys)})", ""))
        for column in table.columns:
            for target in column.foreign_keys:
                there, _, key = target.rpartition(".")
                reference = f"{qualified(there, dialect)} ({quoted(key, dialect)})"
                parts.append((f"FOREIGN KEY ({quoted(column.name, dialect)}) REFERENCES {reference}", ""))
        lines = [self._opening(table), *(f"{self._indent}{text},{comment}" for text, comment in parts[:-1])]
        lines += [f"{self._indent}{text}{comment}" for text, comment in parts[-1:]]
        return "\n".join([*lines, ");"])

    def _opening(self, table: Table) -> str:
        known = self._openings.get(table.name)
        if known is None:
            kind = "VIEW" if table.view else "TABLE"
            known = f"CREATE {kind} {qualified(table.name, self._dialect)} ({_comment(table.comment)}"
            self._openings[table.name] = known
        return known

    def _column(self, table: str, column: Column, usual_type: str | None) -> tuple[str, str]:
        known = self._columns.get((table, column.name))
        if known is None:
            comment = _comment(column.comment, self._examples(table, column.name))
            known = self._columns[table, column.name] = quoted(column.name, self._dialect), shown_type(column), comment
        name, kind, comment = known
        return name if kind == usual_type else f"{name} {kind}".rstrip(), comment


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
