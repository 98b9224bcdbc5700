"""Recall is exactly the paper's, whatever was committed, asked and configured."""

import tempfile
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making import naive
from making.fuzzing import tries
from making.memories import WordEncoder, make_cue, make_entry, make_precedent
from merit.errors import InputError, MemoryUnusable
from merit.memory import Cue, Databases, Entry, Memory, Recall, RecallPolicy, TypeFilter, entries_in, with_id
from merit.memory.lexical import Postings, weigh
from merit.types import FailureType, Grade, Polarity, Status

WORDS = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "singer", "concert", "Count", "max", "select_", "42", "é"]),
    min_size=1,
    max_size=6,
).map(" ".join)
TYPES = st.sampled_from(list(FailureType))
SHORT = st.sampled_from([0, 3, 1024])  # from how many rows on a posting is scored alone
DATABASES = st.sampled_from(["shop", "zoo", "bank"])

policies = st.builds(
    RecallPolicy,
    positives=st.integers(0, 4),
    negatives=st.integers(0, 3),
    one_pool=st.booleans(),
    type_filter=st.sampled_from(list(TypeFilter)),
    typed_threshold=st.integers(1, 4),
    dense=st.just(True),
    lexical=st.booleans(),
    dense_weight=st.sampled_from([0.75, 0.5, 0.25]),
    databases=st.sampled_from(list(Databases)),
    random_seed=st.sampled_from([None, None, None, 0, 7]),
    precedents=st.integers(0, 4),
    database_bonus=st.sampled_from([0.0, 0.1, 1.0]),
    recency=st.sampled_from([0.0, 0.0, 0.5, 1.0]),
) | st.builds(
    RecallPolicy,
    dense=st.just(False),
    lexical=st.booleans(),
    type_filter=st.sampled_from(list(TypeFilter)),
    recency=st.just(1.0),
    recency_decay=st.sampled_from([0.5, 0.995]),
)


@st.composite
def entries(draw: st.DrawFn) -> list[Entry]:
    """Entries with many near and exact repetitions, so that ties are common."""
    made: list[Entry] = []
    for number in range(draw(st.integers(0, 14))):
        polarity = draw(st.sampled_from(list(Polarity)))
        source = {
            "db_id": draw(DATABASES),
            "position": draw(st.integers(0, 12)),
            "question_id": draw(st.integers(0, 20)),
            "step": number,  # keeps ids apart
        }
        if polarity is Polarity.PRECEDENT:
            made.append(make_precedent(number, question=draw(WORDS), sql=draw(WORDS), **source))
            continue
        made.append(
            make_entry(
                number,
                polarity=polarity,
                question=draw(WORDS),
                before=draw(WORDS),
                after=draw(WORDS),
                type=draw(TYPES) if draw(st.booleans()) else FailureType.RESULT_MISMATCH,
                db_error=draw(st.sampled_from([None, "no such column: alpha"])),
                **source,
            )
        )
    return made


@st.composite
def cues(draw: st.DrawFn) -> Cue:
    return make_cue(
        question=draw(WORDS),
        sql=draw(WORDS),
        type=draw(TYPES),
        db_id=draw(DATABASES),
        position=draw(st.integers(0, 15)),
        question_id=draw(st.integers(0, 20)),
        step=draw(st.integers(1, 7)),
    )


def found(recalled: Recall) -> list[list[naive.Found]]:
    return [
        [naive.Found(match.entry.id, match.score, match.dense, match.lexical) for match in pool.matches]
        for pool in recalled.pools
    ]


def assert_same(engine: list[list[naive.Found]], plain: list[list[naive.Found]]) -> None:
    assert [[f.id for f in pool] for pool in engine] == [[f.id for f in pool] for pool in plain]
    for ours, theirs in zip(engine, plain, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-9)
            assert (one.dense is None) == (other.dense is None)
            assert one.dense == pytest.approx(other.dense, abs=1e-9)
            assert one.lexical == pytest.approx(other.lexical, abs=1e-9)


