"""Pairs of other tools become entries: executed first, at the grade they earned, all at once or none."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from making.live import ShopOpener, ToldModel
from merit.errors import DatabaseUnusable, MemoryUnusable
from merit.formats import FoundPairs, Pair, SkippedPair, read_pairs, write_pairs
from merit.formats.place import FORMATS
from merit.live import LiveAgent, export_pairs
from merit.memory import Deletion, FileStore, Grade, Precedent, entries_in
from merit.types import Change, Limits, Result, Status

COUNT = "SELECT count(*) FROM orders"
PAID = "SELECT count(*) FROM orders WHERE state = 'paid'"


def found(*pairs: Pair) -> FoundPairs:
    return FoundPairs(pairs)


def pair(question: str, sql: str, line: int = 2, **more: str) -> Pair:
    return Pair(question, sql, f"pairs.csv, line {line}", **more)


def precedents(folder: Path) -> list[Precedent]:
    return [item.entry for item in entries_in(folder / "memory") if isinstance(item.entry, Precedent)]


@pytest.fixture
def agent(ask_shop: ShopOpener) -> LiveAgent:
    return ask_shop(ToldModel(COUNT))


def test_what_merely_runs_is_kept_and_not_shown(agent: LiveAgent, tmp_path: Path) -> None:
    done = agent.import_pairs(found(pair("How many orders?", COUNT)), author="ada", source="pairs.csv")
    (entry,) = precedents(tmp_path / "own")
    assert done.entries == (entry,)
    assert (entry.grade, entry.observed, entry.outcome) == (Grade.EXECUTED, Status.EXECUTED, Status.EXECUTED)
    assert agent.ask("How many orders are there?").recalled == ()


def test_what_people_confirmed_is_shown_to_later_questions_with_who_said_so(agent: LiveAgent, tmp_path: Path) -> None:
    pairs = found(pair("How many orders?", COUNT), pair("How many paid orders?", PAID, author="Grace"))
    done = agent.import_pairs(pairs, grade=Grade.CONFIRMED, author="ada", source="pairs.csv")
    first, second = precedents(tmp_path / "own")
    assert (first.grade, first.outcome, first.provenance.author) == (Grade.CONFIRMED, Status.CORRECT, "ada")
    assert (second.provenance.author, second.provenance.episode) == ("Grace", "import:ada:pairs.csv")
    source = first.provenance
    assert (source.run, source.db_id, source.dialect, bool(source.schema_fingerprint)) == (
        "import",
        "shop",
        "sqlite",
        True,
    )
    assert set(agent.ask("How many orders are there?").recalled) == {entry.id for entry in done.entries}


def test_only_execution_or_a_persons_word_can_be_claimed(agent: LiveAgent) -> None:
    for grade in (Grade.TESTED, Grade.AGREED):
        with pytest.raises(ValueError, match="an import cannot make an entry"):
            agent.import_pairs(found(pair("How many?", COUNT)), grade=grade)


def test_what_does_not_run_is_left_out_with_the_reason_and_the_line(agent: LiveAgent, tmp_path: Path) -> None:
    pairs = FoundPairs(
        (
            pair("How many?", COUNT),
            pair("Broken?", "SELECT nope FROM orders", 3),
            pair("Remove?", "DELETE FROM orders", 4),
            pair("Two?", f"{COUNT}; {COUNT}", 5),
            pair("Elsewhere?", COUNT, 6, database="concert"),
        ),
        (SkippedPair("pairs.csv, line 7", "has no SQL"),),
    )
    done = agent.import_pairs(pairs)
    assert len(done.entries) == len(precedents(tmp_path / "own")) == 1
    reasons = {one.where.rpartition(" ")[2]: one.reason for one in done.skipped}
    assert sorted(reasons) == ["3", "4", "5", "6", "7"]
    assert reasons["3"] == "does not run: no such column: nope"
    assert reasons["6"] == "is about the database 'concert', and this one is 'shop'"
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as db:
        assert db.execute(COUNT).fetchone() == (3,)


def test_a_pair_that_is_there_is_counted_and_not_kept_twice(agent: LiveAgent, tmp_path: Path) -> None:
    same = [pair("How many orders?", COUNT), pair("how many  ORDERS", "select COUNT(*)\nfrom orders;", 3)]
    done = agent.import_pairs(found(*same))
    assert (len(done.entries), done.known) == (1, 1)
    again = agent.import_pairs(found(*same), author="bob", source="other.csv")
    assert (again.entries, again.known) == ((), 2)
    better = agent.import_pairs(found(*same), grade=Grade.CONFIRMED)
    assert (len(better.entries), better.known) == (1, 1)
    states = [(item.entry.grade, item.deleted) for item in entries_in(tmp_path / "own" / "memory")]
    assert states == [(Grade.EXECUTED, f"confirmed as {better.entries[0].id}"), (Grade.CONFIRMED, None)]
    assert agent.import_pairs(found(*same)).known == 2, "an executed pair says nothing new beside a confirmed one"
    answer = agent.ask("How many are there?")
    agent.confirm(answer.id)
    assert agent.import_pairs(found(pair("How many are there?", COUNT)), grade=Grade.CONFIRMED).known == 1


def test_what_was_deleted_stays_deleted(agent: LiveAgent, tmp_path: Path) -> None:
    (entry,) = agent.import_pairs(found(pair("How many?", COUNT)), grade=Grade.CONFIRMED).entries
    with closing(FileStore(tmp_path / "own" / "memory")) as store:
        store.append([Deletion(entry.id, "wrong")])
    for grade in (Grade.CONFIRMED, Grade.EXECUTED):
        done = agent.import_pairs(found(pair("How many?", COUNT)), grade=grade)
        assert (done.entries, done.known, done.deleted) == ((), 0, 1)


def test_what_a_person_rejected_here_does_not_come_in(agent: LiveAgent, tmp_path: Path) -> None:
    agent.reject(agent.ask("How many orders?").id, reason="it counts cancelled ones", author="ada")
    pairs = found(pair("how many orders", COUNT), pair("How many orders?", PAID, 3))
    done = agent.import_pairs(pairs, grade=Grade.CONFIRMED, author="bob")
    (skipped,) = done.skipped
    assert skipped.where == "pairs.csv, line 2"
    assert skipped.reason.startswith("a person said here that it is wrong: this SQL was rejected on ")
    assert skipped.reason.endswith(": it counts cancelled ones")
    assert [entry.question for entry in done.entries] == ["How many orders?"]


def test_each_statement_is_executed_once(agent: LiveAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, run = agent._parts.engine, []
    execute = engine.execute

    def counted(sql: str, limits: Limits) -> Result:
        run.append(sql)
        return execute(sql, limits)

    monkeypatch.setattr(engine, "execute", counted)
    agent.import_pairs(found(*(pair(f"Question {n}?", f"SELECT count(*) -- {n}\nFROM orders", n) for n in range(50))))
    assert len(run) == 1


def test_all_of_a_file_is_one_append(agent: LiveAgent, tmp_path: Path) -> None:
    """So that a crash leaves all of it or none: a log's append is whole when its last line is."""
    agent.import_pairs(found(*(pair(f"Question {n}?", f"SELECT {n}", n) for n in range(20))))
    log = tmp_path / "own" / "memory" / "memory.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    assert len(lines) == 20
    for cut in (1, 10, 19):
        torn = tmp_path / f"torn{cut}" / "memory"
        torn.mkdir(parents=True)
        (torn / "memory.jsonl").write_bytes(b"".join(lines[:cut]))
        assert entries_in(torn) == []


