"""The simulated reviewer: the only way in which a question of the stream has its reference leave this room in a run.

It is asked about an answer only once that answer is on record (`stream.reviewing`); what it says is learned as in live
use and marked as its own, and `merit audit` proves that only later questions were shown it.
"""

from merit.data import Dataset
from merit.oracle.open import read_references
from merit.types import Question, ReviewKind, ReviewOutcome


class SimulatedReviewer:
    """Says of an answer what a careful person who knows the reference would say."""

    def __init__(self, dataset: Dataset, kind: ReviewKind) -> None:
        self._corrections = read_references(dataset) if kind is ReviewKind.CORRECTIONS else None

    def review(self, question: Question, *, right: bool) -> tuple[ReviewOutcome, str | None]:
        """What the reviewer says of an answer that is right or wrong, and the correction, where it gives one."""
        if right:
            return ReviewOutcome.CONFIRMED, None
        if self._corrections is None:
            return ReviewOutcome.REJECTED, None
        return ReviewOutcome.CORRECTED, self._corrections[question.id].strip()

    def is_reference(self, question: Question, sql: str) -> bool:
        """Whether a text is the correction that this reviewer would give to a question; for audits."""
        return self._corrections is not None and self._corrections[question.id].strip() == sql
