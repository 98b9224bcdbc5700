"""Verdicts on the example benchmark: statuses, causes, suites, caches, and what stays inside."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from merit.data import Dataset, load
from merit.errors import DatabaseUnusable, ReferenceFailed
from merit.oracle import Judge, open_judge
from merit.types import Cause, Distinct, Question, Status, Verdict

Open = Callable[..., Judge]


@pytest.fixture
def judge_of(library: Dataset) -> Iterator[Open]:
    opened: list[Judge] = []

    def make(
        protocol: str = "db",
        distinct: Distinct | None = None,
        cache: Path | None = None,
        timeout_s: float = 60.0,
        dataset: Dataset = library,
    ) -> Judge:
        opened.append(open_judge(dataset, protocol, distinct, cache=cache, timeout_s=timeout_s))
        return opened[-1]

    yield make
    for judge in opened:
        judge.close()


def question(dataset: Dataset, start: str) -> Question:
    return next(question for question in dataset.questions if question.text.startswith(start))


def test_the_four_statuses(judge_of: Open, library: Dataset) -> None:
    judge, books = judge_of(), question(library, "How many books are")
    assert judge.judge(books, "SELECT count(*) FROM book") == Verdict(Status.CORRECT)
    assert judge.judge(books, "SELECT count(*) FROM author") == Verdict(Status.DENOTATION_MISMATCH)
    assert judge.judge(books, "SELECT count(*) FROM books") == Verdict(
        Status.EXECUTION_ERROR, "no such table: books", Cause.DBMS
    )
    endless = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c"
    late = judge_of(timeout_s=0.3).judge(books, endless)
    assert (late.status, late.cause) == (Status.TIMEOUT, Cause.TIMEOUT)


@pytest.mark.parametrize(
    ("sql", "cause"),
    [
        ("", Cause.STATEMENTS),
        ("-- nothing", Cause.STATEMENTS),
        ("DELETE FROM book", Cause.READ_ONLY),
        ("ATTACH 'x' AS y", Cause.FORBIDDEN),
        ("SELECT zeroblob(1000000000)", Cause.TOO_LARGE),
        ("SELECT '\ud800'", Cause.DBMS),
        ("x" * 1_000_000, Cause.TOO_LARGE),
    ],
)
def test_anything_at_all_gets_a_verdict(judge_of: Open, library: Dataset, sql: str, cause: Cause) -> None:
    verdict = judge_of().judge(question(library, "How many books are"), sql)
    assert (verdict.status, verdict.cause) == (Status.EXECUTION_ERROR, cause)
    assert verdict.error


def test_only_the_first_statement_counts_in_spider(judge_of: Open, library: Dataset) -> None:
    books = question(library, "How many books are")
    assert judge_of().judge(books, "SELECT count(*) FROM book; DROP TABLE book").correct


@pytest.mark.parametrize("rest", ["; SELECT 2", "; DROP TABLE book", ";;", "; -- a comment\n;"])
def test_where_distinct_is_kept_a_second_statement_is_an_error(judge_of: Open, library: Dataset, rest: str) -> None:
    """The official code then has no parser look at the text, and Python's sqlite3 refuses it."""
    judge, books = judge_of(distinct=Distinct.KEPT), question(library, "How many books are")
    assert judge.judge(books, "SELECT count(*) FROM book; -- a comment").correct
    assert judge.judge(books, f"SELECT count(*) FROM book{rest}").cause is Cause.STATEMENTS
    with pytest.raises((sqlite3.Warning, sqlite3.ProgrammingError)), closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"SELECT 1{rest}")


def test_distinct_decides_a_verdict(judge_of: Open, root: Path, tmp_path: Path) -> None:
    """In the reference, in the answer, and inside COUNT; and no result of one way is taken for one of the other."""
    path = root / "dev.json"
    countries, loans = "SELECT DISTINCT country FROM author", "SELECT count(DISTINCT member_id) FROM loan"
    text = path.read_text().replace("SELECT name FROM author WHERE country = 'Poland'", countries)
    path.write_text(text.replace("SELECT count(*) FROM loan", loans))
    dataset = load("spider", root)
    cases = [
        (question(dataset, "Which authors come"), countries, True, True),
        (question(dataset, "Which authors come"), "SELECT country FROM author", False, True),
        (question(dataset, "Which authors come"), "SELECT country FROM author GROUP BY country", True, False),
        (question(dataset, "How many loans"), loans, True, True),
        (question(dataset, "How many loans"), "SELECT count(member_id) FROM loan", False, True),
    ]
    for _ in range(2):  # the second time with the results of both in the cache
        for distinct in Distinct:
            with closing(open_judge(dataset, "suite", distinct, cache=tmp_path)) as judge:
                right = [judge.judge(asked, sql).correct for asked, sql, *_ in cases]
            assert right == [case[2 if distinct is Distinct.KEPT else 3] for case in cases]


