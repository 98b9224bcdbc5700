"""What grounding changed, and why."""

from dataclasses import dataclass
from enum import StrEnum


class GroundingRule(StrEnum):
    """A kind of change; each can be switched off."""

    SYNTAX = "syntax"  # text around the query, parentheses, a missing dot, clauses out of order
    QUOTES = "quotes"  # identifiers and literals quoted the wrong way round
    FUNCTION = "function"  # functions and syntax of another dialect
    TABLE_NAME = "table_name"  # a table's name that differs by case, underscore, plural or a letter
    TABLE_KEY = "table_key"  # a table that is not there, joined to a foreign key: the table that the key leads to
    COLUMN_NAME = "column_name"  # the same as `table_name`, for a column's name
    QUALIFIER = "qualifier"  # a column that another table in scope has
    ALIAS = "alias"  # the name of a result where the engine knows none
    JOIN_CONDITION = "join_condition"  # a join on a column that is not there, along the foreign key instead
    MISSING_JOIN = "missing_join"  # a table that has the column, joined along the only shortest path of keys
    NAMED_JOIN = "named_join"  # the same where no key is declared, along columns of one name
    SUPERFLUOUS_JOIN = "superfluous_join"  # a join that cannot be made, of a table that nothing else needs
    AMBIGUOUS = "ambiguous"  # a column that several tables in scope have
    AGGREGATE = "aggregate"  # an aggregate where none may stand, or one that lacks its GROUP BY
    TYPE = "type"  # values of two types compared where the engine does not convert them
    VALUE = "value"  # a literal that no row has, while one stored text differs by case, accent, plural or spacing


@dataclass(frozen=True, slots=True)
class GroundingChange:
    """One change, explained in a sentence."""

    rule: GroundingRule
    why: str


@dataclass(frozen=True, slots=True)
class Grounded:
    """A query that the schema allows, and how it came from one that it did not."""

    sql: str
    changes: tuple[GroundingChange, ...]
