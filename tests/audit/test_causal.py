"""What may have been recalled: the causal rule, pools, counts and ranks, each rule by itself.

The memory has six entries. The question is number 100 on the database `shop`, at position 10:

    old0..old3   positions 0 to 3, positive, RESULT_MISMATCH; old3 was learned on `school`
    typed        position 4, positive, SYNTAX
    failed       position 5, negative, RESULT_MISMATCH
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from making.memories import make_entry, make_precedent
from merit.agent import FirstAnswer, Task
from merit.audit.causal import RecallOccasion, check_recall
from merit.errors import AuditFailed
from merit.memory import Databases, Entry, RecallPolicy, TypeFilter
from merit.types import FailureSubtype, FailureType, Polarity, Question

TASK = Task(
    Question(100, "shop", "How many?"), "Database: shop", 10, FirstAnswer("SELECT 1", "SELECT 1"), reads_from=10
)
OLD = [make_entry(i, id=f"old{i}", db_id="school" if i == 3 else "shop") for i in range(4)]
TYPED = make_entry(4, id="typed", type=FailureType.SYNTAX, subtype=FailureSubtype.PARSE_FAILURE)
FAILED = make_entry(5, id="failed", polarity=Polarity.NEGATIVE)
EVERYTHING: list[Entry] = [*OLD, TYPED, FAILED]
NOTHING_TYPED = RecallPolicy(type_filter=TypeFilter.NONE)
Pool = dict[str, Any]


def occasion(
    policy: RecallPolicy | None = None, entries: Sequence[Entry] = EVERYTHING, **changes: Any
) -> RecallOccasion:
    committed = {entry.id: entry for entry in entries}
    fields: Pool = {"type": FailureType.RESULT_MISMATCH, "task": TASK, "where": "line 7"} | changes
    return RecallOccasion(policy=policy or RecallPolicy(), committed=committed, **fields)


def pool(names: list[str], polarity: str | None = "positive", **counts: Any) -> Pool:
    """The record of a pool; what is not said is that of merit's positive pool over the six entries."""
    usual = {"stored": 5, "legal": 5, "same_type": 4, "typed": True, "fallback": False, "size": 4}
    return {
        "polarity": polarity,
        **usual,
        **counts,
        "dense_range": [0.0, 1.0],
        "lexical_range": None,
        "matches": [match(name, rank) for rank, name in enumerate(names, 1)],
    }


def match(name: str, rank: int) -> Pool:
    channels = dict.fromkeys(("dense", "lexical", "dense_normalised", "lexical_normalised"))
    return {"entry": name, "rank": rank, "score": 0.5, **channels, "bonus": 0.0}


def negative(names: list[str] | None = None, **counts: Any) -> Pool:
    """The record of merit's negative pool: one entry, too few of the type to narrow it."""
    usual = {"stored": 1, "legal": 1, "same_type": 1, "typed": False, "fallback": True, "size": 1}
    return pool(["failed"] if names is None else names, "negative", **{**usual, **counts})


def recalled(pools: Any, when: RecallOccasion) -> tuple[list[Entry], list[Entry]]:
    shown = check_recall(pools, when)
    assert not shown.precedents
    return list(shown.positives), list(shown.negatives)


def refused(pools: Any, when: RecallOccasion, said: str) -> None:
    with pytest.raises(AuditFailed) as caught:
        check_recall(pools, when)
    assert said in str(caught.value)
    assert str(caught.value).startswith("line 7: ")
    assert "\n" not in str(caught.value)


def test_a_legal_recall_gives_what_was_recalled_by_polarity_and_rank() -> None:
    found = recalled([pool(["old2", "old0", "old3"]), negative()], occasion())
    assert found == ([OLD[2], OLD[0], OLD[3]], [FAILED])


def test_an_empty_memory_gives_nothing() -> None:
    nothing: Pool = {"stored": 0, "legal": 0, "same_type": 0, "typed": False, "fallback": True, "size": 0}
    assert recalled([pool([], **nothing), negative([], **nothing)], occasion(entries=[])) == ([], [])


# What is legal. In each of these, the counts are those that a memory without the causal rule would have said.


def test_only_what_finished_episodes_left() -> None:
    refused([pool(["old0", "old1", "never"]), negative()], occasion(), "entry never was recalled before any finished")


@pytest.mark.parametrize("name", [None, 7, ["old0"], {"id": "old0"}])
def test_an_entry_is_named_by_its_id(name: Any) -> None:
    refused([pool(["old0", "old1", name]), negative()], occasion(), "was recalled before any finished")


@pytest.mark.parametrize("own", [100, "100"])
def test_never_the_questions_own(own: int | str) -> None:
    entries = [*OLD, TYPED, FAILED, make_entry(6, id="own", question_id=own)]
    record = pool(["old0", "old1", "own"], stored=6, legal=6, same_type=5, size=5)
    refused([record, negative()], occasion(entries=entries), "entry own was recalled, but it comes from the question's")


