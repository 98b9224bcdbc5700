"""The agent for one database: asks, and learns from what people say."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from merit.agent import Method
from merit.errors import InputError
from merit.live.answer import Answer, AnswerStatus
from merit.live.asking import Asker
from merit.live.chat import Chat
from merit.live.feedback import Learner
from merit.live.ladder import right_sql
from merit.live.parts import LiveParts
from merit.live.progress import Progress
from merit.live.records import Asked, Confirmed, Corrected, Rejected, Withdrawn
from merit.live.why import Comparison, Why, compared, explained
from merit.settings import AskingSettings, BudgetSettings
from merit.types import Limits, Schema

T = TypeVar("T")


class LiveAgent:
    """Answers questions about one database: from plain code, or several at a time from one event loop."""

    def __init__(
        self,
        parts: LiveParts,
        method: Method,
        *,
        asking: AskingSettings | None = None,
        budget: BudgetSettings | None = None,
        limits: Limits | None = None,
    ) -> None:
        """`asking` is how many candidates a question gets, `budget` what it may take, `limits` what a statement may."""
        self._parts = parts
        self._limits = limits or Limits(rows=10_000)
        self._schema = parts.schema
        self._name = parts.schema.db_id
        if not parts.schema.tables:
            raise InputError(f"{self._name}: has no tables to ask about; check the rights, or name another database")
        self._learner = Learner(parts, self._limits)
        self._asker = Asker(parts, method, asking or AskingSettings(), budget or BudgetSettings(), self._limits)
        self._in_plain_code = threading.Lock()  # one event loop at a time

    # Asking

    async def ask_async(
        self,
        question: str,
        *,
        execute: bool = True,
        memory: bool = True,
        progress: Progress = None,
        earlier: Sequence[str] = (),
    ) -> Answer:
        """The answer to a question; everything that was committed to the memory before may be recalled.

        Without `execute` it is one candidate that only the guard has seen. Without `memory` nothing that was learned
        enters, and the answer is not in the history: it cannot be judged. `progress` is told what is being done.
        `earlier` are answers of the same conversation by their ids, oldest first; `chat` keeps track of them.
        """
        turns = [self._turn(answer) for answer in earlier]
        return await self._asker.ask(question, execute=execute, memory=memory, progress=progress, earlier=turns)

    def ask(
        self,
        question: str,
        *,
        execute: bool = True,
        memory: bool = True,
        progress: Progress = None,
        earlier: Sequence[str] = (),
    ) -> Answer:
        """The same, for plain code; from several threads, one after the other."""
        with self._in_plain_code:
            return _run(self.ask_async(question, execute=execute, memory=memory, progress=progress, earlier=earlier))

    def chat(self) -> Chat:
        """A conversation: its questions see those before them."""
        return Chat(self.ask, self.ask_async)

    def _turn(self, answer: str) -> Asked:
        """An answer as a later question of its conversation sees it: with the SQL that people left of it."""
        asked, said = self._parts.history.find(answer)
        if asked.database != self._name:
            raise InputError(f"{asked.id}: is about the database {asked.database!r}, and this one is {self._name!r}")
        return asked if said is None else replace(asked, sql=right_sql(asked, said) or "(rejected)")

    # Learning

    def confirm(self, answer: str, *, author: str = "") -> Confirmed:
        """A person says that an answer is right: it is remembered as such."""
        return self._learner.confirm(answer, author)

    def reject(self, answer: str, *, reason: str = "", author: str = "") -> Rejected:
        """A person says that an answer is wrong."""
        return self._learner.reject(answer, reason, author)

    def correct(self, answer: str, sql: str, *, author: str = "") -> Corrected:
        """A person says how an answer should have been; what does not run is refused."""
        return self._learner.correct(answer, sql, author)

    def withdraw(self, answer: str, *, reason: str = "", author: str = "") -> Withdrawn:
        """A person takes back what was said about an answer; it can be judged again."""
        return self._learner.withdraw(answer, reason, author)

    # Looking

    def why(self, answer: str) -> Why:
        """What entered the prompts of an answer, and what decided between its candidates."""
        asked, said = self._parts.history.find(answer)
        return explained(asked, said, self._parts.memory.listed(asked.recalled))

    def without_memory(self, answer: str, *, progress: Progress = None) -> Comparison:
        """Ask the question of an answer again without anything that was learned, and compare."""
        asked = self._parts.history.find(answer)[0]
        self._turn(asked.id)  # it must be about this database
        execute = asked.status is not AnswerStatus.NOT_EXECUTED
        without = self.ask(asked.question, execute=execute, memory=False, progress=progress, earlier=asked.earlier)
        return compared(asked, without, self._parts.engine, self._limits)

    def history(self) -> list[Asked]:
        """The questions that were asked, in order."""
        return list(self._parts.history.answers().values())

    @property
    def schema(self) -> Schema:
        """The database's tables as they were when this agent was made."""
        return self._schema

    def close(self) -> None:
        """Give back connections, memory and model."""
        self._parts.memory.close()
        self._parts.engine.close()
        _run(self._parts.completer.close())

    def __enter__(self) -> "LiveAgent":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _run(work: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise InputError("an event loop runs here already, as in a notebook: use `await agent.ask_async(...)` instead")
