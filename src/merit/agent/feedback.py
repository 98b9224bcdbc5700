"""What is learned from what is said about an answer: confirmed answers, confirmed changes, directions seen to fail.

People say it in live use, a simulated reviewer in the regime `reviewed`; the entries are the same. A rejection is a
word on the last change alone: where there was only one candidate, there is no change to learn from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from merit.agent.trajectory import Attempt
from merit.failure import classify
from merit.memory import Entry, Grade, Precedent, Provenance, Repair, with_id
from merit.types import Cause, Polarity, Status, Verdict

Statement = tuple[str, Verdict]  # and what became of it


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate and what the database said."""

    sql: str
    status: Status
    error: str | None = None


class AnswerGiven(Protocol):
    """An answer that something can be said about."""

    @property
    def sql(self) -> str:
        """The statement that stands."""
        ...

    @property
    def error(self) -> str | None:
        """The database's words, where no candidate ran."""
        ...

    @property
    def tried(self) -> Sequence[Tried]:
        """Every candidate in its order."""
        ...


def tried(attempts: Sequence[Attempt]) -> list[Tried]:
    """Every statement that was executed, in its order; what was written before its grounding."""
    fresh = [attempt for attempt in attempts if not attempt.repeat]
    statements = [one for attempt in fresh for one in (attempt.written, attempt) if one is not None]
    return [Tried(one.sql, one.verdict.status, one.verdict.error) for one in statements]


def confirmed_answer(question: str, sql: str, schema: str, source: Provenance) -> Entry:
    """A right answer."""
    outcome = Status.CORRECT
    return with_id(Precedent("", question, schema, sql, outcome, outcome, Grade.CONFIRMED, source))


def corrected_change(asked: AnswerGiven, question: str, sql: str, schema: str, source: Provenance) -> Entry:
    """From the answer that was given to the one that is said to be right."""
    cause = Cause.DBMS if asked.error is not None else None
    status = Status.EXECUTION_ERROR if asked.error is not None else Status.DENOTATION_MISMATCH
    before = Verdict(status, asked.error, cause)
    return _change(Polarity.POSITIVE, question, (asked.sql, before), (sql, Verdict(Status.CORRECT)), schema, source)


def rejected_change(asked: AnswerGiven, question: str, schema: str, source: Provenance) -> Entry | None:
    """From the last candidate that failed to an answer that is said to be wrong, where there is one."""
    failed = [tried for tried in asked.tried if tried.status is Status.EXECUTION_ERROR and tried.sql != asked.sql]
    if not failed:
        return None
    before = Verdict(Status.EXECUTION_ERROR, failed[-1].error, Cause.DBMS)
    after = Verdict(Status.DENOTATION_MISMATCH)
    return _change(Polarity.NEGATIVE, question, (failed[-1].sql, before), (asked.sql, after), schema, source)


def _change(
    polarity: Polarity, question: str, before: Statement, after: Statement, schema: str, source: Provenance
) -> Entry:
    failure = classify((before if polarity is Polarity.POSITIVE else after)[1])
    return with_id(
        Repair(
            id="",
            polarity=polarity,
            question=question,
            schema=schema,
            before=before[0],
            status=before[1].status,
            db_error=before[1].error,
            type=failure.type,
            subtype=failure.subtype,
            after=after[0],
            outcome=after[1].status,
            outcome_error=after[1].error,
            grade=Grade.CONFIRMED,
            provenance=source,
        )
    )
