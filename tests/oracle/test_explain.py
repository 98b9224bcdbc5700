"""Why an answer is wrong: the reference and the first rows of both, on the database where they differ."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from merit.data import Dataset, load
from merit.errors import DatabaseUnusable, ReferenceFailed
from merit.oracle import Explainer
from merit.oracle.explain import FIRST_ROWS
from merit.types import Question


def question(dataset: Dataset, start: str) -> Question:
    return next(question for question in dataset.questions if question.text.startswith(start))


@pytest.fixture
def explainer(library: Dataset) -> Iterator[Explainer]:
    with closing(Explainer(library, "suite")) as found:
        yield found


def test_a_difference_on_the_questions_own_database(explainer: Explainer, library: Dataset) -> None:
    found = explainer.explain(question(library, "How many books are"), "SELECT count(*), 'x' FROM author")
    assert found.reference_sql.lower().startswith("select count(*) from book")
    assert (found.database, found.suite, found.differs) == ("library.sqlite", False, True)
    assert (found.reference.columns, found.own.columns) == (1, 2)
    assert (found.reference.count, len(found.reference.rows)) == ("1", 1)
    assert found.own.rows[0][1] == "x"
    assert found.own.rows[0][0].isdigit()


def test_a_difference_that_only_the_suite_shows(explainer: Explainer, library: Dataset) -> None:
    lucky = "SELECT name FROM member JOIN loan ON member.member_id = loan.member_id WHERE returned IS NULL"
    found = explainer.explain(question(library, "Which members have a book"), lucky)
    assert (found.suite, found.differs) == (True, True)
    assert found.database != "library.sqlite"
    assert found.reference != found.own


def test_no_difference_is_said(explainer: Explainer, library: Dataset) -> None:
    found = explainer.explain(question(library, "How many books are"), "SELECT count(*) FROM book")
    assert (found.database, found.suite, found.differs) == ("library.sqlite", False, False)


def test_an_answer_that_fails_has_no_rows_but_its_error(explainer: Explainer, library: Dataset) -> None:
    books = question(library, "How many books are")
    found = explainer.explain(books, "SELECT nope FROM book")
    assert (found.own.rows, found.own.failure, found.differs) == ((), "no such column: nope", True)
    assert found.reference.rows
    assert "too long" in explainer.explain(books, "x" * 1_000_000).own.failure
    for hostile in ("DROP TABLE book", "", "ATTACH '/etc/passwd' AS x"):
        assert explainer.explain(books, hostile).own.failure


def test_only_the_first_rows_are_shown_and_nothing_moves_a_cursor(explainer: Explainer, library: Dataset) -> None:
    books = question(library, "How many books are")
    many = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000) SELECT i FROM c"
    found = explainer.explain(books, many)
    assert (len(found.own.rows), found.own.count) == (FIRST_ROWS, "5,000")
    values = "SELECT char(27) || '[2Jx', NULL, x'00ff', 2.5, hex(zeroblob(500))"
    (row,) = explainer.explain(books, values).own.rows
    assert row[:4] == ("\ufffd[2Jx", "NULL", "x'00ff'", "2.5")
    assert len(row[4]) < 130
    endless = many.replace(" WHERE i < 5000", "")
    assert explainer.explain(books, endless).differs is None  # it is cut off, and nobody knows


def test_a_reference_that_fails_keeps_its_secrets(root: Path) -> None:
    path = root / "dev.json"
    path.write_text(path.read_text().replace("SELECT count(*) FROM loan", "SELECT secret_column FROM loan"))
    dataset = load("spider", root)
    with closing(Explainer(dataset, "db")) as explainer:
        with pytest.raises(ReferenceFailed, match="its reference SQL fails") as caught:
            explainer.explain(question(dataset, "How many loans"), "SELECT 1")
        assert "secret" not in str(caught.value)
        with pytest.raises(DatabaseUnusable, match="nowhere"):
            explainer.explain(Question(0, "nowhere", "?"), "SELECT 1")


def test_nothing_is_written_to_the_databases(explainer: Explainer, library: Dataset, root: Path) -> None:
    explainer.explain(question(library, "How many books are"), "DELETE FROM book")
    with closing(sqlite3.connect(root / "database/library/library.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM book").fetchone()[0] > 0
