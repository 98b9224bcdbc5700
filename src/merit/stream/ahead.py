"""Exact parallelism: asking early for answers that a stream will need, without deciding anything.

A causal stream is sequential: an episode may read only what all earlier ones left. But its answers can be asked for
before its turn, with the memory as it then stands. When the turn comes and its prompts are the same, the answers are
there already; where they are not, they are asked for again. The run itself decides everything anew, so files are the
same (but for a statement that meets its time limit only on a busy machine).

An episode's own calls depend on each other too. From an earlier look ahead we know the model's replies, and they are
mostly the same again: so all calls of an episode are asked for at once with those guesses, until none was wrong.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from merit.agent import Agent, KnownVerdicts, OneAtATime, RememberingOracle, Work, repair
from merit.errors import ContextOverflow, MeritError, ModelFailed, NotRecorded
from merit.models import RunCompleter
from merit.runs.plan import Planned
from merit.runs.turn import Phase
from merit.tracing import span
from merit.types import Completer, Completion, ModelIdentity, Oracle, Sampling, Status

# At these distances a turn is prefetched again if the memory has grown: often near by, where the memory is almost the
# one the turn will read, seldom far off, where it will still change.
_REFRESH_DISTANCES = (1, 3, 8, 24)


@dataclass(slots=True)
class _GuessingCompleter:
    """A completer that answers with guesses while the real answers are on their way."""

    completer: Completer
    guesses: Sequence[Completion]
    asked: list[asyncio.Task[Completion]] = field(default_factory=list)
    used: list[Completion] = field(default_factory=list)

    @property
    def identity(self) -> ModelIdentity:
        return self.completer.identity

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        number = len(self.asked)
        task = asyncio.create_task(self.completer.complete(prompt, sampling))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # raised when its turn comes
        self.asked.append(task)
        await asyncio.sleep(0)  # an answer that is there already comes before any guess
        guessed = number < len(self.guesses) and not task.done()
        self.used.append(self.guesses[number] if guessed else await asyncio.shield(task))
        return self.used[number]

    @property
    def concurrency(self) -> int:
        return self.completer.concurrency

    @property
    def recorded(self) -> bool:
        return self.completer.recorded

    async def close(self) -> None:
        """Nothing of its own to release."""


class LookAhead:
    """Prefetches for one stream, `window` turns far."""

    def __init__(
        self,
        agents: Mapping[Phase, Agent],
        todo: Sequence[Planned],
        completer: RunCompleter,
        oracle: Oracle,
        known: KnownVerdicts,
        window: int,
    ) -> None:
        """`oracle` is the run's, without memory; `known` are the verdicts that the run remembers."""
        self.work = Work()  # counted apart from the run's own
        self._known_to_run = known
        self._known: KnownVerdicts = {}  # verdicts from prefetching, kept apart until the turn comes
        prefetching = RememberingOracle(OneAtATime(oracle), self._known, self.work)
        direct = RememberingOracle(oracle, self._known, self.work)
        self._prefetching = {
            phase: replace(agent, completer=completer.prefetching, oracle=prefetching, work=self.work)
            for phase, agent in agents.items()
        }
        self._guessing = {
            phase: replace(agent, completer=completer.guessing, oracle=direct, work=self.work)
            for phase, agent in agents.items()
        }
        self._todo = todo
        self._window = window
        self._guesses: dict[int, list[Completion]] = {}
        self._tasks: dict[int, asyncio.Task[MeritError | None]] = {}
        self._prefetched_at: dict[int, int] = {}  # the number of entries a turn was last prefetched with

    async def prepare(self, turn: int, entries: int) -> None:
        """Get the answers of the turn that comes next, and prefetch later ones; the memory holds `entries` entries."""
        last = min(turn + self._window, len(self._todo) - 1)
        for number in range(turn + 1, last + 1):
            refresh = number - turn in _REFRESH_DISTANCES and self._prefetched_at.get(number) != entries
            if number not in self._prefetched_at or refresh:
                self._prefetch(number, entries)
        if (running := self._tasks.pop(turn, None)) is not None:
            running.cancel()  # it reads an older memory; the calls it made go on
        planned = self._todo[turn]
        failed = await self._prepare(turn, self._guessing[planned.phase])
        self._guesses.pop(turn, None)
        self._prefetched_at.pop(turn, None)
        verdicts = self._known.pop(planned.task.question.id, {})
        # A statement may have met its time limit on a busy machine: the run judges those again itself.
        certain = {sql: verdict for sql, verdict in verdicts.items() if verdict.status is not Status.TIMEOUT}
        self._known_to_run.setdefault(planned.task.question.id, {}).update(certain)
        if isinstance(failed, ModelFailed) and not isinstance(failed, ContextOverflow | NotRecorded):
            raise failed  # the endpoint has failed after all retries; the run would only wait for it again

    async def aclose(self) -> None:
        """Stop prefetching."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _prefetch(self, turn: int, entries: int) -> None:
        if turn in self._tasks:
            return
        self._prefetched_at[turn] = entries
        task = self._tasks[turn] = asyncio.create_task(self._prepare(turn, self._prefetching[self._todo[turn].phase]))
        task.add_done_callback(lambda done: self._done(turn, done))

    def _done(self, turn: int, task: asyncio.Task[MeritError | None]) -> None:
        if self._tasks.get(turn) is task:
            del self._tasks[turn]
        if not task.cancelled():
            task.exception()  # what fails here fails again when its turn comes, and is raised then

    async def _prepare(self, turn: int, agent: Agent) -> MeritError | None:
        """Get a turn's answers; an error is returned, unless a wrong guess led to it."""
        planned = self._todo[turn]
        guesses = self._guesses.setdefault(turn, [])
        while True:
            guessing = _GuessingCompleter(agent.completer, tuple(guesses))
            failed = None
            try:
                with span("look ahead", {"merit.question": str(planned.task.question.id)}):
                    await repair(replace(agent, completer=guessing), planned.task)
            except MeritError as error:
                failed = error
            try:
                if await _learn(guesses, guessing):
                    return failed
            except MeritError as error:  # a real call's: every guess before it was right
                return error


def window(concurrency: int, streams: int) -> int:
    """How far to look ahead so that an endpoint is fully used: far for one stream, less for each of many."""
    return 0 if concurrency <= 1 else max(1, min(32, 2 * concurrency // streams))


class NoLookAhead:
    """Prefetches nothing: one call after the other."""

    def __init__(self) -> None:
        self.work = Work()

    async def prepare(self, turn: int, entries: int) -> None:
        """Nothing is asked for early."""

    async def aclose(self) -> None:
        """Nothing to stop."""


async def _learn(guesses: list[Completion], guessing: _GuessingCompleter) -> bool:
    """Keep the real answers as guesses, up to the first guess that was wrong; whether none was."""
    for number, (task, used) in enumerate(zip(guessing.asked, guessing.used, strict=False)):
        answer = await asyncio.shield(task)
        guesses[number : number + 1] = [answer]
        if answer.text != used.text:
            return False
    return True
