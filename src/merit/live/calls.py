"""What a person or a program hands to an agent: texts that can be sent, and calls from plain code."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from merit.errors import InputError
from merit.reading import sendable

T = TypeVar("T")


class PlainCalls:
    """One event loop for all calls from plain code: a model's connections belong to the loop that opened them."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self.closed = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine returns; refused where an event loop runs already, or after the end."""
        if self.closed:
            work.close()
            raise InputError("this agent is closed; connect again")
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._runner.run(work)
        work.close()
        raise InputError(
            "an event loop runs here already, as in a notebook: use `await agent.ask_async(...)` and `await "
            "agent.close_async()` instead"
        )

    def close(self) -> None:
        """End the loop."""
        self.closed = True
        self._runner.close()


def check_text(text: str, what: str) -> None:
    """Raise for a text that cannot be written or sent, as bytes of a command line become that are not UTF-8."""
    if sendable(text) != text:
        raise InputError(f"{what} is not valid text: some of it is not UTF-8; write it again")
