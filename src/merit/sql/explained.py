"""The database's own words for a text that the guard could not read, or that calls a function that is not there."""

import re
from collections.abc import Callable

from merit.sql.guard import UnknownCall
from merit.sql.unevaluated import without_end
from merit.types import Cause, Error

_QUERY = re.compile(r"[\s(]*(?:select|with|values|table|from)\b", re.IGNORECASE)
_NO_FUNCTION = frozenset({"42883", "1305", "1630", "CatalogException"})  # of PostgreSQL, MySQL and MariaDB, DuckDB


def explained(refused: Error, sql: str, parsed: Callable[[tuple[str, ...]], Error | None]) -> Error:
    """What the database says of such a text, with its code and position; else what the guard said.

    `parsed` has the database read the text and run nothing of it; it gets the function that is not known, if that is
    the fault. A text with anything that is forbidden (a denied function, a hidden table, a second statement), as far as
    the guard could read it, is not even read there.
    """
    no_query = refused.cause is Cause.STATEMENTS and not _QUERY.match(sql)
    unread = (refused.cause is Cause.DBMS or no_query) and ";" not in without_end(sql)
    if not unread and not isinstance(refused, UnknownCall):
        return refused
    error = parsed(refused.called if isinstance(refused, UnknownCall) else ())
    if error is None or error.cause is not Cause.DBMS or not error.code:
        return refused
    return error if unread or error.code in _NO_FUNCTION else refused