def test_the_suite_tells_luck_from_knowledge(judge_of: Open, library: Dataset) -> None:
    members = question(library, "Which members have a book")
    lucky = "SELECT name FROM member JOIN loan ON member.member_id = loan.member_id WHERE returned IS NULL"
    assert judge_of("db").judge(members, lucky).correct
    assert judge_of("suite").judge(members, lucky) == Verdict(Status.DENOTATION_MISMATCH)


def test_a_failure_on_a_suite_database_alone_is_a_mismatch(judge_of: Open, library: Dataset) -> None:
    """Status and text come from the original: nothing of a hidden database reaches the model."""
    books = question(library, "How many books are")
    overflow = "SELECT count(*) + CASE WHEN (SELECT count(*) FROM author) > 5 THEN abs(-9223372036854775808) ELSE 0 END FROM book"
    assert judge_of("db").judge(books, overflow).correct
    assert judge_of("suite").judge(books, overflow) == Verdict(Status.DENOTATION_MISMATCH)


def test_databases_that_kill_are_tried_first_next_time(judge_of: Open, library: Dataset, tmp_path: Path) -> None:
    members = question(library, "Which members have a book")
    lucky = "SELECT name FROM member JOIN loan ON member.member_id = loan.member_id WHERE returned IS NULL"
    judge = judge_of("suite", cache=tmp_path)
    judge.judge(members, lucky)
    judge.close()
    again = judge_of("suite", cache=tmp_path)
    reference = again._references.of(members)
    killer = reference.expected[1]
    assert again._kills == {killer.content: 1}
    harmless = replace(killer, content="another")
    assert min(harmless, killer, key=again._kills_first) is killer


def test_rows_of_nothing_but_null(judge_of: Open, root: Path) -> None:
    """Large in memory, small when encoded: the cap on a prediction's result must follow the former."""
    path = root / "dev.json"
    nulls = "SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM loan a, loan b, loan c, loan d, loan e, loan f, loan g"
    path.write_text(path.read_text().replace("SELECT count(*) FROM loan", nulls))
    dataset = load("spider", root)
    assert (
        judge_of(dataset=dataset, timeout_s=30.0).judge(question(dataset, "How many loans"), f"{nulls} WHERE 1").correct
    )


def test_reference_results_are_computed_once(judge_of: Open, library: Dataset, tmp_path: Path) -> None:
    books = question(library, "How many books are")
    first = judge_of("suite", cache=tmp_path)
    first.judge(books, "SELECT 1")
    first.close()
    second = judge_of("suite", cache=tmp_path)

    def never(*_: object) -> None:
        raise AssertionError("a cached reference was run again")

    second._references._run = never  # type: ignore[method-assign, assignment]
    assert second.judge(books, "SELECT count(book_id) FROM book").correct
    with pytest.raises(AssertionError):
        second.judge(question(library, "How many loans"), "SELECT 1")


def test_a_changed_database_is_not_judged_by_old_results(
    judge_of: Open, library: Dataset, root: Path, tmp_path: Path
) -> None:
    books = question(library, "How many books are")
    judge = judge_of(cache=tmp_path)
    assert judge.judge(books, "SELECT 7").correct
    judge.close()
    db = sqlite3.connect(root / "database/library/library.sqlite")
    db.execute("DELETE FROM book WHERE book_id = 1")
    db.commit()
    db.close()
    assert not judge_of(cache=tmp_path).judge(books, "SELECT 7").correct
    assert judge_of(cache=tmp_path).judge(books, "SELECT 6").correct


def test_a_file_of_the_same_size_and_time_is_not_taken_for_the_old_one(
    judge_of: Open, library: Dataset, root: Path, tmp_path: Path
) -> None:
    books, path = question(library, "How many books are"), root / "database/library/library.sqlite"
    before = path.stat()
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns - 10**12))
    time.sleep(2.1)  # old enough for its hash to be kept
    judge = judge_of(cache=tmp_path)
    assert judge.judge(books, "SELECT 7").correct
    judge.close()
    old = path.stat()
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM book WHERE book_id = 1")
        db.commit()
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (old.st_size, old.st_mtime_ns)
    assert judge_of(cache=tmp_path).judge(books, "SELECT 6").correct


