"""The database's own words for a text that the guard could not read, or that calls a function that is not there."""

import re
from collections.abc import Callable

from merit.sql.guard import UnknownCall
from merit.types import Cause, Error

_QUERY = re.compile(r"[\s(]*(?:select|with|values|table|from)\b", re.IGNORECASE)
_NO_FUNCTION = frozenset({"42883", "1305", "1630", "CatalogException"})  # of PostgreSQL, MySQL and MariaDB, DuckDB


def explained(refused: Error, sql: str, parsed: Callable[[], Error | None]) -> Error:
    """What the database says of such a text, with its code and position; else what the guard said.

    `parsed` has the database read the text and run nothing of it. A text with anything that is forbidden (a denied
    function, a hidden table, a second statement) is not even read there.
    """
    no_query = refused.cause is Cause.STATEMENTS and not _QUERY.match(sql) and ";" not in sql.rstrip("; \t\r\n")
    unread = refused.cause is Cause.DBMS or no_query
    if not unread and not isinstance(refused, UnknownCall):
        return refused
    error = parsed()
    if error is None or error.cause is not Cause.DBMS or not error.code:
        return refused
    return error if unread or error.code in _NO_FUNCTION else refused
