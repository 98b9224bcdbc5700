"""What is told while a question is worked on: one typed event for each step, as a sentence with `str`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from merit.errors import counted
from merit.live.answer import LeftOut
from merit.memory import Match
from merit.types import Status


@dataclass(frozen=True, slots=True)
class Started:
    """A question is prepared: what its first prompt shows of the database and of the memory."""

    answer: str  # the id that its answer will have
    question: str
    position: int  # the memory's sequence number: nothing that is committed later can be recalled
    tables: Mapping[str, tuple[str, ...]]  # with their columns
    left_out: LeftOut
    mentioned: tuple[str, ...]  # the columns of stored values that the question mentions
    recalled: tuple[Match, ...]

    def __str__(self) -> str:
        return f"{counted(len(self.tables), 'table')} shown, {counted(len(self.recalled), 'entry', 'entries')} recalled"


@dataclass(frozen=True, slots=True)
class Asking:
    """A prompt is sent to the model."""

    number: int  # of the candidate, from 1
    most: int

    def __str__(self) -> str:
        return f"candidate {self.number} of {self.most}: asking the model"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate and what the database said about it."""

    number: int
    sql: str  # empty where the model declined or wrote none
    grounded_from: str | None  # as the model wrote it, where grounding changed it
    changes: tuple[tuple[str, str], ...]  # what grounding changed: the rule, and a sentence
    status: Status
    error: str | None
    rows: int | None  # how many it returned
    reason: str  # why the model says that there is no answer, where it does
    votes: Mapping[str, float]  # how they stand: the fields of `candidates.Tally`
    recalled: tuple[str, ...]  # the ids of the entries that its own prompt showed

    def __str__(self) -> str:
        if self.reason:
            return f"the model says that the database holds no answer: {self.reason}"
        if self.rows is not None:
            return f"the database returned {counted(self.rows, 'row')}"
        return f"the database said: {self.error}"


ProgressEvent = Started | Asking | Candidate
Progress = Callable[[ProgressEvent], object] | None  # is told what is being done, perhaps from another thread


def tell(progress: Progress, event: ProgressEvent) -> None:
    """Pass an event on, if anything listens."""
    if progress is not None:
        progress(event)
