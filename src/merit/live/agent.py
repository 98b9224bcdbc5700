"""The agent for one database: asks a model, executes, grounds, votes, and learns from what people say."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import uuid4

from merit import prompts
from merit.agent import (
    Agent,
    Episode,
    FirstAnswer,
    Method,
    RememberingOracle,
    Task,
    ThreadedOracle,
    Work,
    repair,
)
from merit.agent.agreement import agreement
from merit.agent.rules import cast_votes
from merit.errors import InputError
from merit.live.answer import Answer, AnswerStatus
from merit.live.history import History
from merit.live.learning import confirmed_answer, corrected_change, provenance, rejected_change
from merit.live.receipt import fingerprint, now, shown_entries, tried
from merit.live.records import Asked, Confirmed, Corrected, Feedback, Rejected
from merit.live.selecting import SchemaSelection, left_out
from merit.memory import Cue, Entry, Memory, Recall
from merit.prompts import Family, LiveContext, StoredValues, live_context, live_mentions, parse_sql
from merit.sql import executed
from merit.types import (
    Completer,
    Engine,
    Error,
    FailureType,
    Limits,
    Question,
    Regime,
    Rows,
    Sampling,
    Schema,
    Timeout,
    Verdict,
)

T = TypeVar("T")
Progress = Callable[[str], object] | None  # is told what is being done


@dataclass(frozen=True, slots=True)
class LiveParts:
    """What an agent works with; `values` is None where no rows may be shown to a model."""

    engine: Engine
    schema: Schema  # its `db_id` is the database's name in the memory: the same for all copies that share it
    completer: Completer
    memory: Memory
    history: History
    values: StoredValues | None = None
    notes: tuple[str, ...] = ()  # rules and meanings that people wrote down
    selection: SchemaSelection | None = None  # None: the whole schema is always shown


class LiveAgent:
    """Answers questions about one database. Usable from one event loop, or from plain code, at a time."""

    def __init__(
        self, parts: LiveParts, method: Method, *, budget: int = 7, enough: float = 0.5, limits: Limits | None = None
    ) -> None:
        """`budget` is how many candidates may follow the first, `enough` the share that must agree."""
        self._parts = parts
        self._method = method
        self._budget = budget
        self._enough = enough
        self._limits = limits or Limits(rows=10_000)
        self._schema = parts.schema
        self._name = parts.schema.db_id
        if not parts.schema.tables:
            raise InputError(f"{self._name}: has no tables to ask about; check the rights, or name another database")
        self._family = Family("own", evidence=False, dialect=parts.engine.dialect, live=True)

    # Asking

    async def ask_async(self, question: str, *, progress: Progress = None) -> Answer:
        """The answer to a question; everything that was committed to the memory before may be recalled."""
        if not question.strip():
            raise InputError("the question is empty; ask something, such as 'How many orders were there in May?'")
        identity, memory = uuid4().hex[:12], self._parts.memory
        memory.refresh()
        position = memory.sequence
        asked = Question(identity, self._name, question)
        live = self._context(asked)
        recalled = self._recall(asked, position)
        prompt = prompts.initial(
            self._family, asked, self._schema.text(), recalled.precedents if recalled else (), live
        )
        _tell(progress, "asking the model")
        reply = await self._parts.completer.complete(prompt.text, Sampling())
        first = FirstAnswer(
            parse_sql(reply.text), reply.text, reply.prompt_tokens, reply.output_tokens, reply.tokens_estimated
        )
        task = Task(asked, self._schema.text(), position, first, position + 1, self._schema, live)
        rows: dict[str, Rows] = {}
        episode = await self._episode(task, rows, progress)
        answer = self._answer(episode, rows, recalled)
        self._parts.history.append(self._asked(answer, position, prompt.sha256))
        return answer

    def ask(self, question: str, *, progress: Progress = None) -> Answer:
        """The same, for plain code."""
        return _run(self.ask_async(question, progress=progress))

    async def _episode(self, task: Task, rows: dict[str, Rows], progress: Progress) -> Episode:
        def judge(_question: Question, sql: str) -> Verdict:
            _tell(progress, "executing a candidate")
            result = self._parts.engine.execute(sql, self._limits)
            if isinstance(result, Rows):
                rows[sql] = result
            return executed(result, self._name, coded=self._family.dialect != "sqlite")

        work = Work()
        oracle = RememberingOracle(ThreadedOracle(judge), {}, work)
        agent = Agent(
            self._method,
            self._budget,
            self._family,
            self._parts.completer,
            oracle,
            self._parts.memory,
            Regime.DBMS_ONLY,
            work=work,
        )
        return await repair(agent, task)

    def _answer(self, episode: Episode, rows: dict[str, Rows], recalled: Recall | None) -> Answer:
        final, share = episode.final, agreement(cast_votes(self._method, episode.attempts))
        status = AnswerStatus.ANSWERED if share >= self._enough else AnswerStatus.UNSURE
        if not final.verdict.satisfied:
            status, share = AnswerStatus.FAILED, 0.0
        shown = dict.fromkeys(entry.id for entry in shown_entries(recalled))
        for attempt in episode.attempts:
            shown |= dict.fromkeys(entry.id for entry in shown_entries(attempt.recall))
        question = episode.task.question
        return Answer(
            str(question.id),
            question.text,
            final.sql,
            status,
            share,
            rows.get(final.sql),
            final.verdict.error,
            episode.attempts,
            tuple(shown),
        )

    def _asked(self, answer: Answer, position: int, prompt_sha256: str) -> Asked:
        identity = self._parts.completer.identity
        return Asked(
            id=answer.id,
            time=now(),
            question=answer.question,
            database=self._name,
            dialect=self._family.dialect,
            schema_fingerprint=fingerprint(self._schema),
            position=position,
            method=self._method.name,
            model=f"{identity.name}@{identity.revision}" if identity.revision else identity.name,
            first_prompt_sha256=prompt_sha256,
            sql=answer.sql,
            status=answer.status,
            agreement=answer.agreement,
            error=answer.error,
            tried=tuple(tried(answer.attempts)),
            recalled=answer.recalled,
        )

    def _context(self, question: Question) -> LiveContext:
        dialect, values = self._family.dialect, self._parts.values
        chosen = self._parts.selection.choose(question.text) if self._parts.selection else None
        context = live_context(chosen.schema if chosen else self._schema, dialect, values)
        mentions = live_mentions(question, dialect, values) if values is not None else ()
        return replace(context, mentions=mentions, notes=(*self._parts.notes, *(left_out(chosen) if chosen else ())))

    def _recall(self, question: Question, position: int) -> Recall | None:
        policy = self._method.recall
        if policy is None:
            return None
        cue = Cue(
            question=question.text,
            question_id=question.id,
            db_id=question.db_id,
            position=position + 1,
            step=0,
            sql="",
            failure_context="",
            type=FailureType.UNKNOWN,
        )
        return self._parts.memory.recall(cue, policy)

    # Learning

    def confirm(self, answer: str, *, author: str = "") -> Confirmed:
        """A person says that an answer is right: it is remembered as such."""
        asked = self._open_answer(answer)
        if asked.status is AnswerStatus.FAILED:
            raise InputError(f"{asked.id}: no candidate ran, so there is nothing to confirm; correct it instead")
        source = provenance(asked, author, now())
        entries = self._commit([confirmed_answer(asked, asked.sql, self._schema.text(), source)])
        return self._said(Confirmed(asked.id, str(source.time), author, entries))

    def reject(self, answer: str, *, reason: str = "", author: str = "") -> Rejected:
        """A person says that an answer is wrong."""
        asked = self._open_answer(answer)
        source = provenance(asked, author, now())
        change = rejected_change(asked, self._schema.text(), source)
        entries = self._commit([change] if change else [])
        return self._said(Rejected(asked.id, str(source.time), author, entries, reason))

    def correct(self, answer: str, sql: str, *, author: str = "") -> Corrected:
        """A person says how an answer should have been; what does not run is refused."""
        asked = self._open_answer(answer)
        result = self._parts.engine.execute(sql, self._limits)
        if isinstance(result, Error | Timeout):
            raise InputError(f"the correction does not run ({result.message}); nothing was kept")
        source, schema = provenance(asked, author, now()), self._schema.text()
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


def _tell(progress: Progress, what: str) -> None:
    if progress is not None:
        progress(what)


def _run(work: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise InputError("an event loop runs here already, as in a notebook: use `await agent.ask_async(...)` instead")