@settings(max_examples=tries(4))
@given(entries(), st.lists(st.tuples(cues(), policies), min_size=1, max_size=3), SHORT)
def test_the_engine_agrees_with_the_formulas(
    made: list[Entry], asked: list[tuple[Cue, RecallPolicy]], short: int
) -> None:
    encoder = WordEncoder()
    with (
        patch("merit.memory.lexical._SHORT", short),
        tempfile.TemporaryDirectory() as folder,
        Memory(Path(folder), encoder, keep_index=False) as memory,
    ):
        committed = [memory.commit(entry) for entry in made]
        for cue, policy in asked:
            assert_same(found(memory.recall(cue, policy)), naive.recall(committed, cue, policy, encoder))


@settings(max_examples=tries(5))
@given(st.lists(WORDS, min_size=1, max_size=9), WORDS, st.data())
def test_postings_scored_together_are_scored_as_each_alone(texts: list[str], query: str, data: st.DataObject) -> None:
    """To the last bit, or equal rows in buckets of different size would not tie."""
    postings = Postings()
    for text in texts:
        postings.add(text)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))))
    weights = weigh(query, [(postings, None)], len(texts))
    scores = set()
    for short in (0, 3, 1024):
        with patch("merit.memory.lexical._SHORT", short):
            scores.add((postings.score(weights, 7.0, None).tobytes(), postings.score(weights, 7.0, mask).tobytes()))
    assert len(scores) == 1


@settings(max_examples=tries(20))
@given(entries(), cues(), policies, st.integers(0, 14))
def test_reopening_changes_nothing(made: list[Entry], cue: Cue, policy: RecallPolicy, first: int) -> None:
    encoder = WordEncoder()
    with tempfile.TemporaryDirectory() as folder:
        for part in (made[:first], made[first:]):  # the second part grows an index that was loaded
            with Memory(Path(folder), encoder) as memory:
                for entry in part:
                    memory.commit(entry)
        with Memory(Path(folder), encoder) as memory:
            assert_same(
                found(memory.recall(cue, policy)), naive.recall([with_id(e) for e in made], cue, policy, encoder)
            )


@settings(max_examples=tries(10))
@given(entries(), cues(), policies)
def test_nothing_illegal_is_ever_recalled(made: list[Entry], cue: Cue, policy: RecallPolicy) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder), WordEncoder(), keep_index=False) as memory:
        for entry in made:
            memory.commit(entry)
            recalled = memory.recall(cue, policy)
            for match in (match for pool in recalled.pools for match in pool.matches):
                source = match.entry.provenance
                assert source.position < cue.position
                assert source.question_id != cue.question_id
                assert policy.databases is not Databases.SAME or source.db_id == cue.db_id
                assert policy.databases is not Databases.OTHER or source.db_id != cue.db_id


@settings(max_examples=tries(15))
@given(entries(), st.data())
def test_what_comes_later_changes_no_earlier_recall(made: list[Entry], data: st.DataObject) -> None:
    """A stream: at each position one recall, then one commit."""
    stream = [replace(e, provenance=replace(e.provenance, position=t, question_id=f"q{t}")) for t, e in enumerate(made)]
    asked = [replace(data.draw(cues()), position=t, question_id=f"q{t}") for t in range(len(stream))]
    policy = data.draw(policies)

    def run(length: int) -> list[list[list[naive.Found]]]:
        with tempfile.TemporaryDirectory() as folder, Memory(Path(folder), WordEncoder(), keep_index=False) as memory:
            answers = []
            for cue, entry in list(zip(asked, stream, strict=True))[:length]:
                answers.append(found(memory.recall(cue, policy)))
                memory.commit(entry)
            return answers

    cut = data.draw(st.integers(0, len(stream)))
    assert run(len(stream))[:cut] == run(cut)


def test_only_random_draws_depend_on_the_step(tmp_path: Path) -> None:
    """A candidate that comes again in its episode finds what it found before, without another search."""
    encoder = WordEncoder()
    with Memory(tmp_path, encoder) as memory:
        committed = [memory.commit(make_entry(i)) for i in range(30)]
        first, second = (memory.recall(make_cue(step=step), RecallPolicy()) for step in (1, 2))
        assert second is first
        for step in range(1, 5):
            cue, policy = make_cue(step=step), RecallPolicy(random_seed=3)
            assert_same(found(memory.recall(cue, policy)), naive.recall(committed, cue, policy, encoder))
        memory.commit(make_entry(30))
        assert memory.recall(make_cue(step=2), RecallPolicy()).pools[0].stored == first.pools[0].stored + 1


