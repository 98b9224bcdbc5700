"""What an agent is told: under dbms_only whether its SQL ran, and nothing in which a reference has a part."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from making.benchmark import ITEMS, build
from merit.data import Dataset, load
from merit.errors import DatabaseUnusable
from merit.oracle import Judge, judging_for, open_judge
from merit.types import Cause, Judging, Question, Regime, Status, Verdict

ENDLESS = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c"
NUMBERS = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {rows})"
LATE_ROW = f"{NUMBERS.format(rows=3000)} SELECT CASE WHEN i < 3000 THEN i ELSE abs(-9223372036854775808) END FROM c"
MANY_ROWS = f"{NUMBERS.format(rows=30_000)} SELECT i FROM c"
WIDE_ROWS = f"{NUMBERS.format(rows=40)} SELECT i, hex(zeroblob(100000)) FROM c"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return load("spider", build(tmp_path_factory.mktemp("data")))


@pytest.fixture(scope="module")
def judge(dataset: Dataset) -> Iterator[Judge]:
    with closing(open_judge(dataset, "db", cache=None, timeout_s=60.0)) as opened:
        yield opened


@pytest.fixture
def told(judge: Judge) -> Judging:
    return judging_for(Regime.DBMS_ONLY, judge)


def shop(dataset: Dataset) -> list[Question]:
    """Questions over one database with references of 1, 2, 3 and 4 rows, of one column and of two."""
    return [question for question in dataset.questions if question.db_id == "shop"]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT count(*) FROM item", Verdict(Status.EXECUTED)),
        ("SELECT count(*) FROM maker", Verdict(Status.EXECUTED)),
        ("SELECT name FROM item WHERE 0", Verdict(Status.EXECUTED)),
        (MANY_ROWS, Verdict(Status.EXECUTED)),
        (WIDE_ROWS, Verdict(Status.EXECUTED)),
        (LATE_ROW, Verdict(Status.EXECUTION_ERROR, "integer overflow", Cause.DBMS)),
        ("SELECT count(*) FROM items", Verdict(Status.EXECUTION_ERROR, "no such table: items", Cause.DBMS)),
        ("SELECT cost FROM item", Verdict(Status.EXECUTION_ERROR, "no such column: cost", Cause.DBMS)),
    ],
)
def test_the_verdict_is_the_same_whatever_the_reference(
    dataset: Dataset, told: Judging, sql: str, expected: Verdict
) -> None:
    (verdict,) = {told(question, sql) for question in shop(dataset)}
    assert replace(verdict, result=None) == expected
    assert (verdict.result is not None) == (expected.status is Status.EXECUTED)


def test_a_late_row_tells_the_regimes_apart(dataset: Dataset, judge: Judge, told: Judging) -> None:
    """The judge stops reading where a result is known to differ; what that says about the reference stays with it."""
    question = shop(dataset)[0]
    assert judge.judge(question, LATE_ROW) == Verdict(Status.DENOTATION_MISMATCH)
    assert told(question, LATE_ROW).status is Status.EXECUTION_ERROR


def test_what_does_not_end_times_out_for_every_reference(dataset: Dataset) -> None:
    with closing(open_judge(dataset, "db", cache=None, timeout_s=0.2)) as hasty:
        told = judging_for(Regime.DBMS_ONLY, hasty)
        first, second = (told(question, ENDLESS) for question in shop(dataset)[:2])
    assert (first.status, first.cause) == (Status.TIMEOUT, Cause.TIMEOUT)
    assert first.error
    assert first == second


@pytest.mark.parametrize(
    ("sql", "cause", "text"),
    [
        ("", Cause.STATEMENTS, ""),
        ("DELETE FROM item", Cause.READ_ONLY, ""),
        ("ATTACH 'x' AS y", Cause.FORBIDDEN, ""),
        ("SELECT zeroblob(1000000000)", Cause.TOO_LARGE, ""),
        ("x" * 1_000_000, Cause.TOO_LARGE, "statement too long: 1000000 characters"),
        ("SELECT name FROM maker WHERE land = 'Peru'", Cause.DBMS, "no such column: land"),
        ("SELECT highest(price) FROM item", Cause.DBMS, "no such function: highest"),
        ("SELECT FROM", Cause.DBMS, 'near "FROM": syntax error'),
    ],
)
def test_errors_keep_their_text_and_cause(
    dataset: Dataset, judge: Judge, told: Judging, sql: str, cause: Cause, text: str
) -> None:
    verdict = told(shop(dataset)[0], sql)
    assert (verdict.status, verdict.cause) == (Status.EXECUTION_ERROR, cause)
    assert verdict.error
    assert text in verdict.error
    assert verdict == judge.judge(shop(dataset)[0], sql)  # the judge has no other words for it


def test_right_and_wrong_are_never_said(dataset: Dataset, judge: Judge, told: Judging) -> None:
    for question, item in zip(dataset.questions, ITEMS, strict=True):
        assert told(question, item.reference).status is told(question, item.wrong).status is Status.EXECUTED
        assert told(question, item.broken).status is Status.EXECUTION_ERROR
        assert judge.judge(question, item.reference).correct


def test_where_all_is_told_the_judge_itself_speaks(dataset: Dataset, judge: Judge) -> None:
    assert judging_for(Regime.DENOTATION_CONFIRMED, judge) == judge.judge


def test_a_question_without_a_reference_can_be_tried(dataset: Dataset, told: Judging) -> None:
    unknown = replace(shop(dataset)[0], id="not in the dataset")
    assert told(unknown, "SELECT 1").status is Status.EXECUTED


def test_a_result_is_known_again_in_any_order(dataset: Dataset, judge: Judge, told: Judging) -> None:
    question = shop(dataset)[0]

    def result(sql: str) -> str | None:
        return told(question, sql).result

    rows = result("SELECT name, price FROM item ORDER BY name")
    assert rows == result("SELECT price AS cost, name FROM item ORDER BY price DESC")
    others = [
        "SELECT name FROM item",
        "SELECT name, price FROM item WHERE price > 2",
        "SELECT name, price FROM item UNION ALL SELECT name, price FROM item",
        "SELECT name, CAST(price AS TEXT) FROM item",
        "SELECT name, price, price FROM item",
    ]
    assert rows not in [result(sql) for sql in others]
    assert result("SELECT name FROM item WHERE 0") == result("SELECT 1, 2 WHERE 0") == ""
    assert judge.judge(question, "SELECT name FROM item").result is None  # where all is told, nothing else is


def test_a_missing_database_is_no_verdict(dataset: Dataset, told: Judging, tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match="there is no database 'zoo'"):
        told(replace(shop(dataset)[0], db_id="zoo"), "SELECT 1")
