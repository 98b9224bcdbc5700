"""Scores and order of recalls: an entry stands under its own numbers, and without the encoder they fit each other."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import FickleModel
from making.memories import WordEncoder
from making.runs import Bench, make_bench
from making.tampering import LOG, Record, rewrite
from merit.audit import audit_run
from merit.audit.scores import same_ranking, whole_pools
from merit.errors import AuditFailed
from merit.memory import Cue, Match, Memory, PoolReport, Recall, RecallPolicy
from merit.runs import read_run

ENCODED = ("merit", "merit_type_reliability", "dynamic_rag", "no_bm25", "precedent", "transductive_batch")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


# A recall that prefers other entries, recorded under the scores of the right ones.


def forged_recall(forge: Callable[[PoolReport, PoolReport], tuple[Match, ...]]) -> Callable[..., Recall]:
    honest = Memory.recall

    def recall(memory: Memory, cue: Cue, policy: RecallPolicy) -> Recall:
        found, everything = honest(memory, cue, policy), honest(memory, cue, whole_pools(policy, 1000))
        pairs = zip(found.pools, everything.pools, strict=True)
        return replace(found, pools=tuple(replace(pool, matches=forge(pool, whole)) for pool, whole in pairs))

    return recall


def worst_under_the_scores_of_the_best(pool: PoolReport, everything: PoolReport) -> tuple[Match, ...]:
    others = everything.matches[len(pool.matches) :][-len(pool.matches) :]
    forged = [replace(best, entry=worst.entry) for best, worst in zip(pool.matches, others, strict=False)]
    return (*forged, *pool.matches[len(forged) :])


def worst_under_its_own_scores(pool: PoolReport, everything: PoolReport) -> tuple[Match, ...]:
    if len(everything.matches) == len(pool.matches):
        return pool.matches
    return (*pool.matches[:-1], replace(everything.matches[-1], rank=len(pool.matches)))


@pytest.mark.parametrize("forge", [worst_under_the_scores_of_the_best, worst_under_its_own_scores])
@pytest.mark.parametrize("method", ["merit", "no_bm25", "precedent"])
def test_another_entry_cannot_take_the_place_of_the_right_one(
    bench: Bench, tmp_path: Path, method: str, forge: Any
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Memory, "recall", forged_recall(forge))
        run = bench.run(tmp_path / "run", method, model=FickleModel(luck=4)).path
    with pytest.raises(AuditFailed, match="ranking the same memory again gives another result"):
        audit_run(read_run(run), encoder=WordEncoder())


@pytest.mark.parametrize("field", ["dense_range", "lexical_range"])
def test_a_forged_recall_from_an_empty_memory_is_refused(bench: Bench, tmp_path: Path, field: str) -> None:
    run = bench.run(tmp_path / "run", "merit", model=FickleModel(luck=4)).path

    def forge(records: list[Record]) -> None:
        first = records[0]["pools"][0]
        assert not first["stored"]
        first[field] = [0.0, 1.0]

    rewrite(run, LOG, forge)
    with pytest.raises(AuditFailed, match="ranking the same memory again gives another result"):
        audit_run(read_run(run), encoder=WordEncoder())


# Two explanations.


def match(entry: str, rank: int, score: float) -> Record:
    return {"entry": entry, "rank": rank, "score": score, "dense": score, "bonus": 0.0}


def pool(*scores: tuple[str, float]) -> Record:
    return {"size": 9, "matches": [match(entry, rank, score) for rank, (entry, score) in enumerate(scores, 1)]}


WHOLE = pool(("a", 0.9), ("b", 0.50004), ("c", 0.50001), ("d", 0.1))
HERE = {**WHOLE, "matches": WHOLE["matches"][:2]}


@pytest.mark.parametrize(
    ("there", "same"),
    [
        (pool(("a", 0.9), ("b", 0.50004)), True),
        (pool(("a", 0.90003), ("b", 0.5)), True),
        (pool(("a", 0.9), ("c", 0.50001)), True),  # a last digit decides between b and c
        (pool(("a", 0.9), ("c", 0.9)), False),
        (pool(("a", 0.9), ("d", 0.50004)), False),
        (pool(("a", 0.9), ("d", 0.1)), False),
        (pool(("a", 0.9), ("stranger", 0.50004)), False),
        (pool(("b", 0.9), ("a", 0.50004)), False),
        (pool(("a", 0.9)), False),
        ({**pool(("a", 0.9), ("b", 0.50004)), "size": 8}, False),
    ],
)
def test_entries_change_places_only_where_their_true_scores_agree(there: Record, same: bool) -> None:
    assert same_ranking([there], [HERE], lambda: [WHOLE], exact=False) is same


def test_whole_pools_are_ranked_only_where_something_differs() -> None:
    def whole() -> list[Record]:
        raise AssertionError("not needed")

    assert same_ranking([HERE], [HERE], whole, exact=False)
    assert not same_ranking([WHOLE], [HERE], whole, exact=True)


# Without the encoder.


@pytest.fixture(scope="module")
def honest(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("honest")
    for method in ENCODED:
        bench.run(out / method, method, model=FickleModel(luck=4))
    return out


@pytest.mark.parametrize("method", ENCODED)
def test_honest_scores_fit_each_other(honest: Path, method: str) -> None:
    findings = audit_run(read_run(honest / method))
    assert findings.recalls
    assert not findings.ranked
    assert any(item.startswith("scores and ranking of recalls") for item in findings.on_trust)


@pytest.mark.parametrize("value", ["<img src=x>", {}, [[[1]]], None, True, 1, 1e308, -7.5])
@pytest.mark.parametrize(
    "field", ["score", "dense", "lexical", "dense_normalised", "lexical_normalised", "bonus", "rank"]
)
def test_a_score_is_a_possible_number(honest: Path, tmp_path: Path, field: str, value: object) -> None:
    def forge(records: list[Record]) -> None:
        _first_pool(records)["matches"][-1][field] = value

    if (field, value) != ("rank", 1):  # that one is right
        _refused(honest, tmp_path, forge)


@pytest.mark.parametrize("value", ["x", {}, 7.5, None, [], [0.1], [0.1, "x"], [0.9, 0.1], [-5.0, 5.0], [0.0, 0.0, 1.0]])
@pytest.mark.parametrize("field", ["dense_range", "lexical_range"])
def test_a_range_is_two_possible_numbers(honest: Path, tmp_path: Path, field: str, value: object) -> None:
    _refused(honest, tmp_path, lambda records: _first_pool(records).update({field: value}))


@pytest.mark.parametrize("field", ["stored", "typed"])
def test_a_count_is_of_its_kind(honest: Path, tmp_path: Path, field: str) -> None:
    def forge(records: list[Record]) -> None:
        pools = [pool for one in records for pool in one["pools"]]
        found = next(pool for pool in pools if pool[field] in (0, 1))
        found[field] = float(found[field])

    _refused(honest, tmp_path, forge)


def test_entries_stand_in_the_order_of_their_scores(honest: Path, tmp_path: Path) -> None:
    def forge(records: list[Record]) -> None:
        pools = [pool["matches"] for one in records for pool in one["pools"]]
        matches = next(m for m in pools if len(m) > 1 and m[0]["score"] > m[1]["score"])
        matches[0], matches[1] = {**matches[1], "rank": 1}, {**matches[0], "rank": 2}

    assert "not in the order of their scores" in _refused(honest, tmp_path, forge)


def test_a_channel_that_a_method_does_not_use_has_no_scores(honest: Path, tmp_path: Path) -> None:
    def forge(records: list[Record]) -> None:
        _first_pool(records)["matches"][0]["lexical"] = 0.5

    assert "does not use" in _refused(honest, tmp_path, forge, "no_bm25")


def _first_pool(records: list[Record]) -> Record:
    return next(pool for one in records for pool in one["pools"] if pool["matches"])


def _refused(honest: Path, tmp_path: Path, forge: Callable[[list[Record]], object], method: str = "merit") -> str:
    run = Path(shutil.copytree(honest / method, tmp_path / "run"))
    rewrite(run, LOG, forge)
    with pytest.raises(AuditFailed) as caught:
        audit_run(read_run(run))
    assert f"{run / LOG}, line " in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)