def fill(memory: Memory, *made: Entry) -> None:
    for entry in made:
        memory.commit(entry)


def test_full_merit_by_default(tmp_path: Path) -> None:
    policy = RecallPolicy()
    assert (policy.positives, policy.negatives, policy.typed_threshold, policy.dense_weight) == (3, 1, 3, 0.75)
    with Memory(tmp_path, WordEncoder()) as memory:
        fill(memory, *(make_entry(i) for i in range(5)))
        fill(memory, *(make_entry(i, polarity=Polarity.NEGATIVE) for i in range(5, 8)))
        recalled = memory.recall(make_cue(), policy)
    assert (len(recalled.positives), len(recalled.negatives)) == (3, 1)


def test_the_typed_pool_needs_three_of_its_type_in_its_own_polarity(tmp_path: Path) -> None:
    syntax = {"type": FailureType.SYNTAX}
    with Memory(tmp_path, WordEncoder()) as memory:
        fill(memory, *(make_entry(i) for i in range(4)))
        fill(memory, *(make_entry(i, **syntax) for i in (10, 11)))
        fill(memory, *(make_entry(i, polarity=Polarity.NEGATIVE, **syntax) for i in (20, 21, 22)))
        fill(memory, make_entry(30, polarity=Polarity.NEGATIVE))
        positive, negative = memory.recall(make_cue(type=FailureType.SYNTAX), RecallPolicy()).pools
        assert (positive.legal, positive.same_type, positive.typed, positive.fallback, positive.size) == (
            6,
            2,
            False,
            True,
            6,
        )
        assert (negative.legal, negative.same_type, negative.typed, negative.fallback, negative.size) == (
            4,
            3,
            True,
            False,
            3,
        )
        fill(memory, make_entry(12, **syntax))
        positive, _ = memory.recall(make_cue(type=FailureType.SYNTAX), RecallPolicy()).pools
        assert (positive.typed, positive.size) == (True, 3)


def test_the_reliability_variant(tmp_path: Path) -> None:
    policy = RecallPolicy(type_filter=TypeFilter.RELIABILITY, positives=9)
    with Memory(tmp_path, WordEncoder()) as memory:
        fill(memory, *(make_entry(i) for i in range(3)))
        fill(memory, *(make_entry(i, type=FailureType.SYNTAX) for i in range(3, 6)))
        hard, _ = memory.recall(make_cue(type=FailureType.SYNTAX), policy).pools
        assert hard.typed
        assert {match.bonus for match in hard.matches} == {0.0}
        soft, _ = memory.recall(make_cue(type=FailureType.RESULT_MISMATCH), policy).pools
        assert (soft.typed, soft.fallback, soft.size) == (False, False, 6)
        assert {(match.entry.type, match.bonus) for match in soft.matches} == {
            (FailureType.RESULT_MISMATCH, 0.10),
            (FailureType.SYNTAX, 0.0),
        }
        # A reliable type with too few entries falls back without a bonus.
        few, _ = memory.recall(make_cue(type=FailureType.EXECUTION), policy).pools
        assert few.fallback
        assert {match.bonus for match in few.matches} == {0.0}


