"""Whether two queries say the same, up to what certainly makes no difference."""

from functools import lru_cache

import sqlglot
from sqlglot.errors import SqlglotError


@lru_cache(maxsize=100_000)
def canonical(sql: str) -> str:
    """SQL up to layout, comments, spelling of keywords and case of plain names; what cannot be parsed, up to layout."""
    try:
        tree = sqlglot.parse_one(sql, dialect="sqlite")
        for name in tree.find_all(sqlglot.exp.Identifier):
            if not name.quoted:  # in double quotes SQLite may find a text, whose case matters
                name.set("this", name.name.lower())
        return tree.sql(dialect="sqlite", comments=False)
    except (SqlglotError, RecursionError, ValueError):
        return " ".join(sql.split()).removesuffix(";").rstrip()
