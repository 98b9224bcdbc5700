"""What people wrote down about a database, as values: in one file (`Notes`), and all of it together (`Context`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class MetricKind(StrEnum):
    """What a named calculation is."""

    METRIC = "metric"
    COLUMN = "calculated column"
    FILTER = "filter"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a table or a column is, in people's words, and what else they call it."""

    description: str = ""
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Metric:
    """A calculation that has a name; `table` is empty where it spans several."""

    name: str
    expression: str
    table: str = ""
    kind: MetricKind = MetricKind.METRIC
    meaning: Meaning = field(default_factory=Meaning)


@dataclass(frozen=True, slots=True)
class Relationship:
    """Columns that lead to columns of another table, pair by pair."""

    table: str
    columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]

    def text(self) -> str:
        """The relationship in a line."""
        return f"{self.table} ({', '.join(self.columns)}) -> {self.to_table} ({', '.join(self.to_columns)})"


@dataclass(slots=True)
class NotedTable:
    """What one file says about a table; `name` has the parts of its name, for example database, schema and table."""

    name: tuple[str, ...]
    meaning: Meaning = field(default_factory=Meaning)
    columns: dict[str, Meaning] = field(default_factory=dict)


@dataclass(slots=True)
class Notes:
    """What one file or the database itself says, before it is compared with a schema.

    Tables are under the file's own names for them, and so are those of metrics and relationships.
    """

    source: str
    tables: dict[str, NotedTable] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)
    glossary: dict[str, str] = field(default_factory=dict)
    metrics: list[Metric] = field(default_factory=list)
    relationships: list[Relationship] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Context:
    """Everything people wrote down about one database, by the names of its schema; every text is one short line."""

    tables: Mapping[str, Meaning] = field(default_factory=dict)
    columns: Mapping[tuple[str, str], Meaning] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    glossary: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    contradictions: tuple[str, ...] = ()  # a sentence each: who says what, and what holds
    missing: tuple[str, ...] = ()  # names that the schema does not have, each with its source
