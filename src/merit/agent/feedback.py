"""What is learned from what is said about an answer: confirmed answers, confirmed changes, directions seen to fail.

People say it in live use, a simulated reviewer in the regime `reviewed`; the entries are the same. A rejection is a
word on the last change alone: where there was only one candidate, there is no change to learn from.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from merit.agent.method import Method
from merit.agent.trajectory import Attempt, Episode
from merit.failure import classify
from merit.memory import Entry, Grade, Precedent, Provenance, Repair, with_id
from merit.sql import canonical
from merit.types import Cause, Polarity, ReviewOutcome, Status, Verdict

SIMULATED_REVIEWER = "simulated reviewer"  # the author of what a benchmark's references say in place of a person
Statement = tuple[str, Verdict]  # and what became of it


@dataclass(frozen=True, slots=True)
class ExecutedStatement:
    """A candidate and what the database said."""

    sql: str
    status: Status
    error: str | None = None
    code: str | None = None  # the engine's own, for dialects whose failures are told by it


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
    def tried(self) -> Sequence[ExecutedStatement]:
        """Every candidate in its order."""
        ...


@dataclass(frozen=True, slots=True)
class EpisodeAnswer:
    """The answer of an episode."""

    sql: str
    error: str | None
    tried: Sequence[ExecutedStatement]


def only_sure(method: Method, least: Grade = Grade.TESTED) -> Method:
    """The method where nothing but people and tests say what is right.

    In a trial, showing what merely ran or agreed with itself cost accuracy.
    """
    if method.recall is None:
        return method
    return replace(method, recall=replace(method.recall, least_grade=least))


def learned_from(episode: Episode, said: ReviewOutcome, sql: str | None, run: str) -> list[Entry]:
    """What a simulated reviewer's word on an episode's answer leaves; `sql` is the correction, where it is one."""
    task, final, question = episode.task, episode.final, episode.task.question.text
    answer = EpisodeAnswer(final.sql, final.verdict.error, executed_statements(episode.attempts))
    source = Provenance(
        run=run,
        question_id=task.question.id,
        db_id=task.question.db_id,
        position=task.position,
        step=max(0, len(answer.tried) - 1),
        episode=f"{run}:{task.question.id}",
        author=SIMULATED_REVIEWER,
    )
    if said is ReviewOutcome.REJECTED:
        change = rejected_change(answer, question, task.schema, source)
        return [change] if change else []
    right = answer.sql if sql is None else sql
    learned = [confirmed_answer(question, right, task.schema, source)]
    if canonical(right) != canonical(answer.sql):
        learned.append(corrected_change(answer, question, right, task.schema, source))
    return learned


def executed_statements(attempts: Sequence[Attempt]) -> list[ExecutedStatement]:
    """Every statement that was executed, in its order; what was written before its grounding."""
    fresh = [attempt for attempt in attempts if not attempt.repeat]
    both = [part for attempt in fresh for part in (attempt.written, attempt) if part is not None]
    return [ExecutedStatement(part.sql, part.verdict.status, part.verdict.error, part.verdict.code) for part in both]


def confirmed_answer(question: str, sql: str, schema: str, source: Provenance) -> Entry:
    """A right answer."""
    outcome = Status.CORRECT
    return with_id(
        Precedent(
            id="",
            question=question,
            schema=schema,
            sql=sql,
            observed=outcome,
            outcome=outcome,
            grade=Grade.CONFIRMED,
            provenance=source,
        )
    )


def corrected_change(asked: AnswerGiven, question: str, sql: str, schema: str, source: Provenance) -> Entry:
    """From the answer that was given to the one that is said to be right."""
    before = Verdict(Status.DENOTATION_MISMATCH)
    if asked.error is not None:
        code = next((statement.code for statement in asked.tried if statement.sql == asked.sql), None)
        before = Verdict(Status.EXECUTION_ERROR, asked.error, Cause.DBMS, code=code)
    return _change(Polarity.POSITIVE, question, (asked.sql, before), (sql, Verdict(Status.CORRECT)), schema, source)


def rejected_change(asked: AnswerGiven, question: str, schema: str, source: Provenance) -> Entry | None:
    """From the last candidate that failed to an answer that is said to be wrong, where there is one."""
    failed = [tried for tried in asked.tried if tried.status is Status.EXECUTION_ERROR and tried.sql != asked.sql]
    if not failed:
        return None
    before = Verdict(Status.EXECUTION_ERROR, failed[-1].error, Cause.DBMS, code=failed[-1].code)
    after = Verdict(Status.DENOTATION_MISMATCH)
    return _change(Polarity.NEGATIVE, question, (failed[-1].sql, before), (asked.sql, after), schema, source)


def _change(
    polarity: Polarity, question: str, before: Statement, after: Statement, schema: str, source: Provenance
) -> Entry:
    failure = classify((before if polarity is Polarity.POSITIVE else after)[1], source.dialect or "sqlite")
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
