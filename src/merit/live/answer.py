"""What a person gets for a question."""

from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import Any

from merit.agent import Attempt
from merit.errors import InputError, counted
from merit.types import Rows

_MOST_NAMED = 5  # tables that a sentence names


class AnswerStatus(StrEnum):
    """How far an answer can be relied on."""

    ANSWERED = "answered"  # enough candidates agree on it
    UNSURE = "unsure"  # it ran, but too few candidates agree
    UNANSWERABLE = "unanswerable"  # more say that the database holds no answer than agree on any result
    FAILED = "failed"  # no candidate ran
    NOT_EXECUTED = "not_executed"  # as it was asked for: one candidate, which only the guard has seen

    @property
    def ran(self) -> bool:
        """Whether there is a statement that ran, so that there are rows to speak of."""
        return self in (AnswerStatus.ANSWERED, AnswerStatus.UNSURE)


class Found(StrEnum):
    """What there is to see of an answer's rows, and where there are none, why."""

    ROWS = "rows"
    CUT = "cut"  # rows, of which the limits let through only a part
    NO_ROWS = "no_rows"  # the statement ran, and nothing fits its conditions
    NOT_PERMITTED = "not_permitted"  # the role may not read what a candidate needs
    NOT_RETRIEVED = "not_retrieved"  # there is no answer in what the model was shown, and it was not shown everything
    NOTHING = "nothing"  # for another reason, or because nothing was executed


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What of a database the model was not shown."""

    tables: tuple[str, ...] = ()  # by the selection from a schema that is too large for a prompt
    columns: int = 0  # of the tables that were shown
    include: tuple[str, ...] = ()  # the lists of merit.toml: where `include` is given, nothing else is shown
    exclude: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tables or self.columns or self.include or self.exclude)

    def __str__(self) -> str:
        named = ", ".join(self.tables[:_MOST_NAMED]) + (", ..." if len(self.tables) > _MOST_NAMED else "")
        parts = [f"{counted(len(self.tables), 'table')} ({named})"] if self.tables else []
        parts += [f"{counted(self.columns, 'column')} of the tables that were shown"] if self.columns else []
        parts += [f"everything but {', '.join(self.include)} ('include' in merit.toml)"] if self.include else []
        parts += [f"{', '.join(self.exclude)} ('exclude' in merit.toml)"] if self.exclude else []
        return " and ".join(parts)


@dataclass(frozen=True, slots=True)
class Answer:
    """The statement that stands, its rows, and how it was found."""

    id: str
    question: str
    sql: str  # empty where there is no answer
    status: AnswerStatus
    agreement: float  # the share of votes for what stands, from 0 to 1; a grounded candidate may count less
    rows: Rows | None  # None where nothing ran
    error: str | None  # the database's words, where nothing ran; the guard's, where nothing was executed
    attempts: tuple[Attempt, ...]
    recalled: tuple[str, ...]  # the ids of the entries that the model was shown
    found: Found = Found.NOTHING
    reason: str = ""  # why there is no answer, as the model says; or why asking ended before candidates agreed
    confidence: float | None = None  # how often such answers were right; None where that was never measured
    calibrated_on: str = ""  # what that was measured on
    left_out: LeftOut = field(default_factory=LeftOut)
    widened: int = 0  # how often a name that was missing had more of a large schema shown
    calls: int = 0  # of the model; what came from the cache took none
    prompt_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    remarks: tuple[str, ...] = ()  # what speaks against it: a failed check, an earlier rejection
    passed: tuple[str, ...] = ()  # the user's own checks

    def to_pandas(self) -> Any:
        """The rows as a DataFrame, where pandas is installed."""
        rows = self._given_rows()
        return _imported("pandas").DataFrame(rows.rows, columns=list(rows.columns))

    def to_arrow(self) -> Any:
        """The rows as an Arrow table, where pyarrow is installed."""
        rows = self._given_rows()
        columns = [list(column) for column in zip(*rows.rows, strict=True)] or [[] for _ in rows.columns]
        return _imported("pyarrow").table(columns, names=list(rows.columns))

    def _given_rows(self) -> Rows:
        if self.rows is None:
            raise InputError(f"{self.id}: no candidate ran, so there are no rows ({self.error or self.reason})")
        return self.rows


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise InputError(f"the package {package} is not installed; install it first") from None
