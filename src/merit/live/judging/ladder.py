"""The ladder: confirmed by a person, passed the user's checks, agreed among candidates, merely executed.

What a person rejected for a question does not count as an answer to it, however many candidates agree on it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from merit.live.answer import Answer, AnswerStatus
from merit.live.judging.checks import Checked
from merit.live.record.events import Asked, Confirmed, Corrected, Feedback, Rejected
from merit.live.record.history import History
from merit.memory import Grade
from merit.sql import canonical
from merit.types import Oracle, Question, Status, Verdict, Viewer


@dataclass(frozen=True, slots=True)
class RejectedSQL:
    """A statement that a person said is wrong for a question."""

    sql: str
    day: str
    reason: str
    scope: str | None = None  # whom that was said for

    def __str__(self) -> str:
        return f"this SQL was rejected on {self.day}{f': {self.reason}' if self.reason else ''}"


def rejected_before(
    history: History, database: str, before: Sequence[str], question: str, dialect: str, viewer: Viewer
) -> dict[str, RejectedSQL]:
    """What people rejected for this very question, by its canonical form; the last word on a statement holds.

    What somebody said only for themselves, or for another team, does not count for this person.
    """
    words = history.judged(history.same_question(database, before, question, judged=True))
    return rejected_in([(asked, feedback) for asked, feedback in words if viewer.sees(feedback.scope or None)], dialect)


def rejected_in(words: Iterable[tuple[Asked, Feedback]], dialect: str) -> dict[str, RejectedSQL]:
    """The same, of what was said about some answers to one question, in its order."""
    rejected = dict[str, RejectedSQL]()
    for asked, feedback in words:
        if right := right_sql(asked, feedback):
            rejected.pop(canonical(right, dialect), None)
        if wrong := wrong_sql(asked, feedback, dialect):
            reason = feedback.reason if isinstance(feedback, Rejected) else ""
            rejected[canonical(wrong, dialect)] = RejectedSQL(wrong, feedback.time[:10], reason, feedback.scope or None)
    return rejected


@dataclass(frozen=True, slots=True)
class RejectionOracle:
    """An oracle that knows what people rejected for the question: it counts as wrong, whatever it returns."""

    oracle: Oracle
    rejected: Mapping[str, RejectedSQL]
    dialect: str

    async def judge(self, question: Question, sql: str) -> Verdict:
        """The oracle's verdict, unless a person's word stands against it."""
        verdict = await self.oracle.judge(question, sql)
        if verdict.satisfied and canonical(sql, self.dialect) in self.rejected:
            return Verdict(Status.DENOTATION_MISMATCH)
        return verdict


def right_sql(asked: Asked, feedback: Feedback) -> str:
    """What feedback says is right, if it says so."""
    return asked.sql if isinstance(feedback, Confirmed) else feedback.sql if isinstance(feedback, Corrected) else ""


def wrong_sql(asked: Asked, feedback: Feedback, dialect: str) -> str:
    """What feedback says is wrong, if it says so."""
    right = right_sql(asked, feedback)
    return "" if right and canonical(right, dialect) == canonical(asked.sql, dialect) else asked.sql


def with_objections(answer: Answer, rejected: RejectedSQL | None, checked: Checked) -> Answer:
    """An answer with what speaks against it, so that it is not relied on."""
    remarks = [str(rejected)] if rejected else []
    remarks += [f"the check {name!r} failed: {why}" for name, why in checked.failed]
    status = AnswerStatus.UNSURE if remarks and answer.rows is not None else answer.status
    return replace(answer, status=status, remarks=tuple(remarks), passed=checked.passed)


def grade_earned(answer: Answer, checked: Checked, agreed: bool) -> Grade | None:
    """The grade of an answer that no person has judged; none for one that a check or a person speaks against."""
    if answer.rows is None or answer.remarks:
        return None
    if checked.tested:
        return Grade.TESTED
    return Grade.AGREED if agreed else Grade.EXECUTED
