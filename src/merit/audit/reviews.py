"""What a simulated reviewer said, derived again: which answers it saw, what it said of them, what was learned.

A correction is a reference that has left the oracle. So every entry that a prompt showed is held against the draw once
more: it must come from an earlier answer that was drawn for review.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from merit.agent import SIMULATED_REVIEWER, Recalled, Task, learned_from
from merit.audit.against_data import AuditData
from merit.audit.findings import Findings
from merit.errors import AuditFailed
from merit.memory import Precedent
from merit.oracle import SimulatedReviewer
from merit.runs import RunView, Turn, is_drawn
from merit.runs.paths import REVIEWS
from merit.runs.reviews import review_line
from merit.runs.text import read_lines
from merit.types import Entry, QuestionId, ReviewKind, ReviewOutcome


@dataclass(slots=True)
class ReviewReplay:
    """The reviews of a run, gone through in the order of its turns; `reviewer` is None without the data."""

    view: RunView
    reviewer: SimulatedReviewer | None
    lines: Iterator[tuple[int, str]]
    count: int = 0
    corrections: set[QuestionId] = field(default_factory=set)  # the questions whose answers were corrected
    shared_references: int = 0  # prompts with a correction of another question that has the same reference

    @classmethod
    def of(cls, view: RunView, data: AuditData | None) -> Self:
        """Those of a run; none in other regimes."""
        review = view.identity.review
        reviewer = SimulatedReviewer(data.benchmark.dataset, review.kind) if review and data else None
        return cls(view, reviewer, iter(list(enumerate(read_lines(view.path / REVIEWS), 1)) if review else []))

    def entries_left_by(self, turn: Turn, where: str) -> list[Entry]:
        """What the review of a turn's answer must have left; nothing in other regimes."""
        question, review = turn.episode.task.question, turn.review
        if is_drawn(self.view.identity.review, self.view.identity.seed, question.id) != (review is not None):
            fault = "was reviewed, but is not drawn" if review else "is drawn for review, but was not reviewed"
            raise AuditFailed(f"{where}: its answer {fault} by the seed and the share that the manifest names")
        if review is None:
            return []
        number, line = next(self.lines)  # there: the turn's review was read from this file
        at = f"{self.view.path / REVIEWS}, line {number} (question {question.id})"
        if review.said is not self._said(turn):
            raise AuditFailed(f"{at}: the answer was {review.said}, but the reviewer would have {self._said(turn)} it")
        if self.reviewer and self.reviewer.review(question, right=turn.final_correct) != (review.said, review.sql):
            raise AuditFailed(f"{at}: the correction is not what the reviewer says of this question")
        entries = learned_from(turn.episode, review.said, review.sql, self.view.manifest.run)
        if {entry.polarity: entry.id for entry in entries} != review.learned:
            raise AuditFailed(f"{at}: what was learned does not follow from the answer and what was said of it")
        if review_line(turn.episode.task, review, self.view.manifest.run) != line:
            raise AuditFailed(f"{at}: is not the review of this turn")
        self.count += 1
        if review.said is ReviewOutcome.CORRECTED:
            self.corrections.add(question.id)
        return entries

    def check_shown(self, recalled: Recalled, task: Task, where: str) -> None:
        """Complain unless all that a prompt shows was learned from earlier answers that were drawn for review."""
        identity = self.view.identity
        if identity.review is None:
            return
        shown: list[Entry] = [*recalled.positives, *recalled.negatives, *recalled.precedents]
        for entry in shown:
            source = entry.provenance
            drawn = is_drawn(identity.review, identity.seed, source.question_id)
            if source.author != SIMULATED_REVIEWER or not drawn or source.position >= task.position:
                raise AuditFailed(f"{where}: entry {entry.id} was shown, but comes from no earlier, reviewed answer")
        corrections = [entry for entry in shown if entry.provenance.question_id in self.corrections]
        texts = [entry.sql if isinstance(entry, Precedent) else entry.after for entry in corrections]
        if self.reviewer and any(self.reviewer.is_reference(task.question, text) for text in texts):
            self.shared_references += 1

    def add_to(self, findings: Findings) -> None:
        """Add to them what was gone through."""
        findings.reviews, findings.corrections = self.count, len(self.corrections)
        findings.shared_references = self.shared_references

    def _said(self, turn: Turn) -> ReviewOutcome:
        """What is said of a right or wrong answer by a reviewer of this kind."""
        assert self.view.identity.review is not None
        if turn.final_correct:
            return ReviewOutcome.CONFIRMED
        corrects = self.view.identity.review.kind is ReviewKind.CORRECTIONS
        return ReviewOutcome.CORRECTED if corrects else ReviewOutcome.REJECTED
