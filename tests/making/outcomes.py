"""Run folders with known outcomes, written by the project's own writers without running anything."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from making.memories import make_entry
from merit.agent import METHODS, Attempt, Episode, FirstAnswer, Method, Reflection, Task
from merit.agent.rules import chosen as chosen_of
from merit.failure import classify
from merit.memory import Match, PoolReport, Recall
from merit.runs import (
    MadeWith,
    Manifest,
    Phase,
    Questions,
    RunFolder,
    RunView,
    StreamQuestion,
    Turn,
    account,
    decode_identity,
    new_manifest,
    read_run,
    stream_order,
)
from merit.runs.accounting import check_arithmetic
from merit.runs.paths import METRICS, TIMINGS
from merit.runs.questions import stream_text
from merit.types import Polarity, Question, QuestionId, Regime, Sampling, Status, Verdict

RIGHT = Verdict(Status.CORRECT)
WRONG = Verdict(Status.DENOTATION_MISMATCH)
NO_COLUMN = Verdict(Status.EXECUTION_ERROR, "no such column: x")
SYNTAX = Verdict(Status.EXECUTION_ERROR, 'near "FORM": syntax error')
LATE = Verdict(Status.TIMEOUT, "timed out")
RAN = Verdict(Status.EXECUTED)


@dataclass(frozen=True)
class Tried:
    """An attempt: its SQL, verdict and tokens."""

    sql: str
    verdict: Verdict
    prompt: int = 100
    output: int = 10
    repeat: bool = False
    shown: Sequence["Recalled"] = ()  # what was recalled for it, by a method that recalls


Recalled = tuple[str, float | None, float]  # an entry's id, its dense similarity and its score
Course = Sequence[Tried]  # what became of a question, first answer first
TIMES = {
    "format": 1,
    "sessions": [
        {
            "turns": 1,
            "wall_s": 2.5,
            "work": {kind: {"count": 1, "seconds": s} for kind, s in (("judge", 0.5), ("recall", 0.25), ("model", 1.0))},
            "embedding": {"texts": 3, "seconds": 0.125},
        }
    ],
}  # fmt: skip


def write_run(
    path: Path,
    questions: Sequence[Question],
    method: str | Method,
    courses: Mapping[QuestionId, Course],
    *,
    seed: int = 0,
    right: Callable[[QuestionId, Attempt], bool] | None = None,
    answered: int | None = None,
    finished: bool = True,
    times: dict[str, Any] | None = TIMES,
    **identity: Any,
) -> RunView:
    """Write a run in which every question went its course; `identity` changes what the manifest says."""
    chosen = (METHODS[method] if isinstance(method, str) else method).seeded(seed)
    firsts = {one.id: courses[one.id][0] for one in questions}
    stream = {
        one.id: StreamQuestion(
            one, f"schema of {one.db_id}", FirstAnswer(firsts[one.id].sql, firsts[one.id].sql, 100, 10)
        )
        for one in questions
    }
    manifest = made({**identity_record(chosen, seed, stream), **identity})
    order = [stream[one.id] for one in stream_order(questions, seed)][:answered]
    with closing(RunFolder(path, manifest, stream)) as folder:
        for phase in (Phase.ANSWER,) if chosen.online else (Phase.GATHER, Phase.ANSWER):
            for position, one in enumerate(order):
                course, regime = courses[one.question.id], manifest.identity.regime
                folder.append(_turn(phase, one, position, course, chosen, right, regime))
        if finished:
            metrics = account(folder.turns, chosen)
            check_arithmetic(metrics, chosen, manifest.identity.regime, manifest.identity.budget)
            folder.write_whole(METRICS, metrics)
        if times is not None:
            folder.write_whole(TIMINGS, times)
    return read_run(path)


def _turn(
    phase: Phase,
    one: StreamQuestion,
    position: int,
    course: Course,
    method: Method,
    right: Callable[[QuestionId, Attempt], bool] | None,
    regime: Regime,
) -> Turn:
    tried = course if method.repairs else course[:1]
    recalling = method.recall is not None and (method.online or phase is Phase.ANSWER)
    attempts = tuple(
        Attempt(
            t.sql, t.sql, t.prompt, t.output, t.verdict, None if t.verdict.satisfied else classify(t.verdict),
            "0" * 64 if step else None, _recall(t.shown, method) if step and recalling else None, t.repeat,
        )
        for step, t in enumerate(tried)
    )  # fmt: skip
    told = right or (lambda _, attempt: attempt.verdict.correct)
    task = Task(one.question, one.schema, position, one.first_answer, position)
    episode = Episode(task, attempts, (), chosen_of(method, regime, attempts))
    known = (told(one.question.id, attempts[0]), told(one.question.id, episode.final))
    unsuccessful = sum(not attempt.verdict.satisfied for attempt in attempts) if method.reflects else 0
    reflections = tuple(Reflection("why", "why", 50, 5, "0" * 64) for _ in range(unsuccessful))
    entry = None
    ran = episode.final.verdict.satisfied
    if Polarity.PRECEDENT in method.writes:
        entry = f"pre-{position}" if ran else None
    elif len(attempts) > 1 and method.writes and phase is (Phase.ANSWER if method.online else Phase.GATHER):
        entry = f"{'pos' if ran else 'neg'}-{position}"
    recalls = len(attempts) - 1 if recalling else 0
    return Turn(phase, replace(episode, reflections=reflections), entry, *known, recalls)


def _recall(shown: Sequence[Recalled], method: Method) -> Recall:
    """A recall that showed these entries; what else a log says of it is made up."""
    assert method.recall is not None
    matches = tuple(
        Match(replace(make_entry(), id=identity), rank, score, dense, 1.0, None, None, 0.0)
        for rank, (identity, dense, score) in enumerate(shown, 1)
    )
    return Recall(method.recall, (PoolReport(None, 9, 9, 0, False, False, 9, None, None, matches),))


def made(identity: Mapping[str, Any]) -> Manifest:
    """The manifest of a run with this identity, given as plain values."""
    return new_manifest(decode_identity(dict(identity), "this run"), MadeWith("0.0", "3.11", "3.50.4"))


def identity_record(method: Method, seed: int, stream: Questions) -> dict[str, Any]:
    return {
        "method": method.record(),
        "seed": seed,
        "budget": 7,
        "dataset": {"name": "spider", "split": "dev", "sha256": "d" * 64, "questions": len(stream)},
        "protocol": "suite",
        "distinct": "kept",
        "timeout_s": 30.0,
        "regime": "denotation_confirmed",
        "initial_sha256": "1" * 64,
        "stream_sha256": hashlib.sha256(stream_text(stream).encode()).hexdigest(),
        "demonstrations": [],
        "length": None if method.online else len(stream),
        "prompts": {"family": "v3", "sha256": "p" * 64},
        "model": {"name": "qwen", "revision": "r1"},
        "sampling": Sampling().record(),
        "encoder": {"name": "wordllama", "revision": "e1", "dimension": 8} if method.encodes else None,
        "code": "c" * 16,
    }
