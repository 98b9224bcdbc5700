"""Precedents, confirmed answers: found by their question, of whatever failure type, beside the paper's two polarities."""

import logging
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from making.memories import WordEncoder, make_cue, make_entry, make_precedent
from merit.memory import Databases, Entry, FileStore, Memory, Precedent, RecallPolicy, TypeFilter, curate, entries_in
from merit.types import FailureType, Polarity

PRECEDENT = Polarity.PRECEDENT
FOUR = RecallPolicy(positives=0, negatives=0, precedents=4, database_bonus=1.0, type_filter=TypeFilter.NONE)
FILE = "memory.jsonl"


def questions(entries: list[Entry]) -> list[str]:
    return [entry.question for entry in entries]


# By what they are found.


def test_texts_of_the_two_channels() -> None:
    entry = make_precedent(1, question="how many singers", sql="SELECT count(*) FROM singer")
    assert entry.dense_text() == "how many singers"
    assert entry.lexical_text() == "how many singers SELECT count(*) FROM singer"
    assert entry.delta == "SELECT count(*) FROM singer"


def test_a_cue_asks_for_precedents_in_other_words() -> None:
    cue = make_cue(question="q", sql="s", failure_context="f")
    assert (cue.dense_text(PRECEDENT), cue.lexical_text(PRECEDENT)) == ("q", "q s")
    for other in (Polarity.POSITIVE, Polarity.NEGATIVE, None):  # the paper's query, as ever
        assert cue.dense_text(other) == cue.lexical_text(other) == cue.text() == "q s f Result Mismatch"


def test_the_encoder_reads_a_query_once_for_each_wording(tmp_path: Path) -> None:
    encoder = WordEncoder()
    with Memory(tmp_path, encoder) as memory:
        memory.commit_all([make_entry(1), make_entry(2, polarity=Polarity.NEGATIVE), make_precedent(3)])
        cue = make_cue()
        for policy, texts in (
            (RecallPolicy(), [cue.text()]),
            (FOUR, [cue.question]),
            (RecallPolicy(precedents=1), [cue.question, cue.text()]),
            (replace(FOUR, dense=False), []),
        ):
            encoder.encoded.clear()
            memory.recall(cue, policy)
            assert sorted(encoder.encoded) == sorted(texts)


