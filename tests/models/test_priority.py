"""PrioritySemaphore at a model: never too many at a time, none lost, and whoever is waited for goes first."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from merit.models import AnswerStore, CachingCompleter
from merit.models.priority import CALL, Call, PrioritySemaphore
from merit.types import Completion, ModelIdentity, Sampling

GREEDY = Sampling()


class OneAtATime:
    """A model with one place, which says in what order it was asked."""

    concurrency = 1
    recorded = False

    identity = ModelIdentity("m")

    def __init__(self) -> None:
        self.order: list[str] = []
        self.gate = asyncio.Event()
        self._place = PrioritySemaphore(1)

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:  # noqa: ARG002
        async with self._place:
            self.order.append(prompt)
            await self.gate.wait()
            return Completion(prompt, 1, 1)

    async def close(self) -> None:
        self.gate.set()


def run(scene: Callable[[], Awaitable[None]]) -> None:
    async def go() -> None:
        await asyncio.wait_for(scene(), 10.0)

    asyncio.run(go())


async def a_moment() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_what_a_run_waits_for_goes_before_what_was_asked_early() -> None:
    async def scene() -> None:
        model = OneAtATime()
        once = CachingCompleter(model, AnswerStore(None))
        early = [asyncio.create_task(once.prefetching.complete(f"early {i}", GREEDY)) for i in range(3)]
        await a_moment()
        real = [asyncio.create_task(once.complete(f"real {i}", GREEDY)) for i in range(2)]
        await a_moment()
        model.gate.set()
        await asyncio.gather(*early, *real)
        assert model.order == ["early 0", "real 0", "real 1", "early 1", "early 2"]
        await once.close()

    run(scene)


def test_an_early_call_that_becomes_needed_moves_up() -> None:
    async def scene() -> None:
        model = OneAtATime()
        once = CachingCompleter(model, AnswerStore(None))
        early = [asyncio.create_task(once.prefetching.complete(f"early {i}", GREEDY)) for i in range(4)]
        await a_moment()
        real = asyncio.create_task(once.complete("early 3", GREEDY))
        await a_moment()
        model.gate.set()
        await asyncio.gather(*early, real)
        assert model.order == ["early 0", "early 3", "early 1", "early 2"]
        assert once.sent.wasted == 3
        await once.close()

    run(scene)


def test_a_guess_for_the_turn_that_has_come_is_urgent_and_may_still_be_wasted() -> None:
    async def scene() -> None:
        model = OneAtATime()
        once = CachingCompleter(model, AnswerStore(None))
        share = once.for_run()
        early = [asyncio.create_task(share.prefetching.complete(f"early {i}", GREEDY)) for i in range(3)]
        await a_moment()
        guess = asyncio.create_task(share.guessing.complete("guess", GREEDY))
        await a_moment()
        model.gate.set()
        await asyncio.gather(*early, guess)
        assert model.order == ["early 0", "guess", "early 1", "early 2"]
        assert share.sent.wasted == 4
        await once.close()

    run(scene)


@pytest.mark.parametrize("seed", range(5))
def test_no_place_is_lost_and_none_is_given_twice(seed: int) -> None:
    """Callers come, become urgent, and are cancelled at any moment."""
    dice = random.Random(seed)
    at_work = most = finished = 0

    async def scene() -> None:
        places = PrioritySemaphore(3)

        async def work(call: Call) -> None:
            nonlocal at_work, most, finished
            CALL.set(call)
            async with places:
                at_work += 1
                most = max(most, at_work)
                try:
                    for _ in range(dice.randrange(4)):
                        await asyncio.sleep(0)
                finally:
                    at_work -= 1
            finished += 1

        calls = [Call(urgent=dice.random() < 0.3) for _ in range(200)]
        tasks = []
        for call in calls:
            tasks.append(asyncio.create_task(work(call)))
            if dice.random() < 0.5:
                await asyncio.sleep(0)
            if dice.random() < 0.4:
                dice.choice(tasks).cancel()
            dice.choice(calls).urgent = True
        await asyncio.gather(*tasks, return_exceptions=True)
        assert finished == sum(not task.cancelled() for task in tasks) > 50
        for _ in range(3):  # all of them are free again
            await asyncio.wait_for(places.__aenter__(), 1.0)

    run(scene)
    assert most == 3
    assert at_work == 0
