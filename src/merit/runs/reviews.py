"""What a simulated reviewer said of a run's answers: which are drawn for it, and the lines of reviews.jsonl.

A review is written after the turn that it is about: until then its answer is not on record, and nothing is said.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from merit.agent import Task
from merit.errors import InputError, check_type
from merit.reading import check_fields, check_format, shown
from merit.runs.text import to_json
from merit.types import Polarity, QuestionId, ReviewKind, ReviewOutcome

FORMAT = 1
_CHANCES = 2**64  # a draw is one of so many numbers, all equally likely
_FIELDS: dict[str, type] = {
    "format": int,
    "run": str,
    "position": int,
    "question_id": object,
    "said": str,
    "sql": object,
    "learned": dict,
}


@dataclass(frozen=True, slots=True)
class ReviewPolicy:
    """Which answers a simulated reviewer sees, and what it does about those that are wrong (regime reviewed)."""

    share: float  # of all answers, from 0 to 1; which ones is drawn by seed and question
    kind: ReviewKind = ReviewKind.CORRECTIONS

    def __post_init__(self) -> None:
        check_type("share", self.share, (int, float), "a number from 0 to 1")
        if not 0 <= self.share <= 1:
            raise InputError(f"share: expected a number from 0 to 1, such as 0.3 for 30%, not {self.share!r}")
        if self.kind not in tuple(ReviewKind):
            raise InputError(f"kind: expected {' or '.join(ReviewKind)}, not {self.kind!r}")
        object.__setattr__(self, "share", float(self.share))
        object.__setattr__(self, "kind", ReviewKind(self.kind))


@dataclass(frozen=True, slots=True)
class AnswerReview:
    """What was said of an answer, and what was learned from it."""

    said: ReviewOutcome
    sql: str | None  # the correction
    learned: Mapping[Polarity, str]  # the ids of entries, at most one of a polarity


def is_drawn(policy: ReviewPolicy | None, seed: int, question: QuestionId) -> bool:
    """Whether the reviewer sees the answer to a question; what a smaller share draws, a larger one draws too."""
    if policy is None:
        return False
    drawn = hashlib.sha256(f"review:{seed}:{question}".encode("utf-8", "replace")).digest()
    return int.from_bytes(drawn[:8], "big") < policy.share * _CHANCES


def review_line(task: Task, review: AnswerReview, run: str) -> str:
    """The line of reviews.jsonl about the answer to a task."""
    return to_json(
        {
            "format": FORMAT,
            "run": run,
            "position": task.position,
            "question_id": task.question.id,
            "said": review.said,
            "sql": review.sql,
            "learned": {polarity: review.learned[polarity] for polarity in Polarity if polarity in review.learned},
        }
    )


def read_review(record: Any, where: str) -> tuple[Any, AnswerReview]:
    """The review of a parsed line, and the question that it is about."""
    check_fields(record, _FIELDS, where)
    check_format(record["format"], FORMAT, "reviews", where)
    said, sql, learned = record["said"], record["sql"], record["learned"]
    fits = said in tuple(ReviewOutcome) and (sql is not None) == (said == ReviewOutcome.CORRECTED)
    if not fits or not isinstance(sql, str | None):
        raise InputError(f"{where}: is not what a reviewer says ({shown(said)}, with the SQL {shown(sql)})")
    if not all(name in tuple(Polarity) and isinstance(entry, str) for name, entry in learned.items()):
        raise InputError(f"{where}: the field 'learned' should name entries by their polarity, not {shown(learned)}")
    entries = {Polarity(name): entry for name, entry in learned.items()}
    return record["question_id"], AnswerReview(ReviewOutcome(said), sql, entries)
