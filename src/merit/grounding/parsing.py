"""Queries as trees, in the dialects that merit knows."""

import logging

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from merit.types import SQLGLOT_DIALECTS

LONGEST_SQL = 20_000  # characters; longer ones are not looked at
# sqlglot logs what it cannot read, and Python prints the log of a library that has no handler.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())
# What reading or writing a query can raise: sqlglot's own errors, and Python's where it did not expect the text, such
# as `JOIN LATERAL .`. Models write anything, so such a text is a query that cannot be read, not a reason to end a run.
UNREADABLE = (SqlglotError, RecursionError, AttributeError, LookupError, TypeError, ValueError)


def parse_query(sql: str, dialect: str) -> exp.Query | None:
    """The tree of a query; None for what is too long, cannot be parsed or is not a query."""
    if len(sql) > LONGEST_SQL:
        return None
    try:
        tree = parse_one(sql, read=SQLGLOT_DIALECTS[dialect])
    except UNREADABLE:
        return None
    return tree if isinstance(tree, exp.Query) else None
