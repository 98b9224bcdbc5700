"""A conversation: each question is asked together with the questions and the SQL before it, never with rows."""

from collections.abc import Awaitable
from typing import Protocol

from merit.live.answer import Answer
from merit.live.progress import Progress

MOST_TURNS = 5  # earlier questions that a prompt shows


class Ask(Protocol):
    """How an agent is asked."""

    def __call__(
        self, question: str, *, progress: Progress = None, earlier: tuple[str, ...] = (), author: str = ""
    ) -> Answer:
        """The answer."""
        ...


class AskAsync(Protocol):
    """The same in an event loop."""

    def __call__(
        self, question: str, *, progress: Progress = None, earlier: tuple[str, ...] = (), author: str = ""
    ) -> Awaitable[Answer]:
        """The answer."""
        ...


class Chat:
    """The answers of a conversation, and the next question."""

    def __init__(self, ask: Ask, ask_async: AskAsync, author: str = "") -> None:
        self._ask = ask
        self._ask_async = ask_async
        self._author = author
        self.answers: list[Answer] = []  # oldest first

    def ask(self, question: str, *, progress: Progress = None) -> Answer:
        """The answer to a question that may refer to the ones before it."""
        self.answers.append(self._ask(question, progress=progress, earlier=self._earlier(), author=self._author))
        return self.answers[-1]

    async def ask_async(self, question: str, *, progress: Progress = None) -> Answer:
        """The same in an event loop."""
        earlier = self._earlier()
        self.answers.append(await self._ask_async(question, progress=progress, earlier=earlier, author=self._author))
        return self.answers[-1]

    def _earlier(self) -> tuple[str, ...]:
        return tuple(answer.id for answer in self.answers[-MOST_TURNS:])
