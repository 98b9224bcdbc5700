"""Asking: a question becomes candidates, votes and an answer that is written down."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from merit.agent import Agent, Attempt, Episode, FirstAnswer, Method, Task, repair
from merit.agent.rules import chosen
from merit.errors import BudgetSpent, InputError, MeritError, check_type
from merit.live.answer import Answer
from merit.live.asking.candidates import LiveBehaviour, LiveOracle
from merit.live.asking.deciding import answer_of, answer_without, unexecuted
from merit.live.asking.declining import declines
from merit.live.asking.election import Election
from merit.live.asking.preparing import AskedBefore, Prepared, live_family, prepare
from merit.live.asking.progress_events import candidate, started
from merit.live.asking.settling import check_and_keep
from merit.live.asking.widening import Widening
from merit.live.budget import Account, AccountedCompleter
from merit.live.calls import check_text
from merit.live.judging.ladder import RejectionOracle
from merit.live.parts import LiveParts
from merit.live.progress import Progress, tell
from merit.live.record.event_making import asked_event, spent_event
from merit.live.record.events import Asked, today
from merit.models import Usage
from merit.prompts import parse_sql
from merit.settings import AskingSettings, BudgetSettings
from merit.types import Limits, Oracle, Regime, Sampling

_LONGEST = 10_000  # characters of a question
_REGIME = Regime.DBMS_ONLY


@dataclass(frozen=True, slots=True)
class Asker:
    """Answers questions about one database, also several at the same time on one event loop."""

    parts: LiveParts
    method: Method
    asking: AskingSettings = field(default_factory=AskingSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    limits: Limits = field(default_factory=lambda: Limits(rows=10_000))
    under_way: list[Account] = field(default_factory=list)  # of the questions that are being asked

    def __post_init__(self) -> None:
        if self.budget.prices is None and (self.budget.cost, self.budget.cost_per_day) != (None, None):
            raise InputError("a limit on cost needs 'prices', of a million prompt and output tokens")

    async def ask(
        self,
        question: str,
        *,
        execute: bool = True,
        memory: bool = True,
        progress: Progress = None,
        earlier: Sequence[Asked] = (),
        again: AskedBefore | None = None,
        sql: str | None = None,
        author: str = "",
    ) -> Answer:
        """The answer to a question; everything that was committed to the memory before may be recalled.

        `earlier` are the answers of the same conversation, oldest first: prompts show their questions and SQL. With
        `again` it is a question that was asked before, and nothing may be recalled that was not known then. `sql`
        is a statement that takes the place of the model's first candidate.
        It is written down before it is returned. So is what a question took that failed or was cancelled: it counts
        for the day. Without `memory` that is all that is written down, and nothing that was learned enters. `author`
        is who asks.
        """
        check_question(question)
        sql = None if sql is None else _checked_sql(sql)
        account = Account(self.budget, lambda: self._earlier_today(account))
        self.under_way.append(account)
        try:
            asker = self if memory else self._without_memory()
            viewer = self.parts.viewer(author)
            prepared = await asyncio.to_thread(
                prepare, asker.parts, asker.method, question, earlier, again, rejections=memory, viewer=viewer
            )
            prepared = replace(prepared, sql=sql)
            tell(progress, started(prepared))
            write = self._write if memory else self._write_cost
            try:
                answer = await asker._answer(prepared, account, execute=execute, progress=progress)
            except BaseException as error:
                if account.sent.calls:
                    write(answer_without(prepared, account, _why_it_ended(error)), prepared, account, execute)
                raise
            answer = await asyncio.to_thread(write, answer, prepared, account, execute)
        finally:
            self.under_way.remove(account)
        return answer

    async def _answer(self, prepared: Prepared, account: Account, *, execute: bool, progress: Progress) -> Answer:
        dialect = self.parts.engine.dialect
        most = self.parts.candidates(self.asking.candidates, execute=execute, sql=prepared.sql)
        completer = AccountedCompleter(
            self.parts.completer, account, most, progress, before=0 if prepared.sql is None else 1
        )
        first = await self._first(prepared, completer)
        if not execute:
            return unexecuted(prepared, first.sql, dialect, account)
        schema, position = self.parts.schema, prepared.position
        text = self.parts.schema_text
        task = Task(
            question=prepared.question,
            schema=text,
            position=position,
            first_answer=first,
            reads_from=position + 1,
            tables=schema,
            live=prepared.live,
            until=position,
            viewer=prepared.viewer,
            follow_up=prepared.whole_question,
        )
        oracle = LiveOracle(self.parts.engine, self.limits, account)
        election = Election(self.method, most, self.asking.least, self.asking.enough)
        widening, so_far = Widening(self.parts), list[Attempt]()

        def goes_on(attempts: Sequence[Attempt]) -> bool:
            so_far[:] = attempts
            if progress is not None:
                progress(candidate(prepared, attempts, election, oracle))
            return election.goes_on(attempts)

        people = RejectionOracle(oracle, prepared.rejected, dialect)
        episode, stopped = await self._episode(task, people, completer, goes_on, so_far, widening)
        answer = answer_of(prepared, episode, stopped, election, oracle, account, self.parts.calibration)
        return replace(answer, widened=widening.count)

    async def _first(self, prepared: Prepared, completer: AccountedCompleter) -> FirstAnswer:
        """The first candidate: the statement that came with the question, or else the model's."""
        if prepared.sql is not None:
            return FirstAnswer(prepared.sql, reply="")
        reply = await completer.complete(prepared.prompt.text, Sampling())
        counts = (reply.prompt_tokens, reply.output_tokens, reply.tokens_estimated)
        return FirstAnswer(parse_sql(reply.text, self.parts.engine.dialect), reply.text, *counts)

    async def _episode(
        self,
        task: Task,
        oracle: Oracle,
        completer: AccountedCompleter,
        goes_on: Callable[[Sequence[Attempt]], bool],
        so_far: list[Attempt],
        widening: Widening,
    ) -> tuple[Episode, str]:
        """The episode as far as the budget reaches, and which limit ended it."""
        method = self.method
        if method.origin is None:  # a method of another package decides by itself what its prompts show
            method = replace(method, behaviour=LiveBehaviour(messages=self.parts.values is not None))
        family, memory = live_family(self.parts), self.parts.memory
        most = self.asking.candidates - 1
        agent = Agent(
            method=method,
            budget=most,
            family=family,
            completer=completer,
            oracle=oracle,
            memory=memory,
            regime=_REGIME,
            widen=widening,
            goes_on=goes_on,
        )
        try:
            return await repair(agent, task), ""
        except BudgetSpent as spent:
            return Episode(task, tuple(so_far), (), chosen(method, _REGIME, so_far)), str(spent)

    def _without_memory(self) -> "Asker":
        """The same without anything that was learned."""
        return replace(self, parts=self.parts.without_learned(), method=replace(self.method, recall=None))

    def _write(self, answer: Answer, prepared: Prepared, account: Account, execute: bool) -> Answer:
        """Settle an answer and write it down."""

        def asked(answer: Answer) -> Asked:
            return asked_event(answer, prepared, self.parts, self.asking, account, execute=execute)

        answer, written = check_and_keep(self.parts, self.limits, answer, prepared, asked)
        self.parts.history.append(written)
        return answer

    def _write_cost(self, answer: Answer, prepared: Prepared, account: Account, execute: bool) -> Answer:  # noqa: ARG002
        """Write down what a question without memory took."""
        if account.prompts:
            self.parts.history.append(spent_event(answer, self.parts, account, "asked without memory"))
        return answer

    def _earlier_today(self, account: Account) -> Usage:
        """What the day's other questions took: those that are written down, and those under way here."""
        others = [other.taken for other in self.under_way if other is not account]
        return Usage.total([self.parts.history.sent_on(today()), *others])


def check_question(question: str) -> None:
    """Raise for a question that cannot be asked."""
    check_type("question", question, str, "a question as a text")
    if not question.strip():
        raise InputError("the question is empty; ask something, such as 'How many orders were there in May?'")
    check_text(question, "the question")
    if len(question) > _LONGEST:
        raise InputError(f"the question has {len(question)} characters, and {_LONGEST} are the most; ask a shorter one")


def _checked_sql(sql: str) -> str:
    """A first statement without blanks around it; one that cannot be a candidate is refused."""
    check_text(sql, "the SQL")
    if not sql.strip() or declines(sql):
        raise InputError("there is no SQL to repair; give a statement, or ask the question alone")
    if len(sql) > (most := Limits().sql_bytes):
        raise InputError(f"the SQL has {len(sql)} characters, and {most} are the most; give a shorter statement")
    return sql.strip()


def _why_it_ended(error: BaseException) -> str:
    return str(error) if isinstance(error, MeritError) else "it was stopped"
