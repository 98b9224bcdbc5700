"""What the check finds, and that it would find it: suites that tell mutants apart, references that hang on luck."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from merit.bundled import SPARSE, DatabaseSource, Fuzzer, WrittenQuestion, built, read_sources
from merit.data import load
from merit.errors import InputError
from merit.mutation import Finding, check_database, choose, mutants
from merit.mutation.check import summary
from merit.mutation.choose import greedy
from merit.mutation.trial import MutantBench, Overrun, run
from merit.oracle import open_judge

SOURCES = read_sources()


@pytest.mark.parametrize("source", SOURCES, ids=[source.db_id for source in SOURCES])
def test_suites_tell_mutants_apart(source: DatabaseSource) -> None:
    """A sample; `merit data check bundled` tries them all."""
    found = check_database(source, sample=slice(3, None, 12))
    assert found.mutants >= 3 * 20
    assert found.killed_by_original < found.killed <= found.differing < found.mutants
    assert found.kill_rate >= 0.95


def test_the_trial_says_what_the_judge_says(bundled_cache: Path) -> None:
    source = SOURCES[0]
    dataset = load("bundled", built(bundled_cache))
    by_id = {question.id: question for question in dataset.questions}
    fuzzer = Fuzzer(source)
    databases = [source.original(), *(fuzzer.database(seed) for seed in source.seeds)]
    compared = 0
    with closing(open_judge(dataset, "suite", cache=None)) as judge:
        for written in source.questions[::9]:
            bench = MutantBench(databases, written.sql)
            for mutant in mutants(written.sql, databases[0])[::4]:
                told = bench.first(mutant, range(len(databases))) is not None
                assert judge.judge(by_id[written.id], mutant).correct is not told, written.id
                compared += 1
    assert compared > 20


@pytest.fixture
def pond(tmp_path: Path) -> DatabaseSource:
    """Ponds and frogs, with a suite of six."""
    (tmp_path / "schema.sql").write_text(
        "CREATE TABLE frog (frog_id INTEGER PRIMARY KEY, name TEXT, size INTEGER, pond TEXT, seen DATE, note TEXT);"
    )
    (tmp_path / "rows.sql").write_text(
        "INSERT INTO frog VALUES (1, 'Ada', 3, 'Big', '2024-01-02', NULL), (2, 'Bo', 4, 'Big', '2024-02-03', 'x'),"
        "(3, 'Cy', 4, 'Low', NULL, 'y'), (4, 'Di', 9, NULL, '2024-04-05', NULL);"
    )
    return DatabaseSource(tmp_path, (asked("SELECT name FROM frog WHERE size > 3"),), tuple(range(1, 7)))


def asked(sql: str) -> WrittenQuestion:
    return WrittenQuestion("pond-01", "Which?", sql, "easy", None)


def refused(source: DatabaseSource, *, quick: bool = True) -> str:
    with pytest.raises(InputError) as raised:
        check_database(source, quick=quick)
    return str(raised.value)


def test_a_sound_one_passes(pond: DatabaseSource) -> None:
    found = check_database(pond)
    assert (found.tables, found.rows, found.questions, found.suite) == (1, 4, 1, 6)
    assert found.difficulty == {"easy": 1}
    assert found.mutants >= 20


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT nme FROM frog", "pond-01: its reference does not run on the original"),
        ("SELECT name FROM frog WHERE size > 99", "pond-01: its reference returns no rows on the original"),
        ("SELECT name FROM frog ORDER BY pond", "pond-01: what its reference returns on the original depends on how"),
        (
            "SELECT pond, name FROM frog GROUP BY pond",
            "pond-01: what its reference returns on the original depends on how",
        ),
        ("SELECT name FROM frog LIMIT 1", "pond-01: what its reference returns on the original depends on how"),
    ],
)
def test_a_bad_reference_is_named_and_not_shown(pond: DatabaseSource, sql: str, said: str) -> None:
    message = refused(replace(pond, questions=(asked(sql),)))
    assert message.startswith(said)
    assert "frog" not in message


def test_a_small_suite_and_few_mutants_are_refused(pond: DatabaseSource) -> None:
    assert "python -m merit.mutation" in refused(replace(pond, seeds=(1, 2)))
    assert refused(replace(pond, questions=(asked("SELECT 1"),)), quick=False).startswith("pond-01: only ")


def test_rows_without_partners_are_refused(pond: DatabaseSource) -> None:
    (pond.folder / "schema.sql").write_text(
        "CREATE TABLE pond (pond TEXT PRIMARY KEY); CREATE TABLE frog (frog_id INTEGER PRIMARY KEY, name TEXT,"
        "size INTEGER, pond TEXT REFERENCES pond, seen DATE, note TEXT);"
    )
    assert "row 1 of frog refers to a row of pond that is not there" in refused(pond)


def finding(**changes: object) -> Finding:
    made = Finding("pond", 1, 4, 10, {"easy": 10}, like=5, suite=6, mutants=300, differing=200, killed=190)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_sums_and_their_floors() -> None:
    found = summary([finding(), finding(database="lake", killed=200)])
    assert found["overall"]["kill_rate"] == 0.975
    assert found["overall"]["questions"] == 20
    assert found["overall"]["difficulty"] == {"easy": 20, "medium": 0, "hard": 0}
    assert [one["kill_rate"] for one in found["databases"]] == [0.95, 1.0]
    with pytest.raises(InputError, match="the suites tell 94.50% of the mutants"):
        summary([finding(killed=189)])
    with pytest.raises(InputError, match="4 of 10 questions"):
        summary([finding(like=4)])
    assert "kill_rate" not in summary([finding(killed=0)], quick=True)["overall"]


def test_a_query_without_end_is_stopped() -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with closing(sqlite3.connect(":memory:")) as db:
        with pytest.raises(Overrun):
            run(db, endless, None)
        assert run(db, "SELECT 1 UNION SELECT 2", 1) == [(1,)]


@pytest.mark.parametrize(
    ("told", "best"),
    [
        ([{0}, {1}, {0, 2}, {1, 2}], {0, 1}),
        ([{3}, {3}, {3, 1}], {3}),
        ([set(), {2}], {2}),
    ],
)
def test_the_search_takes_the_best_first_and_fills_up(told: Sequence[set[int]], best: set[int]) -> None:
    chosen = greedy([frozenset(places) for places in told], 8)
    assert best <= {*chosen}
    assert len({*chosen}) == len(chosen) == 6


def test_the_search_stops_at_its_bounds() -> None:
    told = [frozenset({1}), frozenset({1, 2}), frozenset({0})]
    assert greedy(told, 3, most=1, fewest=0) == [1]
    assert greedy(told, 3, most=2, fewest=0) == [1, 0]
    assert greedy([frozenset()], 3, most=2, fewest=0) == []


def test_sparse_databases_are_added_for_what_the_others_do_not_tell(pond: DatabaseSource) -> None:
    """Every frog without a note: among many rows with notes that does not happen."""
    sql = "SELECT COUNT(*) FROM frog WHERE size > 3 AND (SELECT COUNT(note) FROM frog) >= 0"
    source = replace(pond, questions=(asked(sql),))
    plain = choose(source, range(1, 7), ())
    more = choose(source, range(1, 7), SPARSE[:30])
    assert plain == tuple(range(1, 7))
    assert {*plain} < {*more}
    assert all(seed in SPARSE for seed in {*more} - {*plain})
    counts = [check_database(replace(source, seeds=seeds)).killed for seeds in (plain, more)]
    assert counts[0] < counts[1]


def test_choosing_again_gives_the_same_and_leaves_unfair_databases_out(pond: DatabaseSource) -> None:
    tied = replace(pond, questions=(asked("SELECT name FROM frog WHERE size IS NOT NULL ORDER BY size, frog_id"),))
    seeds = choose(tied, range(1, 30))
    assert seeds == choose(tied, range(1, 30))
    assert len(seeds) >= 6
    check_database(replace(tied, seeds=seeds))
    unfair = replace(pond, questions=(asked("SELECT name FROM frog WHERE pond = 'Big' ORDER BY size"),))
    for seed in choose(unfair, range(1, 60)):
        assert check_database(replace(unfair, seeds=(seed,) * 6), quick=True).suite == 6
