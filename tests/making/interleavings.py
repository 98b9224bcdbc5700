"""Every order in which the steps of several threads can happen, on a real database: each is done, one after the other.

An actor is a thread that stops before each of its steps. The scheduler lets one actor at a time take a step and waits
for its end, or until the database makes it wait for a lock. Where several could go on, all choices are tried.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from making.clock import COMES_S

Step = Callable[[str], None]


class Actor:
    """A thread that does `work`, which calls `step(name)` before each step."""

    def __init__(self, work: Callable[[Step], None], waits: Callable[[], bool] = lambda: False) -> None:
        """`waits` says whether the database makes this actor wait for another's lock."""
        self.next: str | None = None
        self.error: BaseException | None = None
        self.done: list[str] = []
        self._waits = waits
        self._go, self._arrived = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()
        assert self._arrived.acquire(timeout=COMES_S)

    def go(self) -> bool:
        """Take the next step; False if the database makes it wait in the middle of it."""
        assert self.next is not None
        self.done.append(self.next)
        self._go.release()
        return self.arrives(may_wait=self.done[-1] == "lock")

    def arrives(self, *, may_wait: bool) -> bool:
        """Whether the step that was begun is over; False if it may wait for a lock and does."""
        until = time.monotonic() + COMES_S
        while not self._arrived.acquire(timeout=0.002 if may_wait else COMES_S):
            if may_wait and self._waits():
                return False
            assert time.monotonic() < until, f"a step does not end: {self.done}"
        return True

    def has_arrived(self) -> bool:
        return self._arrived.acquire(timeout=0.001)

    def ended(self) -> bool:
        return self.next is None

    def _run(self, work: Callable[[Step], None]) -> None:
        try:
            work(self._step)
        except BaseException as error:
            self.error = error
        self.next = None
        self._arrived.release()

    def _step(self, name: str) -> None:
        self.next = name
        self._arrived.release()
        assert self._go.acquire(timeout=COMES_S)


def explore(make: Callable[[], Sequence[Actor]], check: Callable[[Sequence[Actor], list[str]], Any]) -> int:
    """Do every order of the actors' steps, each with new actors, and check how it ended; returns how many there are.

    `check` gets the actors and the order, as `NUMBER:STEP`. When a lock is given back, one of those that wait for it goes
    on. Which one is up to the database; they have done the same so far, so from there it takes the place of the first.
    """
    prefix: list[int] = []
    orders = 0
    while True:
        choices = _once(make(), prefix, check)
        orders += 1
        while choices and choices[-1][0] + 1 == choices[-1][1]:
            choices.pop()
        if not choices:
            return orders
        prefix = [chosen for chosen, _ in choices[:-1]] + [choices[-1][0] + 1]


def _go_on(waiting: list[Actor], line: list[Actor]) -> None:
    """Wait until one that waits has the lock; it takes the place of the first."""
    until = time.monotonic() + COMES_S
    while not (winners := [actor for actor in waiting if actor.has_arrived()]):
        assert time.monotonic() < until, "the lock was not given on"
    first, place, other = waiting[0], line.index(waiting[0]), line.index(winners[0])
    line[place], line[other] = winners[0], first
    waiting[waiting.index(winners[0])] = first
    waiting.pop(0)


def _once(
    actors: Sequence[Actor], prefix: list[int], check: Callable[[Sequence[Actor], list[str]], Any]
) -> list[tuple[int, int]]:
    choices: list[tuple[int, int]] = []
    order: list[str] = []
    waiting: list[Actor] = []
    line = list(actors)
    while ready := [actor for actor in line if not actor.ended() and actor not in waiting]:
        chosen = prefix[len(choices)] if len(choices) < len(prefix) else 0
        choices.append((chosen, len(ready)))
        actor = ready[chosen]
        name = actor.next
        order.append(f"{line.index(actor)}:{name}")
        if not actor.go():
            waiting.append(actor)
        elif name == "commit" and waiting:
            _go_on(waiting, line)
    assert not waiting, f"some wait forever: {order}"
    for actor in actors:
        if actor.error is not None:
            raise AssertionError(f"{actor.error!r} in {order}") from actor.error
    check(actors, order)
    return choices
