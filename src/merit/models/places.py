"""Places at a model: whoever a run waits for goes before those who only look ahead."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Call:
    """A question on its way to a model; it may become urgent while it waits."""

    urgent: bool
    check: Callable[[], None] = lambda: None  # complains if it may not be asked any more, once it has a place


# Set in the task that asks, so that a model need not be told in every call.
CALL: ContextVar[Call | None] = ContextVar("CALL", default=None)


class Places:
    """So many at a time; a place that is given back goes to the first urgent call, else to the first."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: list[tuple[Call, asyncio.Future[None]]] = []

    async def __aenter__(self) -> None:
        call = CALL.get() or Call(urgent=True)
        await self._take(call)
        try:
            call.check()  # much may have happened while it waited
        except BaseException:
            self._give_back()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._give_back()

    async def _take(self, call: Call) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((call, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it had been given a place already
                self._give_back()
            raise

    def _give_back(self) -> None:
        self._waiting = [one for one in self._waiting if not one[1].done()]  # who was cancelled needs no place
        if not self._waiting:
            self._free += 1
            return
        first = next((number for number, (call, _) in enumerate(self._waiting) if call.urgent), 0)
        self._waiting.pop(first)[1].set_result(None)
