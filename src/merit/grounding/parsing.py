"""Queries as trees, in the dialects that merit knows."""

import logging
import re

from sqlglot import exp

from merit.sql.parser import UNREADABLE, parse_bounded
from merit.types import SQLGLOT_DIALECTS

# What is longer is not looked at: each column of a query is held against each of its tables.
_LONGEST_SQL = 20_000  # characters
_MOST_WORDS = 600  # of 57,225 draws of a model the longest has 301, of the references of Spider, BIRD and BEAVER 331
_WORD = re.compile(r"[^\W\d]\w*")  # no number: an ordinary query may have a long list of them
# sqlglot logs what it cannot read, and Python prints the log of a library that has no handler.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


def is_too_long(sql: str) -> bool:
    """Whether looking at a text could take seconds."""
    return len(sql) > _LONGEST_SQL or sum(1 for _ in _WORD.finditer(sql)) > _MOST_WORDS


def parse_query(sql: str, dialect: str) -> exp.Query | None:
    """The tree of a query; None for what is too long, cannot be parsed or is not a query."""
    if is_too_long(sql):
        return None
    try:
        tree = parse_bounded(sql, SQLGLOT_DIALECTS[dialect])
    except UNREADABLE:
        return None
    return tree if isinstance(tree, exp.Query) else None
