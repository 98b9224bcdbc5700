"""The agent for one database: asks, and learns from what people say."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from merit.agent import Method
from merit.errors import InputError
from merit.live.answer import Answer
from merit.live.asking import Asker
from merit.live.learning import confirmed_answer, corrected_change, provenance, rejected_change
from merit.live.parts import LiveParts
from merit.live.progress import Progress
from merit.live.receipt import now
from merit.live.records import Asked, Confirmed, Corrected, Feedback, Rejected
from merit.live.selecting import SchemaSelection
from merit.memory import Entry
from merit.selection import Selection, Selector
from merit.settings import AskingSettings, BudgetSettings
from merit.types import Error, Limits, Schema, Timeout

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
        self._asker = Asker(parts, method, asking or AskingSettings(), budget or BudgetSettings(), self._limits)
        self._in_plain_code = threading.Lock()  # one event loop at a time

    # Asking

    async def ask_async(self, question: str, *, execute: bool = True, progress: Progress = None) -> Answer:
        """The answer to a question; everything that was committed to the memory before may be recalled.

        Without `execute` it is one candidate that only the guard has seen. `progress` is told what is being done.
        """
        return await self._asker.ask(question, execute=execute, progress=progress)

    def ask(self, question: str, *, execute: bool = True, progress: Progress = None) -> Answer:
        """The same, for plain code; from several threads, one after the other."""
        with self._in_plain_code:
            return _run(self.ask_async(question, execute=execute, progress=progress))

    # Learning

    def confirm(self, answer: str, *, author: str = "") -> Confirmed:
        """A person says that an answer is right: it is remembered as such."""
        asked = self._open_answer(answer)
        if not asked.status.ran:
            raise InputError(f"{asked.id}: nothing ran, so there is nothing to confirm; correct it instead")
        source = provenance(asked, author, now())
        entries = self._commit([confirmed_answer(asked, asked.sql, self._parts.schema_text, source)])
        return self._said(Confirmed(asked.id, str(source.time), author, entries))

    def reject(self, answer: str, *, reason: str = "", author: str = "") -> Rejected:
        """A person says that an answer is wrong."""
        asked = self._open_answer(answer)
        source = provenance(asked, author, now())
        change = rejected_change(asked, self._parts.schema_text, source)
        entries = self._commit([change] if change else [])
        return self._said(Rejected(asked.id, str(source.time), author, entries, reason))

    def correct(self, answer: str, sql: str, *, author: str = "") -> Corrected:
        """A person says how an answer should have been; what does not run is refused."""
        asked = self._open_answer(answer)
        result = self._parts.engine.execute(sql, self._limits)
        if isinstance(result, Error | Timeout):
            raise InputError(f"the correction does not run ({result.message}); nothing was kept")
        source, schema = provenance(asked, author, now()), self._parts.schema_text
        learned = [confirmed_answer(asked, sql, schema, source)]
        if sql.strip() != asked.sql.strip():
            learned.append(corrected_change(asked, sql, schema, source))
        return self._said(Corrected(asked.id, str(source.time), author, self._commit(learned), sql))

    def _open_answer(self, answer: str) -> Asked:
        """An answer that nothing was said about yet."""
        asked, said = self._parts.history.find(answer)
        if asked.database != self._name:
            raise InputError(f"{asked.id}: is about the database {asked.database!r}, and this one is {self._name!r}")
        if said is not None:
            what = type(said).__name__.lower()
            raise InputError(
                f"{asked.id}: was {what} already, on {said.time}{f' by {said.author}' if said.author else ''}"
            )
        return asked

    def _commit(self, entries: list[Entry]) -> tuple[str, ...]:
        committed = self._parts.memory.commit_all(entries)
        if self._parts.selection is not None:
            self._parts.selection.learn(committed)
        return tuple(entry.id for entry in committed)

    def _said(self, feedback: T) -> T:
        """Write feedback down; until then it is not acknowledged, and saying it again keeps the same entries."""
        assert isinstance(feedback, Feedback)
        self._parts.history.append(feedback)
        return feedback

    # Looking

    def history(self) -> list[Asked]:
        """The questions that were asked, in order."""
        return list(self._parts.history.answers().values())

    def select(self, question: str, *, missing: Sequence[str] = (), budget: int | None = None) -> Selection:
        """What of the schema the prompts of a question would show, and why; `budget` is in tokens."""
        selection = self._parts.selection or SchemaSelection(Selector(self._schema, dialect=self._parts.engine.dialect))
        return selection.choose(question, missing, budget)

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
