"""What is asked, tried, judged and named."""

from dataclasses import dataclass
from enum import StrEnum

QuestionId = int | str


class Status(StrEnum):
    """What an attempt came to (paper, section 3.1)."""

    CORRECT = "CORRECT"
    DENOTATION_MISMATCH = "DENOTATION_MISMATCH"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    TIMEOUT = "TIMEOUT"
    EXECUTED = "EXECUTED"  # it ran; whether it is right is not known (only in regimes without an oracle)


class Regime(StrEnum):
    """How much of the truth an agent is told (docs/spec.md, feedback regimes)."""

    DENOTATION_CONFIRMED = "denotation_confirmed"  # right or wrong
    DBMS_ONLY = "dbms_only"  # whether it ran
    REVIEWED = "reviewed"  # whether it ran; a simulated reviewer sees some answers once they are recorded

    @property
    def has_oracle(self) -> bool:
        """Whether an episode hears what is right; elsewhere it hears what ran."""
        return self is Regime.DENOTATION_CONFIRMED


class ReviewOutcome(StrEnum):
    """What a reviewer says about an answer."""

    CONFIRMED = "confirmed"  # it is right
    REJECTED = "rejected"  # it is wrong
    CORRECTED = "corrected"  # it is wrong, and this is how it should have been


class ReviewKind(StrEnum):
    """How much a simulated reviewer does about a wrong answer."""

    CORRECTIONS = "corrections"  # says how it should have been
    THUMBS = "thumbs"  # says that it is wrong


class Distinct(StrEnum):
    """What becomes of the word DISTINCT in both queries before Spider's rule compares what they return."""

    KEPT = "kept"  # as the paper's authors compared, the official evaluator's --keep_distinct
    DROPPED = "dropped"  # as the official evaluator does by itself, and leaderboards with it


class Cause(StrEnum):
    """Why a statement gave no rows, told by type and never by the wording of a message."""

    DBMS = "dbms"  # the database said no: syntax, names, types, ...
    READ_ONLY = "read_only"  # it tried to write
    FORBIDDEN = "forbidden"  # it reached outside: ATTACH, PRAGMA, extensions, files
    STATEMENTS = "statements"  # not exactly one statement, or one that is not a query
    TOO_LARGE = "too_large"  # it ran into a cap: text, cell, result, memory, temporary space
    CRASHED = "crashed"  # it took the database engine down with it
    TIMEOUT = "timeout"  # the deadline fired
    DATABASE_MISSING = "database_missing"  # environment: no such file
    DATABASE_BUSY = "database_busy"  # environment: locked by another process
    DATABASE_UNREADABLE = "database_unreadable"  # environment: damaged or failing

    @property
    def environmental(self) -> bool:
        """Whether the environment is at fault rather than the statement."""
        return self in (Cause.DATABASE_MISSING, Cause.DATABASE_BUSY, Cause.DATABASE_UNREADABLE)


class FailureType(StrEnum):
    """The coarse kinds of failure that condition recall (paper, section 3.2)."""

    RESULT_MISMATCH = "RESULT_MISMATCH"
    SCHEMA_LINKING = "SCHEMA_LINKING"
    AGGREGATION = "AGGREGATION"
    FILTER_VALUE = "FILTER_VALUE"
    EXECUTION = "EXECUTION"
    SYNTAX = "SYNTAX"
    UNKNOWN = "UNKNOWN"

    @property
    def in_words(self) -> str:
        """The paper's name of it, as models and both channels of recall read it."""
        return "Filter/Value" if self is FailureType.FILTER_VALUE else self.value.replace("_", " ").title()


class FailureSubtype(StrEnum):
    """What exactly was observed (paper, appendix on the classifier)."""

    MISSING_TABLE = "MISSING_TABLE"
    MISSING_COLUMN = "MISSING_COLUMN"
    MISSING_VIEW = "MISSING_VIEW"
    AMBIGUOUS_COLUMN = "AMBIGUOUS_COLUMN"
    UNKNOWN_FUNCTION = "UNKNOWN_FUNCTION"
    PARSE_FAILURE = "PARSE_FAILURE"
    DBMS_AGGREGATE_MISUSE = "DBMS_AGGREGATE_MISUSE"
    TYPE_MISMATCH = "TYPE_MISMATCH"
    READ_ONLY_VIOLATION = "READ_ONLY_VIOLATION"
    DB_NOT_FOUND = "DB_NOT_FOUND"
    TIMEOUT = "TIMEOUT"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Failure:
    """The name of a failure: a coarse type that recall goes by, and a subtype for people."""

    type: FailureType
    subtype: FailureSubtype


class Polarity(StrEnum):
    """What an entry is: a confirmed change, a direction seen to fail, or (beyond the paper) a confirmed answer."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    PRECEDENT = "precedent"


@dataclass(frozen=True, slots=True)
class Question:
    """One benchmark question as the agent may see it: without its answer."""

    id: QuestionId
    db_id: str
    text: str
    evidence: str | None = None  # None where the benchmark gives none at all
    difficulty: str = ""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A solved question of a training split, to be shown as an example."""

    question: str
    sql: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judge's answer: a status, the database's own words, and the typed cause behind them."""

    status: Status
    error: str | None = None
    cause: Cause | None = None
    result: str | None = None  # the rows it gave, as a hash, where no reference decides; empty for no rows
    code: str | None = None  # the engine's own code; benchmarks record none, since SQLite's failures go by text

    @property
    def correct(self) -> bool:
        """Whether the attempt is right."""
        return self.status is Status.CORRECT

    @property
    def satisfied(self) -> bool:
        """Whether nothing is known to be wrong: right, or running where no reference decides."""
        return self.status in (Status.CORRECT, Status.EXECUTED)
