"""Exact parallelism: asking early for answers that a stream will need, without deciding anything.

A causal stream is sequential: an episode may read only what all earlier ones left. But its answers can be asked for
before its turn, with the memory as it then stands. When the turn comes and its prompts are the same, the answers are
there already; where they are not, they are asked for again. The run itself never looks here, so files cannot differ.

An episode's own calls depend on each other too. From an earlier look ahead we know what the model said then, and it
mostly says the same again: so all calls of an episode are asked for at once with those guesses, until none was wrong.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from merit.agent import Agent, repair
from merit.errors import MeritError
from merit.models import AskedOnce, Completer, Completion, ModelIdentity, Sampling
from merit.stream.plan import Planned
from merit.stream.turn import Phase
from merit.tracing import span

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

    def __init__(self, agents: Mapping[Phase, Agent], todo: Sequence[Planned], asked: AskedOnce, window: int) -> None:
        self._agents = {phase: replace(agent, completer=asked.early) for phase, agent in agents.items()}
        self._todo = todo
        self._window = window
        self._guesses: dict[int, list[Completion]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
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
        await self._prepare(turn)
        self._guesses.pop(turn, None)

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
        task = self._tasks[turn] = asyncio.create_task(self._prepare(turn))
        task.add_done_callback(lambda done: self._done(turn, done))

    def _done(self, turn: int, task: asyncio.Task[None]) -> None:
        if self._tasks.get(turn) is task:
            del self._tasks[turn]
        if not task.cancelled():
            task.exception()  # what fails here fails again when its turn comes, and is told then

    async def _prepare(self, turn: int) -> None:
        planned = self._todo[turn]
        agent = self._agents[planned.phase]
        guesses = self._guesses.setdefault(turn, [])
        learned = False
        while not learned:
            guessing = _Guessing(agent.completer, tuple(guesses))
            with suppress(MeritError), span("look ahead", {"merit.question": str(planned.task.question.id)}):
                await repair(replace(agent, completer=guessing), planned.task)
            learned = await _learn(guesses, guessing)


def window(concurrency: int, streams: int) -> int:
    """How far to look ahead so that an endpoint's places are taken: one stream far, many streams less so."""
    return 0 if concurrency <= 1 else max(1, min(32, 2 * concurrency // streams))


class Nowhere:
    """Looks nowhere: one call after the other."""

    async def prepare(self, turn: int, entries: int) -> None:
        """Nothing is asked for early."""

    async def aclose(self) -> None:
        """Nothing to stop."""


async def _learn(guesses: list[Completion], guessing: _Guessing) -> bool:
    """Keep the real answers as guesses, up to the first guess that was wrong; whether none was."""
    for number, (task, used) in enumerate(zip(guessing.asked, guessing.used, strict=False)):
        try:
            answer = await asyncio.shield(task)
        except MeritError:
            return True  # nothing more can be learned here
        guesses[number : number + 1] = [answer]
        if answer.text != used.text:
            return False
    return True
