"""Looking ahead changes how long a run takes, and nothing else."""

import asyncio
import hashlib
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import ITEMS, Failing, FickleModel
from making.fuzzing import tries
from making.runs import Bench, files_of, make_bench
from merit.agent import METHODS, RELATED
from merit.errors import InputError, ModelFailed
from merit.models import AnswerStore, CachingCompleter
from merit.models.priority import CALL
from merit.oracle import Judge
from merit.stream import window
from merit.types import Completion, Question, Sampling, Verdict


class Slow(FickleModel):
    """Answers after a while that depends on the prompt, so that answers come in any order."""

    def __init__(self, luck: int = 6, *, unit_s: float = 0.0005, fails_at: int | None = None) -> None:
        super().__init__(luck)
        self._unit_s = unit_s
        self._fails_at = fails_at

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        if self._fails_at is not None and len(self.prompts) >= self._fails_at:
            raise ModelFailed("the model is gone")
        await asyncio.sleep(self._unit_s * (hashlib.sha256(prompt.encode()).digest()[0] % 8))
        return await super().complete(prompt, sampling)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


@pytest.mark.parametrize("method", [*METHODS, *RELATED])
def test_files_are_the_same_at_any_distance(bench: Bench, tmp_path: Path, method: str) -> None:
    draw = random.Random(method)
    for number in range(tries(1000)):
        ahead, luck, seed = draw.randint(1, 20), draw.choice([2, 6, 10**9]), draw.randrange(3)
        sequential, parallel = tmp_path / f"s{number}", tmp_path / f"p{number}"
        bench.run(sequential, method, model=CachingCompleter(FickleModel(luck), AnswerStore(None)), seed=seed)
        bench.run(parallel, method, model=CachingCompleter(Slow(luck), AnswerStore(None)), seed=seed, ahead=ahead)
        assert files_of(parallel) == files_of(sequential), (ahead, luck, seed)


def test_no_answer_is_asked_for_twice_and_unneeded_ones_are_counted(bench: Bench, tmp_path: Path) -> None:
    model = Slow(luck=4, unit_s=0.005)  # slow enough for prefetching to be ahead on a busy machine, too
    asked = CachingCompleter(model, AnswerStore(None))
    view = bench.run(tmp_path / "run", model=asked, ahead=8)
    needed = {attempt.prompt_sha256 for turn in view.turns for attempt in turn.episode.attempts[1:]}
    sent = [hashlib.sha256(prompt.encode()).hexdigest() for prompt in model.prompts]
    assert len(sent) == len(set(sent)) == asked.sent.calls
    assert needed <= set(sent)
    assert asked.sent.wasted == len(set(sent) - needed) > 0


def test_what_is_done_ahead_is_counted_apart(bench: Bench, tmp_path: Path) -> None:
    def session(name: str, ahead: int) -> dict[str, Any]:
        bench.run(tmp_path / name, model=CachingCompleter(Slow(luck=4), AnswerStore(None)), ahead=ahead)
        (found,) = json.loads((tmp_path / name / "timings.json").read_text())["sessions"]
        return dict(found)

    far, near = session("far", 8), session("near", 0)
    assert near["ahead"] == {}
    for kind in ("recall", "model", "commit"):
        assert far["work"][kind]["count"] == near["work"][kind]["count"]
    assert far["ahead"].keys() == {"judge", "recall", "model"}
    assert far["ahead"]["recall"]["count"] >= far["work"]["recall"]["count"]
    judged = [one["work"].get("judge", {"count": 0})["count"] for one in (far, near)]
    assert judged[0] + far["ahead"]["judge"]["count"] >= judged[1] > judged[0]  # what was heard ahead is not run again


def test_without_memory_nothing_is_wasted(bench: Bench, tmp_path: Path) -> None:
    asked = CachingCompleter(Slow(luck=4), AnswerStore(None))
    bench.run(tmp_path / "run", "iterative", model=asked, ahead=8)
    assert asked.sent.wasted == 0


@pytest.mark.parametrize("answers", [0, 3, 17])
def test_what_fails_ahead_is_told_when_its_turn_comes(bench: Bench, tmp_path: Path, answers: int) -> None:
    store = AnswerStore(None)
    with pytest.raises(ModelFailed, match="the model is gone"):
        bench.run(tmp_path / "run", model=CachingCompleter(Slow(fails_at=answers), store), ahead=6)
    whole = bench.run(tmp_path / "whole", model=CachingCompleter(FickleModel(), AnswerStore(None)))
    bench.run(tmp_path / "run", model=CachingCompleter(Slow(), store), ahead=6)
    assert files_of(tmp_path / "run") == files_of(whole.path)


class Dead(FickleModel):
    """Counts how often it was asked in vain."""

    asked = 0

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:  # noqa: ARG002
        self.asked += 1
        raise ModelFailed("the endpoint is dead")


def test_a_dead_model_is_not_asked_again_for_the_same_turn(bench: Bench, tmp_path: Path) -> None:
    model = Dead()
    with pytest.raises(ModelFailed, match="the endpoint is dead"):
        bench.run(tmp_path / "run", model=CachingCompleter(model, AnswerStore(None)), ahead=1)
    assert model.asked <= 2  # the turn's own, and one ahead of it


class Dying(Slow):
    """Notes what it was asked in vain by those who cannot wait."""

    def __init__(self, answers: int) -> None:
        super().__init__(fails_at=answers)
        self.in_vain: Counter[str] = Counter()

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        try:
            return await super().complete(prompt, sampling)
        except ModelFailed:
            call = CALL.get()
            self.in_vain[prompt] += call is not None and call.urgent
            raise


def test_a_model_that_dies_is_not_asked_again_for_the_same_turn_whatever_was_guessed(
    bench: Bench, tmp_path: Path
) -> None:
    for answers in range(1, 25):
        model = Dying(answers)
        with pytest.raises(ModelFailed, match="the model is gone"):
            bench.run(tmp_path / str(answers), model=CachingCompleter(model, AnswerStore(None)), ahead=8)
        assert max(model.in_vain.values()) == 1


class Statements:
    """The judge's work, made slow and noted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, seconds: float) -> None:
        self.run: Counter[tuple[object, str]] = Counter()
        judged = Judge.judge

        def judge(oracle: Judge, question: Question, sql: str) -> Verdict:
            self.run[question.id, sql] += 1
            time.sleep(seconds)
            return judged(oracle, question, sql)

        monkeypatch.setattr(Judge, "judge", judge)


def test_a_statement_that_was_judged_ahead_is_not_run_again(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = Statements(monkeypatch, seconds=0.002)
    bench.run(tmp_path / "run", "iterative", model=CachingCompleter(Slow(), AnswerStore(None)), ahead=8)
    assert statements.run.total() <= len(statements.run) + len(ITEMS)  # again only when its turn came while it ran


@pytest.mark.timed
def test_a_run_that_ends_leaves_no_statements_waiting(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = Statements(monkeypatch, seconds=0.1)
    with pytest.raises(InputError, match="the model is gone"):
        bench.run(tmp_path / "run", model=CachingCompleter(Failing(0), AnswerStore(None)), ahead=11)
    # The turn's own, and one after the other ahead of it while that is judged; eleven were to be looked at.
    assert statements.run.total() <= 6


def test_one_stream_looks_far_and_many_less_so() -> None:
    assert window(1, 1) == 0
    assert window(32, 1) == 32
    assert window(32, 12) == 5
    assert window(4, 40) == 1
