"""The candidates of one question: executed once each, counted as votes, shown to the next one where they failed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from merit.agent import Attempt, Method
from merit.agent.agreement import agreement, choose, decided
from merit.agent.behaviour import Moment, PaperBehaviour
from merit.agent.rules import cast_votes, unfinished, votes
from merit.live.budget import DECLINED, Account
from merit.prompts import Prompt
from merit.sql import canonical, executed
from merit.types import Cause, Engine, Limits, Question, Regime, Rows, Status, Verdict

_MOST_SHOWN = 3  # failed statements in a prompt, the latest ones


def reason_to_decline(sql: str) -> str | None:
    """Why a candidate says that the question cannot be answered, where it does."""
    return sql.removeprefix(DECLINED) if sql.startswith(DECLINED) else None


class LiveOracle:
    """Has the database say what a candidate comes to. One that only differs in layout is not executed again."""

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


@dataclass(frozen=True, slots=True)
class Tally:
    """How the votes of some candidates stand."""

    result: float  # the weight of the result that stands; 0 where none ran
    agreeing: int  # how many candidates gave it
    declined: float  # the weight of those that say that there is no answer
    share: float  # of all votes, for what stands: the result, or that there is none

    @property
    def unanswerable(self) -> bool:
        """Whether more votes say that there is no answer than are for any result."""
        return self.declined > self.result


@dataclass(frozen=True, slots=True)
class Election:
    """How candidates of a method vote, and when no more of them are needed."""

    method: Method
    most: int  # candidates
    least: int | None = None  # after so many, enough agreement ends the asking
    enough: float = 0.5  # the share of votes

    def tally(self, attempts: Sequence[Attempt]) -> Tally:
        """How the votes stand."""
        cast = cast_votes(self.method, attempts)
        total = sum(vote.weight for vote in cast)
        share = agreement(cast)
        declined = float(sum(reason_to_decline(attempt.sql) is not None for attempt in attempts))
        stands = cast[choose(cast)].verdict
        same = [vote for vote in cast if vote.verdict.satisfied and vote.verdict.result == stands.result]
        weight, agreeing = share * total, len(same) if stands.satisfied else 0
        return Tally(weight, agreeing, declined, declined / total if declined > weight else share)

    def agreed(self, tally: Tally) -> bool:
        """Whether enough candidates agree: at least two, since one alone agrees with nothing."""
        return tally.share >= self.enough and (tally.declined if tally.unanswerable else tally.agreeing) >= 2

    def goes_on(self, attempts: Sequence[Attempt]) -> bool:
        """Whether another candidate is needed: it could change what stands, and agreement does not suffice yet."""
        left = self.most - len(attempts)
        if not votes(self.method, Regime.DBMS_ONLY):
            return unfinished(self.method, Regime.DBMS_ONLY, self.most - 1, attempts)
        tally = self.tally(attempts)
        if left <= 0 or (self.least is not None and len(attempts) >= self.least and self.agreed(tally)):
            return False
        if tally.unanswerable:
            return tally.declined <= tally.result + left
        return not decided(cast_votes(self.method, attempts), left) or tally.result < tally.declined + left
