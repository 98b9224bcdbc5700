"""What a person gets for a question."""

from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any

from merit.agent import Attempt
from merit.errors import InputError
from merit.types import Rows


class AnswerStatus(StrEnum):
    """How far an answer can be relied on."""

    ANSWERED = "answered"  # enough candidates agree on it
    UNSURE = "unsure"  # it ran, but too few candidates agree
    FAILED = "failed"  # no candidate ran


@dataclass(frozen=True, slots=True)
class Answer:
    """The statement that stands, its rows, and how it was found."""

    id: str
    question: str
    sql: str
    status: AnswerStatus
    agreement: float  # the share of candidates that gave these rows, from 0 to 1; a grounded one may count less
    rows: Rows | None  # None where nothing ran
    error: str | None  # the database's words, where nothing ran
    attempts: tuple[Attempt, ...]
    recalled: tuple[str, ...]  # the ids of the entries that the model was shown
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
            raise InputError(f"{self.id}: no candidate ran, so there are no rows ({self.error})")
        return self.rows


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise InputError(f"the package {package} is not installed; install it first") from None