def test_how_the_question_failed_plays_no_part(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all(make_precedent(i, question=f"word{i} singer") for i in range(9))
        found = []
        for kind in FailureType:
            for policy in (FOUR, replace(FOUR, type_filter=TypeFilter.HARD, typed_threshold=1)):
                cue = make_cue(question="singer word2", type=kind, failure_context=f"another context of {kind}")
                (pool,) = memory.recall(cue, policy).pools
                assert (pool.polarity, pool.legal, pool.size) == (PRECEDENT, 9, 9)
                assert not pool.typed
                assert not pool.fallback
                found.append([match.entry.id for match in pool.matches])
    assert all(one == found[0] for one in found)


def test_the_reliability_variant_gives_precedents_no_bonus(tmp_path: Path) -> None:
    policy = replace(FOUR, type_filter=TypeFilter.RELIABILITY, database_bonus=0.0)
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all(make_precedent(i) for i in range(3))
        (pool,) = memory.recall(make_cue(type=FailureType.UNKNOWN), policy).pools
    assert [match.bonus for match in pool.matches] == [0.0] * 3


# Databases.


def test_those_of_the_same_database_come_first(tmp_path: Path) -> None:
    """However near others are."""
    near = [make_precedent(i, question="how many things", db_id="zoo") for i in range(3)]
    far = [make_precedent(i, question=f"who sang song {i}", db_id="shop") for i in range(3, 8)]
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all([*near, *far])
        cue = make_cue(question="how many things", db_id="shop")
        for bonus, first in ((2.0, "shop"), (0.0, "zoo")):
            (pool,) = memory.recall(cue, replace(FOUR, database_bonus=bonus)).pools
            assert pool.matches[0].entry.provenance.db_id == first
            assert {m.bonus for m in pool.matches if m.entry.provenance.db_id == "shop"} <= {bonus}
            assert {m.bonus for m in pool.matches if m.entry.provenance.db_id == "zoo"} <= {0.0}
        (pool,) = memory.recall(cue, replace(FOUR, database_bonus=2.0)).pools
    assert {match.entry.provenance.db_id for match in pool.matches} == {"shop"}


def test_a_bonus_of_one_is_matched_only_by_the_nearest_of_all(tmp_path: Path) -> None:
    """A score is 1 at most, and only for one that is first in both channels."""
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit(make_precedent(0, question="how many things", sql="SELECT a FROM t", db_id="zoo"))
        memory.commit_all(make_precedent(i, question=f"who sang song {i}", db_id="shop") for i in range(1, 8))
        memory.commit_all(make_precedent(i, question=f"how many songs {i}", db_id="bank") for i in range(8, 14))
        (pool,) = memory.recall(make_cue(db_id="shop"), replace(FOUR, precedents=9)).pools
    databases = [match.entry.provenance.db_id for match in pool.matches]
    assert databases.index("zoo") <= 7
    assert databases.index("bank") == 8
    assert pool.matches[databases.index("zoo")].score == pytest.approx(1.0)
    assert all(match.score >= 1.0 for match in pool.matches[:8])


@pytest.mark.parametrize("known", ["shop", "a database that nobody has seen"])
def test_where_the_database_is_new_others_serve(tmp_path: Path, known: str) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all(make_precedent(i, question=f"how many {i}", db_id="zoo") for i in range(6))
        if known == "shop":
            memory.commit(make_entry(9, db_id="shop"))  # something else was learned there
        (pool,) = memory.recall(make_cue(db_id=known), FOUR).pools
    assert len(pool.matches) == 4
    assert {match.bonus for match in pool.matches} == {0.0}


@pytest.mark.parametrize(("databases", "found"), [(Databases.SAME, {"shop"}), (Databases.OTHER, {"zoo"})])
def test_the_databases_of_the_policy_count_for_precedents_too(
    tmp_path: Path, databases: Databases, found: set[str]
) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all(make_precedent(i, db_id=["shop", "zoo"][i % 2]) for i in range(8))
        (pool,) = memory.recall(make_cue(db_id="shop"), replace(FOUR, databases=databases)).pools
    assert {match.entry.provenance.db_id for match in pool.matches} == found
    assert pool.legal == 4


def test_only_earlier_ones_and_never_the_questions_own(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all(make_precedent(i, question=f"q{i}") for i in range(10))
        (pool,) = memory.recall(make_cue(position=3, question_id=1), FOUR).pools
    assert sorted(match.entry.question for match in pool.matches) == ["q0", "q2"]
    assert (pool.stored, pool.legal) == (10, 2)


# Pools of their own.


def test_no_other_pool_ever_holds_a_precedent(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all(make_precedent(i, question="how many things") for i in range(5))
        fallback = memory.recall(make_cue(type=FailureType.UNKNOWN), RecallPolicy())
        assert [pool.stored for pool in fallback.pools] == [0, 0]
        assert not fallback.positives
        assert not fallback.negatives
        memory.commit_all([make_entry(7), make_entry(8, polarity=Polarity.NEGATIVE)])
        (one,) = memory.recall(make_cue(), RecallPolicy(one_pool=True, type_filter=TypeFilter.NONE)).pools
        assert (one.polarity, one.stored, one.size, len(one.matches)) == (None, 2, 2, 2)
        assert PRECEDENT not in {match.entry.polarity for match in one.matches}


def test_beside_one_pool_precedents_have_their_own(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all([make_entry(1), make_entry(2, polarity=Polarity.NEGATIVE), *map(make_precedent, range(3, 6))])
        recalled = memory.recall(make_cue(), RecallPolicy(one_pool=True, precedents=2))
    assert [(pool.polarity, pool.stored) for pool in recalled.pools] == [(None, 2), (PRECEDENT, 3)]
    assert (len(recalled.positives), len(recalled.negatives), len(recalled.precedents)) == (1, 1, 2)


def test_the_pools_of_a_policy() -> None:
    assert RecallPolicy().pools == {Polarity.POSITIVE: 3, Polarity.NEGATIVE: 1}
    assert RecallPolicy(one_pool=True).pools == {None: 4}
    assert FOUR.pools == {PRECEDENT: 4}
    assert RecallPolicy(positives=0, negatives=0).pools == {}


# On disk.


def test_what_a_precedent_says_decides_its_id(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        kept = memory.commit(make_precedent(1))
        assert memory.commit(make_precedent(1, position=9, run="another")) == kept
        memory.commit(make_entry(2))
    assert [one.entry.id for one in entries_in(tmp_path) if isinstance(one.entry, Precedent)] == [kept.id]


def test_an_unfinished_precedent_is_cut_off(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        first = memory.commit(make_precedent(1))
        memory.commit(make_precedent(2))
    (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:-9])
    with caplog.at_level(logging.WARNING), Memory(tmp_path, WordEncoder()) as memory:
        assert memory.recall(make_cue(), FOUR).precedents == [first]
    assert f"{FILE}: cut off" in caplog.text


def test_the_saved_index_covers_precedents(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all(
            [*(make_precedent(i, question=f"word{i}") for i in range(20)), *map(make_entry, range(20, 25))]
        )
        expected = memory.recall(make_cue(question="word3 word7"), FOUR)
    again = WordEncoder()
    with Memory(tmp_path, again) as memory:
        assert again.encoded == []
        assert memory.recall(make_cue(question="word3 word7"), FOUR) == expected
        memory.delete(expected.precedents[0].id, "wrong")
        assert expected.precedents[0] not in memory.recall(make_cue(question="word3 word7"), FOUR).precedents


def test_people_look_after_them_like_all_others(tmp_path: Path) -> None:
    folder, file, other = tmp_path / "memory", tmp_path / "all.jsonl", tmp_path / "other"
    with Memory(folder, WordEncoder()) as memory:
        first, second = memory.commit_all([make_precedent(1), make_precedent(2, db_id="zoo")])
        memory.commit(make_entry(3))
    with closing(FileStore(folder)) as store, closing(FileStore(other)) as copy:
        assert curate.find(store, first.id[:10]).entry == first
        curate.delete(store, first.id, "wrong")
        assert [one.deleted for one in entries_in(folder) if isinstance(one.entry, Precedent)] == ["wrong", None]
        assert curate.stats(store)["by_polarity"] == {"positive": 1, "precedent": 1}
        assert curate.export(store, file) == 2
        assert curate.import_entries(copy, file) == (2, 0, 0)
    with Memory(other, WordEncoder()) as memory:
        assert memory.recall(make_cue(), FOUR).precedents == [second]
