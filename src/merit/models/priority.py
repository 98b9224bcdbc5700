"""A priority semaphore for model calls: calls that a run is waiting for go before prefetched ones."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Call:
    """A prompt on its way to a model; it may become urgent while it waits."""

    urgent: bool  # a run is waiting for the answer
    check: Callable[[], None] = lambda: None  # run when the call's turn comes; raises if it may no longer be sent


# Set in the task that makes the call, so that a model need not pass it on in every function.
CALL: ContextVar[Call | None] = ContextVar("CALL", default=None)


class PrioritySemaphore:
    """At most `count` calls at a time; a released slot goes to the first urgent call, or else to the first call."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: list[tuple[Call, asyncio.Future[None]]] = []

    async def __aenter__(self) -> None:
        call = CALL.get() or Call(urgent=True)
        await self._acquire(call)
        try:
            call.check()  # the budget may have run out while the call waited
        except BaseException:
            self._release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._release()

    async def _acquire(self, call: Call) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((call, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the slot had already been assigned
                self._release()
            raise

    def _release(self) -> None:
        self._waiting = [(call, turn) for call, turn in self._waiting if not turn.done()]  # drop cancelled calls
        if not self._waiting:
            self._free += 1
            return
        first = next((number for number, (call, _) in enumerate(self._waiting) if call.urgent), 0)
        self._waiting.pop(first)[1].set_result(None)
