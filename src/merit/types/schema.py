"""A database's schema as the model reads it: facts only, names as they are in the database."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """A column, its declared type, and the keys it belongs to."""

    name: str
    type: str
    primary_key: bool = False
    foreign_keys: tuple[str, ...] = ()  # each as table.column
    comment: str = ""  # the database's own

    def text(self) -> str:
        """The column's line."""
        marks = ["PRIMARY KEY"] if self.primary_key else []
        marks += [f"FOREIGN KEY -> {target}" for target in self.foreign_keys]
        return " ".join([f"  {self.name} {self.type}".rstrip(), *marks]) + _remark(self.comment)


@dataclass(frozen=True, slots=True)
class Table:
    """A table or a view, and its columns in the database's order.

    `name` is what a query writes: a table of a schema that is not searched by itself is `schema.table`.
    """

    name: str
    columns: tuple[Column, ...]
    view: bool = False
    comment: str = ""  # the database's own
    rows: int | None = None  # the database's own estimate; None where it has none

    def text(self) -> str:
        """The table's lines."""
        heading = f"{'View' if self.view else 'Table'}: {self.name}{_remark(self.comment)}"
        return "\n".join([heading, *(column.text() for column in self.columns)])


@dataclass(frozen=True, slots=True)
class Schema:
    """All tables and views of one database."""

    db_id: str
    tables: tuple[Table, ...]

    def text(self) -> str:
        """The schema block of every prompt."""
        text = "\n".join([f"Database: {self.db_id}", *(table.text() for table in self.tables)])
        return text.encode("utf-8", "replace").decode()  # a lone surrogate can be neither written nor sent


def _remark(comment: str) -> str:
    """A comment at the end of a line; one of several lines must not look like lines of the schema."""
    return f"  -- {' '.join(comment.split())}" if comment.strip() else ""