def test_every_score_is_explained(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        fill(memory, *(make_entry(i, question=f"word{i} singer") for i in range(6)))
        pool, _ = memory.recall(make_cue(question="singer word2"), RecallPolicy()).pools
    assert [match.rank for match in pool.matches] == [1, 2, 3]
    assert pool.dense_range is not None
    assert pool.lexical_range is not None
    for match in pool.matches:
        assert match.dense is not None
        assert match.lexical is not None
        low, high = pool.dense_range
        assert match.dense_normalised == pytest.approx((match.dense - low) / (high - low))
        low, high = pool.lexical_range
        assert match.lexical_normalised == pytest.approx((match.lexical - low) / (high - low))
        assert match.lexical_normalised is not None
        assert match.dense_normalised is not None
        assert match.score == pytest.approx(0.75 * match.dense_normalised + 0.25 * match.lexical_normalised)


def test_equal_scores_fall_back_on_the_id(tmp_path: Path) -> None:
    same = {"question": "q", "before": "SELECT 1", "after": "SELECT 2"}
    with Memory(tmp_path, WordEncoder()) as memory:
        made = [memory.commit(make_entry(i, **same)) for i in range(8)]
        recalled = memory.recall(make_cue(), RecallPolicy())
    assert [entry.id for entry in recalled.positives] == sorted(entry.id for entry in made)[:3]
    assert recalled.pools[0].matches[0].dense_normalised == 0.0  # all equal: nothing to tell them by


def test_equal_rows_in_different_buckets_tie_to_the_last_bit(tmp_path: Path) -> None:
    """Long SQL makes large BM25 sums, where the order of summation would show."""
    encoder = WordEncoder()
    wide = "SELECT " + ", ".join(f"column_{i % 7}, t{i % 3}.name_{i}" for i in range(40)) + " FROM t"
    policy = RecallPolicy(type_filter=TypeFilter.NONE, positives=9)
    with Memory(tmp_path, encoder) as memory:
        made = []
        for i in range(6):
            kind = list(FailureType)[i]
            made.append(memory.commit(make_entry(i, question="same words", before=wide, after=wide, type=kind)))
            for j in range(i):  # other rows, so that words are common here and rare there
                number = 100 + 10 * i + j
                made.append(
                    memory.commit(make_entry(number, type=kind, before=wide.replace("name", f"n{j}"), after="x"))
                )
        for asked in (wide, "SELECT name_3, column_2 FROM t", "same"):
            cue = make_cue(sql=asked, question="same words")
            assert_same(found(memory.recall(cue, policy)), naive.recall(made, cue, policy, encoder))


def test_identical_vectors_have_identical_scores(tmp_path: Path) -> None:
    """Wherever they stand in a pool: else an all-equal pool would be told apart by noise."""
    same = {"question": "q w e r t", "before": "SELECT 1", "after": "SELECT 2"}
    with Memory(tmp_path, WordEncoder(384)) as memory:
        memory.commit_all(make_entry(i, **same) for i in range(300))
        pool, _ = memory.recall(make_cue(question="q x y"), RecallPolicy(lexical=False)).pools
    assert pool.dense_range is not None
    assert pool.dense_range[0] == pool.dense_range[1]


def test_a_question_is_the_same_whether_its_id_is_a_number_or_a_text(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit(make_entry(7))
        assert memory.recall(make_cue(question_id="7"), RecallPolicy()).positives == []


def test_a_deleted_entry_is_not_recalled_any_more(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        kept, gone = memory.commit(make_entry(0)), memory.commit(make_entry(1))
        memory.delete(gone.id, "it was wrong")
        with pytest.raises(InputError, match="deleted already"):
            memory.delete(gone.id, "again")
        memory.commit(make_entry(1))  # learned again, it stays deleted
        assert memory.recall(make_cue(), RecallPolicy()).positives == [kept]
    with Memory(tmp_path, WordEncoder()) as memory:
        assert memory.recall(make_cue(), RecallPolicy()).positives == [kept]
        assert len(memory) == 1


def test_a_stale_entry_is_not_recalled_until_it_is_fresh_again(tmp_path: Path) -> None:
    def recalled() -> list[str]:
        with Memory(tmp_path, WordEncoder()) as memory:  # opened again: from the snapshot and from the log
            return sorted(entry.id for entry in memory.recall(make_cue(), RecallPolicy()).positives)

    with Memory(tmp_path, WordEncoder()) as memory:
        kept, moved, gone = (memory.commit(make_entry(number)) for number in range(3))
        memory.delete(gone.id, "it was wrong")
        marked = memory.mark_stale({moved.id: "singer.age was dropped", gone.id: "singer.age was dropped"})
        assert marked == (moved.id,)  # what is deleted stays deleted
        assert memory.mark_stale({moved.id: "again"}) == ()
        assert memory.recall(make_cue(), RecallPolicy()).positives == [kept]
        assert len(memory) == 2
        with pytest.raises(InputError, match="there is no entry pos-0000000000000000"):
            memory.mark_stale({"pos-0000000000000000": "?"})
    assert recalled() == [kept.id]
    assert [(listed.deleted, listed.stale) for listed in entries_in(tmp_path)] == [
        (None, None),
        (None, "singer.age was dropped"),
        ("it was wrong", None),
    ]
    with Memory(tmp_path, WordEncoder()) as memory:
        assert memory.mark_stale({moved.id: "singer.age is back", gone.id: "singer.age is back"}, stale=False) == (
            moved.id,
        )
    assert recalled() == sorted([kept.id, moved.id])


def test_without_an_encoder_only_words_count(tmp_path: Path) -> None:
    with Memory(tmp_path, None) as memory:
        fill(memory, make_entry(0, question="singer"), make_entry(1, question="concert"))
        best = memory.recall(make_cue(question="concert"), RecallPolicy(dense=False)).positives[0]
        assert best.question == "concert"
        with pytest.raises(MemoryUnusable, match="without an encoder"):
            memory.recall(make_cue(), RecallPolicy())


@pytest.mark.parametrize("grade", [grade for grade in Grade if grade is not Grade.CONFIRMED])
def test_a_successful_change_is_recalled_only_once_it_is_confirmed(tmp_path: Path, grade: Grade) -> None:
    with Memory(tmp_path, None) as memory:
        fill(memory, make_entry(0, grade=grade), make_entry(1, polarity=Polarity.NEGATIVE, grade=grade))
        recall = memory.recall(make_cue(), RecallPolicy(dense=False))
        assert (len(recall.positives), len(recall.negatives)) == (0, 1)
        fill(memory, make_entry(2))
        assert len(memory.recall(make_cue(), RecallPolicy(dense=False)).positives) == 1


def test_texts_of_the_two_channels() -> None:
    positive = make_entry(1, db_error="no such column: x", status=Status.EXECUTION_ERROR)
    assert (
        positive.failure_context == "attempted_sql=SELECT a1 FROM t; status=EXECUTION_ERROR; db_error=no such column: x"
    )
    assert positive.delta == "SELECT a1 FROM t => SELECT b1 FROM t"
    assert positive.lexical_text() == (
        f"question 1 {positive.failure_context} {positive.delta} Result Mismatch CORRECT (none) "
        f"Observed successful transition: {positive.delta}"
    )
    assert positive.dense_text().split("\n") == [
        "Question: question 1",
        "Schema: Database: shop",
        f"Failure context: {positive.failure_context}",
        "Transformation: select a1 from t => select b1 from t",
        "Error type: Result Mismatch",
        "Outcome: CORRECT",
        "DB error: (none)",
    ]
    negative = make_entry(
        1,
        polarity=Polarity.NEGATIVE,
        db_error="no such column: x",
        type=FailureType.SCHEMA_LINKING,
        outcome=Status.EXECUTION_ERROR,
        outcome_error="no such table: y",
    )
    assert (
        negative.failure_context == "attempted_sql=SELECT b1 FROM t; status=EXECUTION_ERROR; db_error=no such table: y"
    )
    assert negative.lexical_text() == (
        f"question 1 {negative.failure_context} {negative.delta} Schema Linking EXECUTION_ERROR no such table: y"
    )
    assert negative.dense_text().split("\n")[4:] == [
        "Error type: Schema Linking",
        "Outcome: EXECUTION_ERROR",
        "DB error: no such table: y",
    ]
    assert make_cue(question="q", sql="s", failure_context="f").text() == "q s f Result Mismatch"


def test_the_latest_entry_can_be_recalled_without_a_word_in_common(tmp_path: Path) -> None:
    latest = RecallPolicy(
        positives=2, negatives=0, type_filter=TypeFilter.NONE, dense=False, lexical=False, recency=1.0
    )
    with Memory(tmp_path, None) as memory:  # without an encoder
        fill(memory, *(make_entry(i, question="singer" if i < 5 else "other") for i in (3, 7, 1, 5)))
        recalled = memory.recall(make_cue(question="singer", position=9), latest)
    assert [entry.provenance.position for entry in recalled.positives] == [7, 5]
    assert [match.bonus for match in recalled.matches] == pytest.approx([0.995**2, 0.995**4])
