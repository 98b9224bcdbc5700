"""What is remembered: the paper's x = <c, tau, delta, o, rho>, and (beyond the paper) confirmed answers.

Every SQL in an entry is the model's own, perhaps grounded, with one exception: a correction is what a person says is
right, and in the regime `reviewed` a simulated reviewer says it, who knows the references. The author in the provenance
tells.
"""

from dataclasses import dataclass
from enum import StrEnum

from merit.types.nouns import FailureSubtype, FailureType, Polarity, QuestionId, Status


class Grade(StrEnum):
    """How sure we are of an entry's outcome, best first."""

    CONFIRMED = "confirmed"  # an oracle or a person said so
    TESTED = "tested"
    AGREED = "agreed"  # most of several candidates gave the same rows
    EXECUTED = "executed"  # it ran; nothing more is known

    def at_least(self, other: "Grade") -> bool:
        """Whether this is as sure as another grade, or surer."""
        return _ORDER[self] <= _ORDER[other]


_ORDER = {grade: number for number, grade in enumerate(Grade)}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an entry comes from (the paper's rho). What is not known is None."""

    run: str
    question_id: QuestionId
    db_id: str
    position: int
    step: int
    episode: str
    author: str | None = None  # the person or program that it was learned from
    time: str | None = None  # when it was learned, ISO 8601 in UTC
    schema_fingerprint: str | None = None  # a hash of the database's schema at that time
    dialect: str | None = None  # the SQL dialect, for example sqlite
    scope: str | None = None  # whom it is for, as `types.scope` has it; None for everyone


@dataclass(frozen=True, slots=True)
class Repair:
    """A change and how it ended: what was tried, how it had failed, what it was changed to.

    A positive repair is a confirmed change: its failure is that of `before`. A negative one is a direction seen to
    fail: its failure is that of `after`, the final attempt (docs/spec.md, "Texts").
    """

    id: str
    polarity: Polarity  # POSITIVE or NEGATIVE
    question: str
    schema: str
    before: str  # the unsuccessful SQL
    status: Status  # of `before`
    db_error: str | None  # about `before`
    type: FailureType  # of `before` in a positive repair, of `after` in a negative one
    subtype: FailureSubtype
    after: str  # the SQL it was changed to
    outcome: Status  # of `after`
    outcome_error: str | None  # about `after`
    grade: Grade
    provenance: Provenance
    lesson: str | None = None  # what the model wrote about its episode, where the method asks for it

    def __post_init__(self) -> None:
        if self.polarity not in REPAIR_POLARITIES:
            raise ValueError(f"the polarity of a repair is positive or negative, not {self.polarity}")

    @property
    def failure_context(self) -> str:
        """The failure that it is recalled by: the one that the change mended, or the one that it ended in."""
        if self.polarity is Polarity.POSITIVE:
            return failure_context(self.before, self.status, self.db_error)
        return failure_context(self.after, self.outcome, self.outcome_error)

    @property
    def delta(self) -> str:
        """The change itself."""
        return f"{self.before} => {self.after}"

    @property
    def successful_direction(self) -> str:
        """How a confirmed change is told to a model and to the lexical channel."""
        return f"Observed successful transition: {self.delta}"

    @property
    def observed_error(self) -> str:
        """What the database said about the outcome; nothing about a successful one."""
        return self.outcome_error or "(none)"

    def dense_text(self) -> str:
        """What the encoder reads."""
        parts = [
            f"Question: {self.question}",
            f"Schema: {self.schema}",
            f"Failure context: {self.failure_context}",
            f"Transformation: {normalise_sql(self.before)} => {normalise_sql(self.after)}",
            f"Error type: {self.type.in_words}",
            f"Outcome: {self.outcome}",
            f"DB error: {self.observed_error}",
        ]
        return "\n".join([*parts, *([] if self.lesson is None else [f"Lesson: {self.lesson}"])])

    def lexical_text(self) -> str:
        """What BM25 reads."""
        kind = self.type.in_words
        parts = [self.question, self.failure_context, self.delta, kind, self.outcome, self.observed_error]
        if self.polarity is Polarity.POSITIVE:
            parts.append(self.successful_direction)
        return " ".join([*parts, *([] if self.lesson is None else [self.lesson])])


@dataclass(frozen=True, slots=True)
class Precedent:
    """An answer that was found right, or that stood. It is recalled by question and SQL; it has no failure."""

    id: str
    question: str
    schema: str
    sql: str
    observed: Status  # what its episode was told about the SQL
    outcome: Status  # what it counts as now: a person may have confirmed it since
    grade: Grade
    provenance: Provenance
    lesson: str | None = None  # what the model wrote about its episode, where the method asks for it

    @property
    def polarity(self) -> Polarity:
        """The pool that it is recalled from."""
        return Polarity.PRECEDENT

    @property
    def type(self) -> FailureType:
        """The failure type that it is counted under: an answer has none."""
        return FailureType.UNKNOWN

    @property
    def delta(self) -> str:
        """What is shown of it: the answer."""
        return self.sql

    def dense_text(self) -> str:
        """What the encoder reads."""
        return self.question

    def lexical_text(self) -> str:
        """What BM25 reads."""
        return f"{self.question} {self.sql}"


Entry = Repair | Precedent

REPAIR_POLARITIES = (Polarity.POSITIVE, Polarity.NEGATIVE)


def failure_context(sql: str, status: Status, error: str | None) -> str:
    """An unsuccessful attempt in one line (docs/spec.md, text fields)."""
    return f"attempted_sql={sql}; status={status}; db_error={error or '(none)'}"


def normalise_sql(sql: str) -> str:
    """SQL up to case, white space and one trailing semicolon."""
    return " ".join(sql.strip().removesuffix(";").lower().split())