@pytest.mark.parametrize("protocol", ["db", "suite"])
def test_a_journal_beside_a_database_is_part_of_it(
    judge_of: Open, library: Dataset, root: Path, tmp_path: Path, protocol: str
) -> None:
    books = question(library, "How many books are")
    judge = judge_of(protocol, cache=tmp_path)
    assert judge.judge(books, "SELECT count(*) FROM book").correct
    judge.close()
    folder = root / ("database" if protocol == "db" else "test_suite") / "library"
    path, content = folder / "library.sqlite", library.content_hash()
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("DELETE FROM book WHERE book_id = 1")
        writer.commit()
        kept = {name: (folder / name).read_bytes() for name in ("library.sqlite", "library.sqlite-wal")}
    for name, data in kept.items():  # as a writer that was killed leaves them
        (folder / name).write_bytes(data)
    before = {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}
    judge = judge_of(protocol, cache=tmp_path)
    assert not judge.judge(books, "SELECT 7").correct
    assert judge.judge(books, "SELECT count(book_id) FROM book").correct
    assert {file: file.read_bytes() for file in root.rglob("*") if file.is_file()} == before
    assert load("spider", root).content_hash() != content


def test_a_reference_over_a_view_of_the_moment_is_run_anew(judge_of: Open, root: Path, tmp_path: Path) -> None:
    path = root / "dev.json"
    path.write_text(path.read_text().replace("SELECT count(*) FROM loan", "SELECT * FROM chance"))
    with closing(sqlite3.connect(root / "database/library/library.sqlite")) as db:
        db.execute("CREATE VIEW chance AS SELECT random()")
    dataset = load("spider", root)
    loans = question(dataset, "How many loans")
    seen = set()
    for _ in range(2):
        judge = judge_of(cache=tmp_path, dataset=dataset)
        seen.add(judge._references.of(loans).expected[0].encoded)
        assert not judge.judge(loans, "SELECT * FROM chance").correct  # the same text, at another moment
        judge.close()
    assert len(seen) == 2


def test_the_same_text_is_never_run_twice(judge_of: Open, library: Dataset) -> None:
    judge, books = judge_of(), question(library, "How many books are")
    verdict = judge.judge(books, "SELECT nope FROM book")
    judge._sandbox.first_difference = None  # type: ignore[method-assign, assignment]
    assert judge.judge(books, "SELECT nope FROM book") is verdict


def test_a_failing_reference_is_our_fault_and_keeps_its_secrets(root: Path, judge_of: Open) -> None:
    path = root / "dev.json"
    path.write_text(path.read_text().replace("SELECT count(*) FROM loan", "SELECT secret_column FROM loan"))
    dataset = load("spider", root)
    loans = question(dataset, "How many loans")
    with pytest.raises(ReferenceFailed, match=f"question {loans.id}: its reference SQL fails") as caught:
        judge_of(dataset=dataset).judge(loans, "SELECT 1")
    assert "secret" not in str(caught.value)


def test_a_database_that_goes_away_stops_the_judge(root: Path, library: Dataset, judge_of: Open) -> None:
    judge = judge_of()
    (root / "database/library/library.sqlite").unlink()
    with pytest.raises(DatabaseUnusable, match="library.sqlite"):
        judge.judge(library.questions[0], "SELECT 1")
    stranger = Question("x", "nowhere", "?")
    with pytest.raises(DatabaseUnusable, match="nowhere"):
        judge.judge(stranger, "SELECT 1")


def test_a_verdict_carries_nothing_of_the_reference(judge_of: Open, root: Path) -> None:
    path = root / "dev.json"
    path.write_text(path.read_text().replace("SELECT count(*) FROM loan", "SELECT count(*) AS canary_7f3 FROM loan"))
    dataset = load("spider", root)
    loans = question(dataset, "How many loans")
    assert "canary_7f3" not in repr(dataset)
    judge = judge_of(dataset=dataset)
    for sql in ("SELECT 1", "SELECT nope", "", "SELECT count(*) FROM loan", "DELETE FROM loan"):
        assert "canary_7f3" not in repr(judge.judge(loans, sql))
