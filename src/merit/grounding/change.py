"""What grounding changed, and why."""

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """A kind of change; each can be switched off."""

    TABLE_NAME = "table_name"  # a table's name that differs by case, underscore, plural or a letter
    COLUMN_NAME = "column_name"  # the same for a column's name
    QUALIFIER = "qualifier"  # a column that another table in scope has
    JOIN_CONDITION = "join_condition"  # a join on a column that is not there, along the foreign key instead
    MISSING_JOIN = "missing_join"  # a table that has the column, joined along the only shortest path of keys
    AMBIGUOUS = "ambiguous"  # a column that several tables in scope have


@dataclass(frozen=True, slots=True)
class Change:
    """One change, explained in a sentence."""

    rule: Rule
    why: str


@dataclass(frozen=True, slots=True)
class Grounded:
    """A query that the schema allows, and how it came from one that it did not."""

    sql: str
    changes: tuple[Change, ...]
