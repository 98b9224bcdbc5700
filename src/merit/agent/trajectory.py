"""The data of an episode: the task, its attempts and reflections, and what they came to."""

from dataclasses import dataclass

from merit.grounding import GroundingChange
from merit.memory import Recall
from merit.prompts import LiveContext
from merit.types import EVERYONE, Failure, Question, Schema, Verdict, Viewer


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """The shared first answer, y(0); tokens are 0 where they are unknown."""

    sql: str
    reply: str
    prompt_tokens: int = 0
    output_tokens: int = 0
    tokens_estimated: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A question in its place in the stream."""

    question: Question
    schema: str
    position: int
    first_answer: FirstAnswer
    reads_from: int  # entries of earlier positions than this may be recalled: `position`, but for controls
    tables: Schema | None = None  # what `schema` says, as grounding looks it up; None in runs of earlier versions
    live: LiveContext | None = None  # what the prompts for live use show of the database instead
    until: int | None = None  # the last change of the memory that may be known; None where only positions count
    viewer: Viewer = EVERYONE  # who asks: what is for other people is not recalled

    @property
    def schema_block(self) -> str:
        """What prompts that have room for one text show of the database."""
        return self.live.text() if self.live else self.schema


@dataclass(frozen=True, slots=True)
class Written:
    """A statement as the model wrote it, which the database refused, and what grounding changed in it."""

    sql: str
    verdict: Verdict
    failure: Failure
    changes: tuple[GroundingChange, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One SQL statement, the prompt that led to it, and its verdict."""

    sql: str  # the grounded form, where the database refused what was written
    reply: str
    prompt_tokens: int
    output_tokens: int
    verdict: Verdict
    failure: Failure | None
    prompt_sha256: str | None = None  # None for the shared first answer
    recall: Recall | None = None
    repeat: bool = False  # set aside: the verdict is that of the earlier candidate it repeats, and no budget was used
    tokens_estimated: bool = False  # by merit, since the model's server did not count them
    written: Written | None = None  # what grounding changed; both together are one candidate


@dataclass(frozen=True, slots=True)
class Reflection:
    """What the model said about its failures."""

    text: str
    reply: str
    prompt_tokens: int
    output_tokens: int
    prompt_sha256: str
    tokens_estimated: bool = False


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished question."""

    task: Task
    attempts: tuple[Attempt, ...]
    reflections: tuple[Reflection, ...]
    chosen: int = -1  # which attempt stands; the last, unless candidates voted

    @property
    def first(self) -> Attempt | Written:
        """The shared first answer as the model wrote it."""
        return self.attempts[0].written or self.attempts[0]

    @property
    def final(self) -> Attempt:
        """The attempt that stands."""
        return self.attempts[self.chosen]
