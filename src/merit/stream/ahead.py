"""Exact parallelism: asking early for answers that a stream will need, without deciding anything.

A causal stream is sequential: an episode may read only what all earlier ones left. But its answers can be asked for
before its turn, with the memory as it then stands. When the turn comes and its prompts are the same, the answers are
there already; where they are not, they are asked for again. The run itself decides everything anew, so files are the
same (but for a statement that meets its time limit only on a busy machine).

An episode's own calls depend on each other too. From an earlier look ahead we know what the model said then, and it
mostly says the same again: so all calls of an episode are asked for at once with those guesses, until none was wrong.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from merit.agent import Agent, Work, repair
from merit.errors import ContextOverflow, MeritError, ModelFailed, NotRecorded
from merit.models import Completer, Completion, ModelIdentity, Sampling, Share
from merit.runs.plan import Planned
from merit.runs.turn import Phase
from merit.tracing import span
from merit.types import Question, Status, Verdict

# How far ahead a turn is looked at again if the memory has grown meanwhile: near ones matter more.
_LOOKED_AT_AGAIN = (1, 3, 8, 24)


@dataclass(slots=True)
class _Guessing:
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
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # told when its turn comes
        self.asked.append(task)
        await asyncio.sleep(0)  # an answer that is there already comes before any guess
        guessed = number < len(self.guesses) and not task.done()
        self.used.append(self.guesses[number] if guessed else await asyncio.shield(task))
        return self.used[number]

    async def close(self) -> None:
        """Nothing of its own to give back."""


class Ahead:
    """Looks ahead of one stream, `window` turns far."""

    def __init__(self, agents: Mapping[Phase, Agent], todo: Sequence[Planned], share: Share, window: int) -> None:
        self.work = Work()  # what it does is counted, apart from the run's own
        self._share = share
        self._working = agents
        alone = _OneAtATime()
        self._agents = {phase: _looking(agent, share, alone, self.work) for phase, agent in agents.items()}
        self._todo = todo
        self._window = window
        self._guesses: dict[int, list[Completion]] = {}
        self._tasks: dict[int, asyncio.Task[MeritError | None]] = {}
        self._looked: dict[int, int] = {}  # with which memory a turn was last looked at

    async def prepare(self, turn: int, entries: int) -> None:
        """Have the answers of a turn whose time has come, and look further ahead; the memory holds `entries`."""
        last = min(turn + self._window, len(self._todo) - 1)
        for number in range(turn + 1, last + 1):
            again = number - turn in _LOOKED_AT_AGAIN and self._looked.get(number) != entries
            if number not in self._looked or again:
                self._look_at(number, entries)
        if (running := self._tasks.pop(turn, None)) is not None:
            running.cancel()  # it looks at an older memory; what it asked for stays under way
        planned = self._todo[turn]
        looking = self._agents[planned.phase]
        failed = await self._prepare(turn, replace(looking, completer=self._share.at_once, apart=asyncio.to_thread))
        self._guesses.pop(turn, None)
        self._looked.pop(turn, None)
        heard = looking.verdicts.pop(planned.task.question.id, {})
        known = self._working[planned.phase].verdicts.setdefault(planned.task.question.id, {})
        # What met its limit may have met a busy moment: the run hears that itself.
        known.update((sql, verdict) for sql, verdict in heard.items() if verdict.status is not Status.TIMEOUT)
        if isinstance(failed, ModelFailed) and not isinstance(failed, ContextOverflow | NotRecorded):
            raise failed  # no need to be patient with the same endpoint once more

    async def aclose(self) -> None:
        """Stop looking."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _look_at(self, turn: int, entries: int) -> None:
        if turn in self._tasks:
            return
        self._looked[turn] = entries
        task = self._tasks[turn] = asyncio.create_task(self._prepare(turn, self._agents[self._todo[turn].phase]))
        task.add_done_callback(lambda done: self._done(turn, done))

    def _done(self, turn: int, task: asyncio.Task[MeritError | None]) -> None:
        if self._tasks.get(turn) is task:
            del self._tasks[turn]
        if not task.cancelled():
            task.exception()  # what fails here fails again when its turn comes, and is told then

    async def _prepare(self, turn: int, agent: Agent) -> MeritError | None:
        """Have a turn's answers; what failed is returned, unless a wrong guess led there."""
        planned = self._todo[turn]
        guesses = self._guesses.setdefault(turn, [])
        while True:
            guessing = _Guessing(agent.completer, tuple(guesses))
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


class _OneAtATime:
    """Hears a judge for looking ahead: one statement at a time, so that the run's own have the machine to themselves.

    Those who wait hold no thread and can be stopped.
    """

    def __init__(self) -> None:
        self._free = asyncio.Lock()

    async def __call__(self, judge: Callable[[Question, str], Verdict], question: Question, sql: str) -> Verdict:
        await self._free.acquire()
        running = asyncio.create_task(asyncio.to_thread(judge, question, sql))
        running.add_done_callback(self._done)  # not earlier: a statement that nobody waits for still runs
        return await asyncio.shield(running)

    def _done(self, running: asyncio.Task[Verdict]) -> None:
        self._free.release()
        if not running.cancelled():
            running.exception()  # told to whoever waits


def _looking(agent: Agent, share: Share, alone: _OneAtATime, work: Work) -> Agent:
    """The same agent for looking ahead; what it hears, it keeps to itself."""
    return replace(agent, completer=share.early, apart=alone, work=work, verdicts={})


def window(concurrency: int, streams: int) -> int:
    """How far to look ahead so that an endpoint's places are taken: one stream far, many streams less so."""
    return 0 if concurrency <= 1 else max(1, min(32, 2 * concurrency // streams))


class Nowhere:
    """Looks nowhere: one call after the other."""

    def __init__(self) -> None:
        self.work = Work()

    async def prepare(self, turn: int, entries: int) -> None:
        """Nothing is asked for early."""

    async def aclose(self) -> None:
        """Nothing to stop."""


async def _learn(guesses: list[Completion], guessing: _Guessing) -> bool:
    """Keep the real answers as guesses, up to the first guess that was wrong; whether none was."""
    for number, (task, used) in enumerate(zip(guessing.asked, guessing.used, strict=False)):
        answer = await asyncio.shield(task)
        guesses[number : number + 1] = [answer]
        if answer.text != used.text:
            return False
    return True
