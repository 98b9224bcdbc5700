"""The candidates of one question: executed once each, and shown to the next one where they failed."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from merit.agent import Attempt, Method
from merit.agent.behaviour import Moment, PaperBehaviour
from merit.live.asking.declining import reason_to_decline
from merit.live.budget import Account
from merit.prompts import Prompt
from merit.sql import canonical, executed
from merit.types import Cause, Engine, Limits, Question, Rows, Status, Verdict

_MOST_SHOWN = 3  # failed statements in a prompt, the latest ones


class LiveOracle:
    """Executes candidates. One that differs from an earlier one in layout alone is not executed again."""

    def __init__(self, engine: Engine, limits: Limits, account: Account) -> None:
        self._engine = engine
        self._limits = limits
        self._account = account
        self._verdicts: dict[str, Verdict] = {}
        self._rows: dict[str, Rows] = {}

    async def judge(self, question: Question, sql: str) -> Verdict:
        """The verdict of an execution within the question's time, or the one that was given before."""
        if (reason := reason_to_decline(sql)) is not None:
            return Verdict(Status.EXECUTION_ERROR, f"the database holds no answer: {reason}", Cause.STATEMENTS)
        form = canonical(sql, self._engine.dialect)
        if form not in self._verdicts:
            limits = replace(self._limits, timeout_s=self._account.statement_s(self._limits.timeout_s))
            result = await asyncio.to_thread(self._engine.execute, sql, limits)
            verdict = executed(result, question.db_id, coded=self._engine.dialect != "sqlite")
            if isinstance(result, Rows):
                self._rows[form] = result
            self._verdicts[form] = verdict
        return self._verdicts[form]

    def rows(self, sql: str) -> Rows | None:
        """The rows that a candidate returned."""
        return self._rows.get(canonical(sql, self._engine.dialect))


class LiveBehaviour(PaperBehaviour):
    """The decisions of a method, and besides: no prompt is sent without saying which statements failed before."""

    def __init__(self, *, messages: bool) -> None:
        """`messages` may show what the database said, in which stored values can stand."""
        self._messages = messages

    def ask(self, method: Method, moment: Moment) -> Prompt:
        """The method's prompt; one that does not show the episode's history gets the failures as a block."""
        if not method.history and moment.live is not None:
            moment = replace(moment, live=replace(moment.live, failed=self._failed(moment.attempts)))
        return super().ask(method, moment)

    def _failed(self, attempts: Sequence[Attempt]) -> tuple[tuple[str, str], ...]:
        failed = {
            attempt.sql: (attempt.verdict.error or attempt.verdict.status)
            if self._messages
            else attempt.failure.type.in_words
            for attempt in attempts
            if attempt.failure is not None and attempt.sql and reason_to_decline(attempt.sql) is None
        }
        return tuple(failed.items())[-_MOST_SHOWN:]