@pytest.mark.parametrize("position", [10, 11])
def test_only_earlier_positions(position: int) -> None:
    entries = [*OLD, TYPED, FAILED, make_entry(position, id="later")]
    record = pool(["old0", "old1", "later"], stored=6, legal=6, same_type=5, size=5)
    said = f"entry later was recalled, but it comes from position {position}, and only earlier ones than 10 may be read"
    refused([record, negative()], occasion(entries=entries), said)


def test_what_may_be_read_is_the_tasks_reach_and_not_its_position() -> None:
    """A control reads the whole stream; what it may not read is said by `reads_from` alone."""
    entries = [*OLD, TYPED, FAILED, make_entry(11, id="later")]
    record = pool(["old0", "old1", "later"], stored=6, legal=6, same_type=5, size=5)
    control = occasion(entries=entries, task=replace(TASK, reads_from=12))
    assert recalled([record, negative()], control)[0] == [OLD[0], OLD[1], entries[-1]]


@pytest.mark.parametrize(
    ("databases", "named", "said"),
    [
        (Databases.OTHER, "old0", "entry old0 was recalled, but it was learned on the same database"),
        (Databases.SAME, "old3", "entry old3 was recalled, but it was learned on another database"),
    ],
)
def test_only_the_databases_of_the_policy(databases: Databases, named: str, said: str) -> None:
    policy = RecallPolicy(positives=1, negatives=0, databases=databases)
    refused([pool([named])], occasion(policy), said)
    assert recalled([pool([named])], occasion(replace(policy, databases=Databases.ANY)))[0][0].id == named


def test_illegal_entries_are_stored_but_not_counted_as_legal() -> None:
    entries = [*OLD, TYPED, FAILED, make_entry(11, id="later"), make_entry(6, id="own", question_id=100)]
    assert recalled([pool(["old0", "old1", "old2"], stored=7), negative()], occasion(entries=entries))
    refused([pool(["old0", "old1", "old2"], stored=7, legal=6), negative()], occasion(entries=entries), "the pool is")


def test_databases_that_do_not_count_are_not_legal() -> None:
    policy = RecallPolicy(negatives=0, databases=Databases.OTHER)
    alone: Pool = {"legal": 1, "same_type": 1, "typed": False, "fallback": True, "size": 1}
    assert recalled([pool(["old3"], **alone)], occasion(policy)) == ([OLD[3]], [])
    here: Pool = {"legal": 4, "same_type": 3, "size": 3}
    policy = replace(policy, databases=Databases.SAME)
    assert recalled([pool(["old2", "old1", "old0"], **here)], occasion(policy)) == ([OLD[2], OLD[1], OLD[0]], [])


# Pools.


def test_a_legal_entry_of_another_type_is_not_in_the_typed_pool() -> None:
    said = "entry typed was recalled, but is not in the pool"
    refused([pool(["old0", "old1", "typed"]), negative()], occasion(), said)


def test_an_entry_of_the_other_polarity_is_not_in_the_pool() -> None:
    said = "entry failed was recalled, but is not in the pool"
    refused([pool(["old0", "old1", "failed"]), negative()], occasion(), said)


def test_too_few_of_the_type_fall_back_to_all() -> None:
    policy = RecallPolicy(negatives=0, typed_threshold=5)
    record = pool(["old0", "typed", "old1"], typed=False, fallback=True, size=5)
    assert recalled([record], occasion(policy))[0] == [OLD[0], TYPED, OLD[1]]


def test_as_many_as_the_threshold_are_enough() -> None:
    policy = RecallPolicy(negatives=0, typed_threshold=4)
    assert recalled([pool(["old0", "old1", "old2"])], occasion(policy))
    refused([pool(["old0", "old1", "old2"], typed=False, fallback=True, size=5)], occasion(policy), "the pool is")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["old0", "old1", "old2", "old3"], "4 entries were recalled from a pool of 4, at most 3"),
        (["old0", "old1"], "2 entries were recalled from a pool of 4, at most 3"),
        (["old0", "old1", "old1"], "3 entries were recalled from a pool of 4, at most 3"),
        ([], "0 entries were recalled from a pool of 4, at most 3"),
    ],
)
def test_as_many_as_the_policy_says_each_once(names: list[str], said: str) -> None:
    refused([pool(names), negative()], occasion(), said)


