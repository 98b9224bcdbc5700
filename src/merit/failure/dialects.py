"""The same failure types for other databases, from the codes they report instead of their wording.

PostgreSQL has SQLSTATE, MySQL and MariaDB have error numbers, DuckDB has exception classes. Where one code covers
several failures, the text decides between them.
"""

from dataclasses import dataclass

from merit.types import Failure, FailureSubtype, FailureType

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


@dataclass(frozen=True, slots=True)
class CodeRule:
    """Codes, and where they are shared, a part of the text, that mean one failure."""

    codes: frozenset[str]
    failure: Failure
    says: str = ""


def _rule(codes: str, failure: Failure, says: str = "") -> CodeRule:
    return CodeRule(frozenset(codes.split()), failure, says)


# In order; the first match wins, as in the paper's table.
DIALECTS: dict[str, tuple[CodeRule, ...]] = {
    "postgresql": (
        _rule("42P01", _VIEW, "view "),
        _rule("42P01", _TABLE),
        _rule("42703", _COLUMN),
        _rule("42702", _AMBIGUOUS),
        _rule("42883", _TYPE, "operator does not exist"),  # integer = text
        _rule("42883", _FUNCTION),
        _rule("42601 42000", _PARSE),
        _rule("42803 42P20", _AGGREGATE),
        _rule("22P02 42804 22007 22008 42846", _TYPE),
        _rule("25006", _WRITE),
        _rule("3D000", _DATABASE),
        CodeRule(frozenset({""}), _DATABASE, '" does not exist'),  # a refused connection carries no code
        _rule("57014", _TIMEOUT),
    ),
    "mysql": (
        _rule("1146", _TABLE),
        _rule("4092", _VIEW),
        _rule("1054", _COLUMN),
        _rule("1052", _AMBIGUOUS),
        _rule("1305 1630", _FUNCTION),
        _rule("1064 1149", _PARSE),
        _rule("1111 1140 1055", _AGGREGATE),
        _rule("1292 1366 1411", _TYPE),
        _rule("1792 1290", _WRITE),
        _rule("1049", _DATABASE),
        _rule("1969 3024 1317", _TIMEOUT),
    ),
    "duckdb": (
        _rule("CatalogException", _VIEW, "view with name"),
        _rule("CatalogException", _FUNCTION, "function with name"),
        _rule("CatalogException", _TABLE, "table with name"),
        _rule("BinderException", _COLUMN, "not found in from clause"),
        _rule("BinderException", _COLUMN, "does not have a column named"),
        _rule("BinderException", _AMBIGUOUS, "ambiguous reference to"),
        _rule("BinderException", _AGGREGATE, "cannot contain aggregates"),
        _rule("BinderException", _AGGREGATE, "aggregate function calls cannot be nested"),
        _rule("BinderException", _AGGREGATE, "must appear in the group by clause"),
        _rule("BinderException", _TYPE, "cannot compare values of type"),
        _rule("BinderException", _FUNCTION, "no function matches the given name"),
        _rule("ParserException", _PARSE),
        _rule("ConversionException TypeMismatchException", _TYPE),
        _rule("InvalidInputException", _WRITE, "read-only mode"),
        _rule("IOException", _DATABASE, "does not exist"),
        _rule("InterruptException", _TIMEOUT),
    ),
}
DIALECTS["mariadb"] = DIALECTS["mysql"]


def classify_code(dialect: str, code: str, text: str) -> Failure:
    """Name a failure by what another database reported."""
    lowered = text.split("\n", 1)[0].lower()  # further lines quote the statement
    for rule in DIALECTS[dialect]:
        if code in rule.codes and rule.says in lowered:
            return rule.failure
    return _UNKNOWN
