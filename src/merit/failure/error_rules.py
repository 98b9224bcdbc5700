"""What an engine reports, and which failure it means: a table for each dialect, the first match wins.

SQLite's table is the paper's (appendix "Deterministic Online Error Classifier"), by the engine's text. The others go
by the engine's code: PostgreSQL has SQLSTATE, MySQL and MariaDB have error numbers, DuckDB has exception classes. Where
one code covers several failures, the text decides between them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from merit.types import Cause, Failure, FailureSubtype, FailureType, Status, Verdict

_UNKNOWN = Failure(FailureType.UNKNOWN, FailureSubtype.UNKNOWN)
_TABLE = Failure(FailureType.SCHEMA_LINKING, FailureSubtype.MISSING_TABLE)
_COLUMN = Failure(FailureType.SCHEMA_LINKING, FailureSubtype.MISSING_COLUMN)
_VIEW = Failure(FailureType.SCHEMA_LINKING, FailureSubtype.MISSING_VIEW)
_AMBIGUOUS = Failure(FailureType.SCHEMA_LINKING, FailureSubtype.AMBIGUOUS_COLUMN)
_FUNCTION = Failure(FailureType.SYNTAX, FailureSubtype.UNKNOWN_FUNCTION)
_PARSE = Failure(FailureType.SYNTAX, FailureSubtype.PARSE_FAILURE)
_AGGREGATE = Failure(FailureType.AGGREGATION, FailureSubtype.DBMS_AGGREGATE_MISUSE)
_TYPE = Failure(FailureType.FILTER_VALUE, FailureSubtype.TYPE_MISMATCH)
_WRITE = Failure(FailureType.EXECUTION, FailureSubtype.READ_ONLY_VIOLATION)
_DATABASE = Failure(FailureType.EXECUTION, FailureSubtype.DB_NOT_FOUND)
_TIMEOUT = Failure(FailureType.EXECUTION, FailureSubtype.TIMEOUT)
_MISMATCH = Failure(FailureType.RESULT_MISMATCH, FailureSubtype.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Observation:
    """What the rules look at."""

    verdict: Verdict
    code: str  # the engine's own; empty where it gave none
    text: str  # the engine's own, in lower case


@dataclass(frozen=True, slots=True)
class FailureRule:
    """One line of a table: a condition, and the failure that it means."""

    matches: Callable[[Observation], bool]
    failure: Failure


def _text(*fragments: str) -> Callable[[Observation], bool]:
    """Whether the engine's text contains one of the fragments."""
    return lambda seen: any(fragment in seen.text for fragment in fragments)


def _cause(cause: Cause) -> Callable[[Observation], bool]:
    return lambda seen: seen.verdict.cause is cause


def _code(codes: str, failure: Failure, fragment: str = "") -> FailureRule:
    """A rule for any of the codes, and where they are shared, for a text that contains the fragment."""
    wanted = frozenset(codes.split()) if codes else frozenset({""})
    return FailureRule(lambda seen: seen.code in wanted and fragment in seen.text, failure)


_SQLITE = (
    FailureRule(_text("no such table:"), _TABLE),
    FailureRule(_text("no such column:"), _COLUMN),
    FailureRule(_text("no such view:"), _VIEW),
    FailureRule(_text("ambiguous column name:"), _AMBIGUOUS),
    FailureRule(_text("no such function:"), _FUNCTION),
    FailureRule(_text("syntax error", "incomplete input", "unrecognized token"), _PARSE),
    FailureRule(_text("misuse of aggregate", "aggregate functions are not allowed"), _AGGREGATE),
    FailureRule(_text("datatype mismatch", "type mismatch"), _TYPE),
)
_POSTGRESQL = (
    _code("42P01", _VIEW, "view "),
    _code("42P01", _TABLE),
    _code("42703", _COLUMN),
    _code("42702", _AMBIGUOUS),
    _code("42883", _TYPE, "operator does not exist"),  # integer = text
    _code("42883", _FUNCTION),
    _code("42601 42000", _PARSE),
    _code("42803 42P20", _AGGREGATE),
    _code("22P02 42804 22007 22008 42846", _TYPE),
    _code("25006", _WRITE),
    _code("3D000", _DATABASE),
    _code("", _DATABASE, 'database "'),  # a refused connection carries no code
    _code("57014", _TIMEOUT),
)
_MYSQL = (
    _code("1146", _TABLE),
    _code("4092", _VIEW),
    _code("1054", _COLUMN),
    _code("1052", _AMBIGUOUS),
    _code("1305 1630", _FUNCTION),
    _code("1064 1149", _PARSE),
    _code("1111 1140 1055", _AGGREGATE),
    _code("1292 1366 1411", _TYPE),
    _code("1792 1290", _WRITE),
    _code("1049", _DATABASE),
    _code("1969 3024 1317", _TIMEOUT),
)
_DUCKDB = (
    _code("CatalogException", _VIEW, "view with name"),
    _code("CatalogException", _FUNCTION, "function with name"),
    _code("CatalogException", _TABLE, "table with name"),
    _code("BinderException", _COLUMN, "not found in from clause"),
    _code("BinderException", _COLUMN, "does not have a column named"),
    _code("BinderException", _COLUMN, "because the from clause is missing"),
    _code("BinderException", _TABLE, "referenced table"),
    _code("BinderException", _AMBIGUOUS, "ambiguous reference to"),
    _code("BinderException", _AGGREGATE, "cannot contain aggregates"),
    _code("BinderException", _AGGREGATE, "aggregate function calls cannot be nested"),
    _code("BinderException", _AGGREGATE, "must appear in the group by clause"),
    _code("BinderException", _TYPE, "cannot compare values of type"),
    _code("BinderException", _FUNCTION, "no function matches the given name"),
    _code("ParserException", _PARSE),
    _code("ConversionException TypeMismatchException", _TYPE),
    _code("InvalidInputException", _WRITE, "read-only mode"),
    _code("IOException", _DATABASE, "does not exist"),
    _code("InterruptException", _TIMEOUT),
)
# What every engine has in common, after its own table: causes that merit knows by their type, and wrong rows.
_COMMON = (
    FailureRule(_cause(Cause.READ_ONLY), _WRITE),
    FailureRule(_cause(Cause.DATABASE_MISSING), _DATABASE),
    FailureRule(lambda seen: seen.verdict.status is Status.TIMEOUT or "timed out" in seen.text, _TIMEOUT),
    FailureRule(lambda seen: bool(seen.verdict.error), _UNKNOWN),
    FailureRule(lambda seen: seen.verdict.status is Status.DENOTATION_MISMATCH, _MISMATCH),
)
TABLES: dict[str, tuple[FailureRule, ...]] = {
    "sqlite": (*_SQLITE, *_COMMON),
    "postgresql": (*_POSTGRESQL, *_COMMON),
    "mysql": (*_MYSQL, *_COMMON),
    "mariadb": (*_MYSQL, *_COMMON),
    "duckdb": (*_DUCKDB, *_COMMON),
}
