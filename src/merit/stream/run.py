"""Running a stream: questions in order, each finalised and committed before the next one may read the memory."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from merit.agent import (
    Agent,
    Attempt,
    KnownVerdicts,
    Reflection,
    RefusedStatement,
    RememberingOracle,
    ThreadedOracle,
    Work,
    finalise,
    repair,
)
from merit.errors import RunUnusable
from merit.memory import FileStore, Memory
from merit.models import RunCompleter
from merit.oracle import judging_for
from merit.runs import Phase, RunFolder, Turn, account, check_arithmetic
from merit.runs.paths import MEMORY, METRICS, TIMINGS
from merit.runs.plan import Planned, method_in, plan
from merit.runs.timings import sessions
from merit.stream.ahead import LookAhead, NoLookAhead
from merit.stream.replies import Replies
from merit.stream.reviewing import Reviewing
from merit.stream.setup import Setup
from merit.tracing import span
from merit.types import Completer, Oracle, Question

_log = logging.getLogger(__name__)
_TIMINGS_EVERY = 50  # turns between two updates of timings.json, so that a kill loses little of it


@dataclass(slots=True)
class Progress:
    """How far a run is."""

    total: int
    done: int = 0
    answered: int = 0
    initial_right: int = 0
    right: int = 0
    repaired: int = 0
    entries: int = 0
    tokens: int = 0
    estimated: bool = False  # whether tokens of any call are an estimate
    replies: Replies = field(default_factory=Replies)

    def add(self, turn: Turn) -> None:
        """Count one more turn."""
        self.done += 1
        if turn.phase is Phase.ANSWER:
            self.answered += 1
            self.initial_right += turn.initial_correct
            self.right += turn.final_correct
            self.repaired += turn.final_correct and not turn.initial_correct
        self.entries += len(turn.left)
        first = 0 if turn.phase is Phase.ANSWER else 1  # a first answer was asked for once, however often it is used
        calls: list[Attempt | Reflection] = [*turn.episode.attempts[first:], *turn.episode.reflections]
        self.tokens += sum(call.prompt_tokens + call.output_tokens for call in calls)
        self.estimated |= any(call.tokens_estimated for call in calls)
        for attempt in turn.episode.attempts[first:]:
            self.replies.add(attempt.reply, (attempt.written or attempt).sql)


def agents(setup: Setup, completer: Completer, oracle: Oracle, memory: Memory, work: Work) -> dict[Phase, Agent]:
    """The agent of each phase."""
    identity = setup.identity
    answering = Agent(
        method=method_in(Phase.ANSWER, identity.method),
        budget=identity.budget,
        family=setup.family,
        completer=completer,
        oracle=oracle,
        memory=memory,
        regime=identity.regime,
        sampling=identity.sampling,
        demonstrations=identity.demonstrations,
        work=work,
    )
    gathering = replace(answering, method=method_in(Phase.GATHER, identity.method))
    return {Phase.ANSWER: answering, Phase.GATHER: gathering}


async def run_stream(
    setup: Setup, path: Path, on_turn: Callable[[Progress], None] = lambda _: None, *, ahead: int = 0
) -> dict[str, Any]:
    """Run a stream, or go on with it; returns its metrics. Committed turns are never lost.

    `ahead` is how many turns ahead answers are asked for early; it changes how long a run takes, and nothing else.
    """
    started = time.monotonic()
    completer = setup.completer.for_run()  # what this run sends is counted apart
    oracle, known = ThreadedOracle(judging_for(setup.identity.regime, setup.benchmark.judge)), KnownVerdicts()
    with (
        closing(RunFolder(path, setup.manifest, setup.questions)) as folder,
        Memory(FileStore(path / MEMORY, exclusive=True), setup.encoder) as memory,
    ):
        todo = plan(setup.order, setup.identity.method)
        _check_done(folder, todo)
        work = Work()
        working = agents(setup, completer, RememberingOracle(oracle, known, work), memory, work)
        reviewing = Reviewing(setup, folder, memory, work)
        await reviewing.review()  # that of the last answer, where a kill came before it
        before = len(folder.turns)
        _begin(folder, len(todo))
        progress = Progress(max(len(todo), before))
        for turn in folder.turns:
            progress.add(turn)
        on_turn(progress)
        look_ahead = LookAhead(working, todo, completer, oracle, known, ahead) if ahead else NoLookAhead()
        times = _SessionTimes(setup, folder, completer, {"work": work, "ahead": look_ahead.work}, len(todo), started)
        if before < len(todo):
            times.write()  # how far this session means to go is known to a reader from the first turn on
        try:
            async with aclosing(look_ahead):
                for number, planned in enumerate(todo[before:], before):
                    await look_ahead.prepare(number, progress.entries)
                    turn = await _turn(setup, working[planned.phase], planned, memory, folder.run)
                    folder.append(turn)
                    known.pop(planned.task.question.id, None)
                    progress.add(turn)
                    progress.entries += await reviewing.review()
                    on_turn(progress)
                    if (number + 1 - before) % _TIMINGS_EVERY == 0:
                        times.write()
        finally:
            if before < len(todo):  # also without a finished turn: calls that were sent cost money
                times.write()
        identity = setup.identity
        metrics = account(folder.turns, identity.method, identity.regime)
        check_arithmetic(metrics, identity.method, identity.regime, identity.budget)
        folder.write_whole(METRICS, metrics)
        return metrics


class _SessionTimes:
    """What this session of a run has taken so far, in timings.json behind what earlier sessions took."""

    def __init__(
        self,
        setup: Setup,
        folder: RunFolder,
        completer: RunCompleter,
        works: Mapping[str, Work],
        planned: int,
        started: float,
    ) -> None:
        self._setup = setup
        self._folder = folder
        self._completer = completer
        self._works = works
        self._planned = planned
        self._started = started
        self._turns_before = len(folder.turns)
        self._earlier = sessions(folder.path)

    def write(self) -> None:
        """Write the file again; timings are optional, so that a failure to write them hides no earlier error."""
        session = {"planned_turns": self._planned, "turns": len(self._folder.turns) - self._turns_before}
        session |= _session(self._setup, self._completer, self._works, self._started)
        with suppress(RunUnusable):
            self._folder.write_whole(TIMINGS, {"format": 1, "sessions": [*self._earlier, session]})


def _begin(folder: RunFolder, planned: int) -> None:
    """Before a run goes on: what was true of the shorter run is dropped; a run that is too long is said to be."""
    there = len(folder.turns)
    if there < planned:
        folder.forget_metrics()
    elif there > planned:
        _log.warning(
            "merit: %s: has %d turns already, and the limit is %d; what is shown is of all %d: choose another "
            "folder for a shorter run",
            folder.path,
            there,
            planned,
            there,
        )


async def _turn(setup: Setup, agent: Agent, planned: Planned, memory: Memory, run: str) -> Turn:
    question = planned.task.question
    about = {"merit.question": str(question.id), "merit.database": question.db_id, "merit.method": agent.method.name}
    with span("episode", {**about, "merit.position": planned.task.position}) as watched:
        episode = await repair(agent, planned.task)
        watched.set_attribute("merit.attempts", len(episode.attempts))
        watched.set_attribute("merit.status", episode.final.verdict.status.value)
    entry = finalise(episode, agent.method, run, setup.identity.regime)
    if entry is not None:
        with agent.work.of("commit"):
            entry = await asyncio.to_thread(memory.commit, entry)
    return Turn(
        phase=planned.phase,
        episode=episode,
        entry=entry.id if entry else None,
        initial_correct=await _correct(setup, question, episode.first),
        final_correct=await _correct(setup, question, episode.final),
        recalls=sum(attempt.recall is not None for attempt in episode.attempts),
    )


async def _correct(setup: Setup, question: Question, attempt: Attempt | RefusedStatement) -> bool:
    """Whether an attempt is right by the judge, also where the agent is not told."""
    if setup.identity.regime.has_oracle:
        return attempt.verdict.correct
    return (await asyncio.to_thread(setup.benchmark.judge.judge, question, attempt.sql)).correct


def _check_done(folder: RunFolder, todo: list[Planned]) -> None:
    for number, (turn, planned) in enumerate(zip(folder.turns, todo, strict=False), 1):
        if turn.episode.task.question.id != planned.task.question.id or turn.phase is not planned.phase:
            raise RunUnusable(
                f"{folder.path}: turn {number} is question {turn.episode.task.question.id}, but the stream has "
                f"{planned.task.question.id} there; the run was edited"
            )


def _session(setup: Setup, completer: RunCompleter, works: Mapping[str, Work], started: float) -> dict[str, Any]:
    session: dict[str, Any] = {
        "wall_s": round(time.monotonic() - started, 3),
        "statements_of_process": setup.benchmark.judge.statements,
    }
    for name, work in works.items():
        session[name] = {k: {"count": work.counts[k], "seconds": round(s, 3)} for k, s in work.seconds.items()}
    if setup.encoder is not None:
        session["embedding_of_process"] = {"texts": setup.encoder.encoded, "seconds": round(setup.encoder.seconds, 3)}
    session["sent"] = completer.account()
    if completer.sent.calls and setup.completer.neutral:
        session["greedy"] = dict(setup.completer.neutral)  # what the server has accepted, or not refused yet
    return session