def test_a_fault_on_the_way_leaves_the_memory_as_it_was(
    agent: LiveAgent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = found(*(pair(f"Question {n}?", f"SELECT {n}", n) for n in range(20)))

    def full(_: object, changes: Sequence[Change], **__: object) -> int:
        raise MemoryUnusable("the disk is full")

    with monkeypatch.context() as patch, pytest.raises(MemoryUnusable):
        patch.setattr(FileStore, "append", full)
        agent.import_pairs(pairs)
    engine = agent._parts.engine
    execute = engine.execute

    def lost(sql: str, limits: Limits) -> Result:
        if sql == "SELECT 13":
            raise DatabaseUnusable("the connection was lost")
        return execute(sql, limits)

    with monkeypatch.context() as patch, pytest.raises(DatabaseUnusable):
        patch.setattr(engine, "execute", lost)
        agent.import_pairs(pairs)
    assert precedents(tmp_path / "own") == []
    assert len(agent.import_pairs(pairs).entries) == 20


def test_without_keep_nothing_is_remembered_and_everything_is_said(agent: LiveAgent, tmp_path: Path) -> None:
    pairs = found(pair("How many?", COUNT), pair("How many?", PAID, 3), pair("Broken?", "SELECT nope", 4))
    trial = agent.import_pairs(pairs, keep=False)
    assert precedents(tmp_path / "own") == []
    done = agent.import_pairs(pairs)
    assert [entry.id for entry in trial.entries] == [entry.id for entry in done.entries]
    assert (trial.skipped, len(trial.contradictions)) == (done.skipped, 1)


# Contradictions


def test_an_import_that_contradicts_what_is_known_says_so_and_drops_nothing(agent: LiveAgent, tmp_path: Path) -> None:
    answer = agent.ask("How many orders?")
    agent.confirm(answer.id, author="ada")
    done = agent.import_pairs(
        found(pair("how many orders", PAID), pair("How many orders?", "SELECT 3", 3)),
        grade=Grade.CONFIRMED,
        author="bob",
    )
    (contradiction,) = done.contradictions
    assert contradiction.certain
    assert [entry.sql for entry in contradiction.entries] == ["SELECT 3", PAID, COUNT], "newest first"
    assert [entry.provenance.author for entry in contradiction.entries] == ["bob", "bob", "ada"]
    three, two, also_three = (result.digest for result in contradiction.results)
    assert three == also_three != two
    assert len(precedents(tmp_path / "own")) == 3
    assert agent.contradictions() == [contradiction]


def test_answers_that_give_the_same_rows_do_not_contradict(agent: LiveAgent) -> None:
    done = agent.import_pairs(
        found(
            pair("All states?", "SELECT state, id FROM orders"),
            pair("All states?", "SELECT id, state FROM orders ORDER BY id DESC", 3),
            pair("How much?", "SELECT avg(total) FROM orders", 4),
            pair("How much?", "SELECT sum(total) / count(*) FROM orders", 5),
            pair("How many?", COUNT, 6),
            pair("How many paid?", PAID, 7),
        )
    )
    assert (len(done.entries), done.contradictions) == (6, ())


def test_what_cannot_be_compared_is_shown_as_uncertain(agent: LiveAgent) -> None:
    many = "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 20000"
    done = agent.import_pairs(
        found(
            pair("Numbers?", many.format(1)),
            pair("Numbers?", many.format(2), 3),
            pair("Chance?", "SELECT random()", 4),
            pair("Chance?", "SELECT random() + 1", 5),
        )
    )
    assert [(one.question, one.certain) for one in done.contradictions] == [("Chance?", False), ("Numbers?", False)]


def test_deleted_and_stale_answers_and_other_databases_do_not_count(agent: LiveAgent, tmp_path: Path) -> None:
    first, second = agent.import_pairs(found(pair("How many?", COUNT), pair("How many?", PAID, 3))).entries
    assert len(agent.contradictions()) == 1
    assert agent.contradictions(about=[]) == []
    assert len(agent.contradictions(about=[second.id])) == 1
    agent._parts.memory.mark_stale({first.id: "a column is gone"})
    assert agent.contradictions() == []
    agent._parts.memory.mark_stale({first.id: "it is back"}, stale=False)
    assert len(agent.contradictions()) == 1
    agent._parts.memory.delete(second.id, "wrong")
    assert agent.contradictions() == []


def test_newest_contradictions_come_first(agent: LiveAgent) -> None:
    questions = ["First?", "Second?", "Third?"]
    agent.import_pairs(found(*(pair(question, COUNT) for question in questions)))
    for question in ("Second?", "Third?", "First?"):
        agent.import_pairs(found(pair(question, PAID)))
    assert [one.question for one in agent.contradictions()] == ["First?", "Third?", "Second?"]


def test_no_row_of_the_database_is_kept(agent: LiveAgent, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as db:
        db.execute("INSERT INTO orders VALUES (9, 'very secret state', 1)")
        db.commit()
    agent.import_pairs(found(pair("All?", "SELECT * FROM orders"), pair("All?", "SELECT state FROM orders", 3)))
    kept = [path.read_bytes() for path in (tmp_path / "own").rglob("*") if path.is_file()]
    assert kept
    assert not any(b"very secret state" in content for content in kept)


# Out


def test_only_what_may_be_recalled_and_is_sure_enough_leaves(agent: LiveAgent, tmp_path: Path) -> None:
    agent.import_pairs(
        found(pair("Confirmed?", COUNT), pair("Deleted?", COUNT, 3), pair("Stale?", COUNT, 4)), grade=Grade.CONFIRMED
    )
    agent.import_pairs(found(pair("Executed?", COUNT)))
    answer = agent.ask("Corrected?")
    agent.correct(answer.id, PAID, author="ada")
    by_question = {entry.question: entry.id for entry in precedents(tmp_path / "own")}
    agent._parts.memory.delete(by_question["Deleted?"], "wrong")
    agent._parts.memory.mark_stale({by_question["Stale?"]: "gone"})
    listed = entries_in(tmp_path / "own" / "memory")
    sure = export_pairs(listed)
    assert [one.question for one in sure.pairs] == ["Confirmed?", "Corrected?"]
    assert (sure.database, sure.withheld, sure.less_sure, sure.changes) == ("shop", 2, 1, 1)
    everything = export_pairs(listed, least=Grade.EXECUTED)
    assert [one.question for one in everything.pairs] == ["Confirmed?", "Executed?", "Corrected?"]
    assert export_pairs(listed, "another").pairs == ()


def test_what_leaves_in_any_format_comes_back_into_an_empty_memory(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(COUNT))
    kept = agent.import_pairs(
        found(
            pair("How many?", "SELECT count(*)\n\tFROM orders -- {{ all }}\nWHERE 'a' <> '=b'", author="Grace"),
            pair("How many: paid?", PAID, 3),
        ),
        grade=Grade.CONFIRMED,
        author="ada",
    )
    pairs = export_pairs(entries_in(tmp_path / "own" / "memory")).pairs
    agent.close()
    (tmp_path / "own").rename(tmp_path / "before")
    empty = ask_shop(ToldModel(COUNT))
    for name in FORMATS:
        write_pairs(pairs, tmp_path / name, name)
        kind, read = read_pairs(tmp_path / name)
        back = empty.import_pairs(read, grade=Grade.CONFIRMED, author="ada", keep=False)
        assert kind == name
        ids = {entry.id for entry in back.entries}  # they follow from what entries say
        assert ids == {entry.id for entry in kept.entries}, name
