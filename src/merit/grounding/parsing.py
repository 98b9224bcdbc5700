"""Queries as trees, in the dialects that merit knows."""

import logging

from sqlglot import exp

from merit.sql.parser import UNREADABLE, parse_bounded
from merit.types import SQLGLOT_DIALECTS

LONGEST_SQL = 20_000  # characters; longer ones are not looked at
# sqlglot logs what it cannot read, and Python prints the log of a library that has no handler.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


def parse_query(sql: str, dialect: str) -> exp.Query | None:
    """The tree of a query; None for what is too long, cannot be parsed or is not a query."""
    if len(sql) > LONGEST_SQL:
        return None
    try:
        tree = parse_bounded(sql, SQLGLOT_DIALECTS[dialect])
    except UNREADABLE:
        return None
    return tree if isinstance(tree, exp.Query) else None
