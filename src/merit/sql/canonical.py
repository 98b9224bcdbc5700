"""The form in which two queries are compared: equal only where their engine certainly reads the same."""

from collections.abc import Callable

from merit.sql import lexing
from merit.sql.sqlite import lexing as sqlite_lexing
from merit.types import Limits

_LONGEST = Limits().sql_bytes  # characters
_FORMS: dict[str, Callable[[str], str]] = {
    "sqlite": sqlite_lexing.canonical,
    "postgresql": lexing.POSTGRESQL.canonical,
    "mysql": lexing.MYSQL.canonical,
    "mariadb": lexing.MYSQL.canonical,
    "duckdb": lexing.DUCKDB.canonical,
}


def canonical(sql: str, dialect: str = "sqlite") -> str:
    """SQL up to layout, comments, case where the engine ignores it, and a semicolon at the end.

    Nothing is understood beyond an engine's own tokens, and two texts that may differ are called different: a
    candidate must never be given another one's verdict. A text that is too long to be run is taken as it is.
    """
    return _FORMS[dialect](sql) if len(sql) <= _LONGEST else sql