def test_a_small_pool_is_recalled_whole() -> None:
    two: Pool = {"stored": 2, "legal": 2, "same_type": 2, "typed": False, "fallback": True, "size": 2}
    when = occasion(RecallPolicy(negatives=0), OLD[:2])
    assert recalled([pool(["old1", "old0"], **two)], when) == ([OLD[1], OLD[0]], [])
    refused([pool(["old1"], **two)], when, "1 entry was recalled from a pool of 2, at most 3")
    refused([pool(["old1", "old1"], **two)], when, "2 entries were recalled from a pool of 2, at most 3")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("polarity", "negative"),
        ("polarity", None),
        ("stored", 6),
        ("legal", 4),
        ("same_type", 5),
        ("typed", False),
        ("fallback", True),
        ("size", 5),
    ],
)
@pytest.mark.parametrize("names", [["old0", "old1", "old2"], ["old0", "old1"]])
def test_every_count_is_what_the_memory_gives(field: str, value: Any, names: list[str]) -> None:
    record = pool(names)
    record[field] = value
    refused([record, negative()], occasion(), "the pool is recorded as")


def test_the_second_pool_is_checked_like_the_first() -> None:
    refused([pool(["old0", "old1", "old2"]), negative(stored=2)], occasion(), "the pool is recorded as")
    refused([pool(["old0", "old1", "old2"]), negative([])], occasion(), "0 entries were recalled from a pool of 1")


@pytest.mark.parametrize("ranks", [[1, 2, 2], [0, 1, 2], [2, 1, 3], [1, 2, 4], ["1", "2", "3"], [None, None, None]])
def test_ranks_count_up_from_one(ranks: list[Any]) -> None:
    record = pool(["old0", "old1", "old2"])
    for one, rank in zip(record["matches"], ranks, strict=True):
        one["rank"] = rank
    refused([record, negative()], occasion(), "the ranks do not count up from 1")


def test_one_pool_has_both_polarities_and_all_places() -> None:
    policy = replace(NOTHING_TYPED, one_pool=True)
    counts: Pool = {"stored": 6, "legal": 6, "typed": False, "fallback": False, "size": 6, "same_type": 5}
    record = pool(["failed", "old0", "typed", "old1"], None, **counts)
    assert recalled([record], occasion(policy)) == ([OLD[0], TYPED, OLD[1]], [FAILED])
    refused([pool(["failed", "old0", "typed"], None, **counts)], occasion(policy), "3 entries were recalled")
    refused([pool(["failed", "old0", "typed", "old1"], "positive", **counts)], occasion(policy), "the pool is recorded")
    refused([record, negative()], occasion(policy), "1 pools should have been recalled from")


def test_a_limit_of_zero_has_no_pool() -> None:
    record = pool(["old0", "old1", "old2"])
    assert recalled([record], occasion(RecallPolicy(negatives=0)))
    refused([record, negative()], occasion(RecallPolicy(negatives=0)), "1 pools should have been recalled from")
    refused([record], occasion(RecallPolicy()), "2 pools should have been recalled from")
    refused([negative(), record], occasion(RecallPolicy()), "the pool is recorded as ['negative'")
    assert recalled([negative()], occasion(RecallPolicy(positives=0))) == ([], [FAILED])


# Precedents.

ANSWERS: list[Entry] = [make_precedent(i, id=f"answer{i}", db_id="zoo") for i in range(6, 9)]
TWO_ANSWERS = RecallPolicy(positives=0, negatives=0, precedents=2)


def answers(names: list[str], **counts: Any) -> Pool:
    usual = {"stored": 3, "legal": 3, "same_type": 0, "typed": False, "fallback": False, "size": 3}
    return pool(names, "precedent", **{**usual, **counts})


def test_precedents_are_a_pool_of_their_own() -> None:
    when = occasion(TWO_ANSWERS, [*EVERYTHING, *ANSWERS])
    shown = check_recall([answers(["answer8", "answer6"])], when)
    assert (shown.positives, shown.negatives, shown.precedents) == ([], [], [ANSWERS[2], ANSWERS[0]])
    refused([answers(["answer8"])], when, "1 entry was recalled from a pool of 3, at most 2")
    refused([answers(["answer8", "old0"])], when, "entry old0 was recalled, but is not in the pool")
    refused([answers(["answer8", "answer6"], stored=9)], when, "the pool is recorded as")


def test_precedents_are_in_no_other_pool() -> None:
    entries = [*EVERYTHING, *ANSWERS]
    assert recalled([pool(["old0", "old1", "old2"]), negative()], occasion(entries=entries))
    refused([pool(["old0", "old1", "answer6"]), negative()], occasion(entries=entries), "answer6 was recalled, but is")
    one: Pool = {"stored": 6, "legal": 6, "typed": False, "fallback": False, "size": 6, "same_type": 5}
    policy = replace(NOTHING_TYPED, one_pool=True, precedents=1)
    shown = check_recall([pool(["failed", "old0", "typed", "old1"], None, **one), answers(["answer7"])],
        occasion(policy, entries))  # fmt: skip
    assert (len(shown.positives), len(shown.negatives), shown.precedents) == (3, 1, [ANSWERS[1]])
    mixed = pool(["failed", "old0", "typed", "answer8"], None, **one)
    refused([mixed, answers(["answer7"])], occasion(policy, entries), "entry answer8 was recalled, but is not in")


