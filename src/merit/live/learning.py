"""What is learned from what a person says: confirmed answers, confirmed changes, directions seen to fail.

Nothing else is ever kept as confirmed; what merely passed checks, agreed or ran is kept at that grade, if at all. A
rejection is the person's word on the last change alone: where there was only one candidate, there is no change to
learn from, and the history alone remembers what was rejected.
"""

from merit.failure import classify
from merit.live.records import Asked
from merit.memory import Entry, Grade, Precedent, Provenance, Repair, with_id
from merit.types import Cause, Polarity, Status, Verdict

Statement = tuple[str, Verdict]  # and what became of it


def provenance(asked: Asked, author: str, time: str) -> Provenance:
    """Where an entry comes from: the question's answer, and the person that judged it."""
    return Provenance(
        run="live",
        question_id=asked.id,
        db_id=asked.database,
        position=asked.position,
        step=max(0, len(asked.tried) - 1),
        episode=f"live:{asked.id}",
        author=author,
        time=time,
        schema_fingerprint=asked.schema_fingerprint,
        dialect=asked.dialect,
    )


def confirmed_answer(question: str, sql: str, schema: str, source: Provenance) -> Entry:
    """A right answer."""
    outcome = Status.CORRECT
    return with_id(Precedent("", question, schema, sql, outcome, outcome, Grade.CONFIRMED, source))


def kept_answer(asked: Asked, question: str, schema: str, grade: Grade, source: Provenance) -> Entry:
    """An answer that no person has judged, at the grade that it earned by itself."""
    if grade is Grade.CONFIRMED:
        raise ValueError("only a person's word confirms an answer")
    ran = Status.EXECUTED
    return with_id(Precedent("", question, schema, asked.sql, ran, ran, grade, source))


def corrected_change(asked: Asked, question: str, sql: str, schema: str, source: Provenance) -> Entry:
    """From the answer that was given to the one that a person says is right."""
    cause = Cause.DBMS if asked.error is not None else None
    status = Status.EXECUTION_ERROR if asked.error is not None else Status.DENOTATION_MISMATCH
    before = Verdict(status, asked.error, cause)
    return _change(Polarity.POSITIVE, question, (asked.sql, before), (sql, Verdict(Status.CORRECT)), schema, source)


def rejected_change(asked: Asked, question: str, schema: str, source: Provenance) -> Entry | None:
    """From the last candidate that failed to an answer that a person says is wrong, where there is one."""
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
