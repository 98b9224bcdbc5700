"""The nouns that cross rooms. Nothing here knows a reference answer."""

from dataclasses import dataclass
from enum import StrEnum

QuestionId = int | str


class Status(StrEnum):
    """What an attempt came to (paper, section 3.1)."""

    CORRECT = "CORRECT"
    DENOTATION_MISMATCH = "DENOTATION_MISMATCH"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    TIMEOUT = "TIMEOUT"


class Cause(StrEnum):
    """Why a statement gave no rows, told by type and never by the wording of a message."""

    DBMS = "dbms"  # the database said no: syntax, names, types, ...
    READ_ONLY = "read_only"  # it tried to write
    FORBIDDEN = "forbidden"  # it reached outside: ATTACH, PRAGMA, extensions, files
    STATEMENTS = "statements"  # not exactly one statement, or one that is no query
    TOO_LARGE = "too_large"  # it ran into a cap: text, cell, result, memory, temporary space
    CRASHED = "crashed"  # it took the database engine down with it
    TIMEOUT = "timeout"  # the deadline fired
    DATABASE_MISSING = "database_missing"  # environment: no such file
    DATABASE_UNREADABLE = "database_unreadable"  # environment: damaged, locked or failing

    @property
    def environmental(self) -> bool:
        """Whether the environment is at fault rather than the statement."""
        return self in (Cause.DATABASE_MISSING, Cause.DATABASE_UNREADABLE)


@dataclass(frozen=True, slots=True)
class Question:
    """One benchmark question as the agent may see it: without its answer."""

    id: QuestionId
    db_id: str
    text: str
    evidence: str = ""
    difficulty: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judge's answer: a status, the database's own words, and the typed cause behind them."""

    status: Status
    error: str | None = None
    cause: Cause | None = None

    @property
    def correct(self) -> bool:
        """Whether the attempt is right."""
        return self.status is Status.CORRECT
