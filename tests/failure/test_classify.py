"""The paper's rule table, line by line, against errors that a real SQLite produced."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from merit.failure import classify
from merit.failure.classify import observe
from merit.failure.error_rules import TABLES
from merit.sql import SQLiteSandbox
from merit.types import DIALECTS, Cause, Error, Failure, FailureSubtype, FailureType, Limits, Status, Timeout, Verdict

SCHEMA, SYNTAX, EXECUTION = FailureType.SCHEMA_LINKING, FailureType.SYNTAX, FailureType.EXECUTION

REAL = [
    ("SELECT * FROM nope", "no such table: nope", SCHEMA, FailureSubtype.MISSING_TABLE),
    ("SELECT nope FROM t", "no such column: nope", SCHEMA, FailureSubtype.MISSING_COLUMN),
    ("SELECT t.nope FROM t", "no such column: t.nope", SCHEMA, FailureSubtype.MISSING_COLUMN),
    ("DROP VIEW nope", "no such view: nope", SCHEMA, FailureSubtype.MISSING_VIEW),
    ("SELECT id FROM t a, t b", "ambiguous column name: id", SCHEMA, FailureSubtype.AMBIGUOUS_COLUMN),
    ("SELECT nope(1)", "no such function: nope", SYNTAX, FailureSubtype.UNKNOWN_FUNCTION),
    ("SELEC 1", "syntax error", SYNTAX, FailureSubtype.PARSE_FAILURE),
    ("SELECT (", "incomplete input", SYNTAX, FailureSubtype.PARSE_FAILURE),
    ("SELECT 'open", "unrecognized token", SYNTAX, FailureSubtype.PARSE_FAILURE),
    (
        "SELECT sum(count(*)) FROM t",
        "misuse of aggregate",
        FailureType.AGGREGATION,
        FailureSubtype.DBMS_AGGREGATE_MISUSE,
    ),
    (
        "SELECT 1 FROM t WHERE count(*) > 1",
        "misuse of aggregate",
        FailureType.AGGREGATION,
        FailureSubtype.DBMS_AGGREGATE_MISUSE,
    ),
    (
        "SELECT 1 FROM t GROUP BY count(*)",
        "aggregate functions are not allowed",
        FailureType.AGGREGATION,
        FailureSubtype.DBMS_AGGREGATE_MISUSE,
    ),
    ("SELECT 1 FROM t LIMIT 'many'", "datatype mismatch", FailureType.FILTER_VALUE, FailureSubtype.TYPE_MISMATCH),
    ("DELETE FROM t", "readonly", EXECUTION, FailureSubtype.READ_ONLY_VIOLATION),
    ("SELECT count(*) FROM n a, n b, n c", "timed out", EXECUTION, FailureSubtype.TIMEOUT),
    ("SELECT abs(-9223372036854775808)", "integer overflow", FailureType.UNKNOWN, FailureSubtype.UNKNOWN),
    ("SELECT count(1, 2)", "wrong number of arguments", FailureType.UNKNOWN, FailureSubtype.UNKNOWN),
]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SQLiteSandbox]:
    made = SQLiteSandbox()
    yield made
    made.close()


def observed(sandbox: SQLiteSandbox, database: Path, sql: str) -> Verdict:
    result = sandbox.execute(database, sql, Limits(timeout_s=0.3 if "n a, n b, n c" in sql else 60.0))
    if isinstance(result, Timeout):
        return Verdict(Status.TIMEOUT, result.message, Cause.TIMEOUT)
    assert isinstance(result, Error), result
    return Verdict(Status.EXECUTION_ERROR, result.message, result.cause)


@pytest.mark.parametrize(("sql", "text", "kind", "subtype"), REAL, ids=[case[0] for case in REAL])
def test_each_line_of_the_table(
    sandbox: SQLiteSandbox, database: Path, sql: str, text: str, kind: FailureType, subtype: FailureSubtype
) -> None:
    verdict = observed(sandbox, database, sql)
    assert re.search(text, str(verdict.error)), verdict
    assert classify(verdict) == Failure(kind, subtype)


@pytest.mark.parametrize(
    ("text", "kind", "subtype"),
    [
        ("type mismatch in column 2", FailureType.FILTER_VALUE, FailureSubtype.TYPE_MISMATCH),
        ("the query timed out", EXECUTION, FailureSubtype.TIMEOUT),
        ("NO SUCH TABLE: t", SCHEMA, FailureSubtype.MISSING_TABLE),
    ],
)
def test_texts_of_the_table_that_our_sqlite_does_not_say(text: str, kind: FailureType, subtype: FailureSubtype) -> None:
    assert classify(Verdict(Status.EXECUTION_ERROR, text, Cause.DBMS)) == Failure(kind, subtype)


def test_a_missing_database(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    verdict = observed(sandbox, tmp_path / "nowhere.sqlite", "SELECT 1")
    assert classify(verdict) == Failure(EXECUTION, FailureSubtype.DB_NOT_FOUND)


def test_an_executable_query_with_the_wrong_rows() -> None:
    verdict = Verdict(Status.DENOTATION_MISMATCH)
    assert classify(verdict) == Failure(FailureType.RESULT_MISMATCH, FailureSubtype.UNKNOWN)


def test_every_line_is_reached_by_a_real_error(sandbox: SQLiteSandbox, database: Path, tmp_path: Path) -> None:
    seen = [observed(sandbox, database, case[0]) for case in REAL]
    seen += [observed(sandbox, tmp_path / "nowhere.sqlite", "SELECT 1"), Verdict(Status.DENOTATION_MISMATCH)]
    observations = [observe(verdict, "sqlite") for verdict in seen]
    rules = TABLES["sqlite"]
    first = {next(i for i, rule in enumerate(rules) if rule.matches(each)) for each in observations}
    assert first == set(range(len(rules)))


def test_the_first_match_wins() -> None:
    text = "no such column: x (also: syntax error, timed out)"
    assert classify(Verdict(Status.TIMEOUT, text, Cause.TIMEOUT)).subtype is FailureSubtype.MISSING_COLUMN
    assert (
        classify(Verdict(Status.EXECUTION_ERROR, "syntax error near timed out")).subtype is FailureSubtype.PARSE_FAILURE
    )


def test_sqlites_code_decides_nothing() -> None:
    """The paper's table goes by text, so a benchmark's verdicts need no code."""
    for code in (None, "SQLITE_ERROR", "42P01"):
        verdict = Verdict(Status.EXECUTION_ERROR, "no such table: t", Cause.DBMS, code=code)
        assert classify(verdict).subtype is FailureSubtype.MISSING_TABLE


COMMON = [
    (Verdict(Status.DENOTATION_MISMATCH), Failure(FailureType.RESULT_MISMATCH, FailureSubtype.UNKNOWN)),
    (Verdict(Status.TIMEOUT, Timeout(3).message, Cause.TIMEOUT), Failure(EXECUTION, FailureSubtype.TIMEOUT)),
    (Verdict(Status.EXECUTION_ERROR, "x", Cause.READ_ONLY), Failure(EXECUTION, FailureSubtype.READ_ONLY_VIOLATION)),
    (Verdict(Status.EXECUTION_ERROR, "x", Cause.DATABASE_MISSING), Failure(EXECUTION, FailureSubtype.DB_NOT_FOUND)),
    (Verdict(Status.EXECUTION_ERROR, "x", Cause.CRASHED), Failure(FailureType.UNKNOWN, FailureSubtype.UNKNOWN)),
    (Verdict(Status.EXECUTION_ERROR), Failure(FailureType.UNKNOWN, FailureSubtype.UNKNOWN)),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("verdict", "failure"), COMMON)
def test_what_all_dialects_have_in_common(dialect: str, verdict: Verdict, failure: Failure) -> None:
    assert classify(verdict, dialect) == failure


def test_every_dialect_has_a_table() -> None:
    assert TABLES.keys() == DIALECTS.keys()
    with pytest.raises(KeyError):
        classify(Verdict(Status.DENOTATION_MISMATCH), "cobol")


def test_a_correct_attempt_has_no_failure() -> None:
    with pytest.raises(ValueError, match="no failure"):
        classify(Verdict(Status.CORRECT))