@pytest.mark.parametrize("chosen", TypeFilter)
def test_no_failure_type_narrows_precedents(chosen: TypeFilter) -> None:
    when = occasion(replace(TWO_ANSWERS, type_filter=chosen), ANSWERS)
    assert check_recall([answers(["answer6", "answer7"])], when).precedents
    refused([answers(["answer6", "answer7"], typed=True)], when, "the pool is recorded as")
    other = occasion(replace(TWO_ANSWERS, type_filter=chosen, typed_threshold=9), ANSWERS)
    refused([answers(["answer6", "answer7"], fallback=True)], other, "the pool is recorded as")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"position": 10}, "it comes from position 10, and only earlier ones than 10 may be read"),
        ({"position": 11}, "it comes from position 11, and only earlier ones than 10 may be read"),
        ({"question_id": 100}, "it comes from the question's own attempts"),
        ({"question_id": "100"}, "it comes from the question's own attempts"),
    ],
)
def test_a_precedent_is_of_another_and_earlier_question(changes: Pool, why: str) -> None:
    bad = make_precedent(9, id="bad", **changes)
    when = occasion(TWO_ANSWERS, [*ANSWERS, bad])
    refused(
        [answers(["answer6", "bad"], stored=4, legal=4, size=4)],
        when,
        f"entry bad was recalled, but {why}",
    )
    assert check_recall([answers(["answer6", "answer7"], stored=4)], when).precedents == ANSWERS[:2]


# Which types narrow a pool.


@pytest.mark.parametrize("kind", FailureType)
@pytest.mark.parametrize("chosen", TypeFilter)
def test_which_types_narrow_a_pool(chosen: TypeFilter, kind: FailureType) -> None:
    reliable = kind in ("SYNTAX", "SCHEMA_LINKING", "EXECUTION")
    narrows = chosen is TypeFilter.HARD or (chosen is TypeFilter.RELIABILITY and reliable)
    other = FailureType.UNKNOWN if kind is not FailureType.UNKNOWN else FailureType.SYNTAX
    entries = [make_entry(i, id=f"same{i}", type=kind) for i in range(3)] + [make_entry(3, id="other", type=other)]
    counts: Pool = {"stored": 4, "legal": 4, "same_type": 3, "fallback": False}
    typed = pool(["same0", "same1", "same2"], **counts, typed=True, size=3)
    whole = pool(["same0", "same1", "other"], **counts, typed=False, size=4)
    fallback = pool(["same0", "same1", "other"], **{**counts, "fallback": True}, typed=False, size=4)
    policy = RecallPolicy(negatives=0, type_filter=chosen)
    when = occasion(policy, entries, type=kind)
    right, wrong = (typed, whole) if narrows else (whole, typed)
    assert recalled([right], when)
    refused([wrong], when, "the pool is recorded as")
    larger = occasion(replace(policy, typed_threshold=4), entries, type=kind)
    right, wrong = (fallback, whole) if narrows else (whole, fallback)
    assert recalled([right], larger)
    refused([wrong], larger, "the pool is recorded as")


# The record's shape.


@pytest.mark.parametrize("field", sorted(pool([])))
def test_every_field_of_a_pool_is_there(field: str) -> None:
    record = pool(["old0", "old1", "old2"])
    del record[field]
    refused([record, negative()], occasion(), "not the record of a recall")


@pytest.mark.parametrize("field", sorted(match("old0", 1)))
def test_every_field_of_a_match_is_there(field: str) -> None:
    record = pool(["old0", "old1", "old2"])
    del record["matches"][1][field]
    refused([record, negative()], occasion(), "not the record of a recall")


@pytest.mark.parametrize("place", [lambda record: record, lambda record: record["matches"][2]])
def test_there_is_no_place_for_anything_else(place: Callable[[Pool], Pool]) -> None:
    record = pool(["old0", "old1", "old2"])
    place(record)["reference"] = "SELECT count(*) FROM item"
    refused([record, negative()], occasion(), "not the record of a recall")


@pytest.mark.parametrize("record", [None, 7, "pool", [], {}, {**pool([]), "matches": {}}, {**pool([]), "matches": [7]}])
def test_anything_else_is_no_pool(record: Any) -> None:
    refused([record, negative()], occasion(), "not the record of a recall")


@pytest.mark.parametrize("pools", [None, {}, "pools", 2, [], [pool([])], [pool([]), negative(), negative()]])
def test_anything_else_are_no_pools(pools: Any) -> None:
    refused(pools, occasion(), "2 pools should have been recalled from")
