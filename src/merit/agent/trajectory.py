"""The data of an episode: the task, its attempts and reflections, and what they came to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from merit.memory import Recall
from merit.prompts import LiveContext
from merit.types import EVERYONE, Failure, GroundingChange, Question, Schema, Verdict, Viewer


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
    follow_up: str = ""  # in a conversation: the question behind those before it

    @property
    def whole_question(self) -> str:
        """The question as it stands by itself, by which the memory is asked."""
        return self.follow_up or self.question.text

    @property
    def schema_block(self) -> str:
        """What prompts that have room for one text show of the database."""
        return self.live.text() if self.live else self.schema


@dataclass(frozen=True, slots=True)
class RefusedStatement:
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
    written: RefusedStatement | None = None  # what grounding changed; both together are one candidate


@dataclass(frozen=True, slots=True)
class Reflection:
    """What the model wrote besides SQL: a reflection on its failures, or a note that a method of its own asks for."""

    text: str
    reply: str
    prompt_tokens: int
    output_tokens: int
    prompt_sha256: str
    tokens_estimated: bool = False
    after: int | None = None  # of a note: how many attempts had been made. Reflections follow one attempt each


def reflections_until(reflections: Sequence[Reflection], attempts: int) -> tuple[Reflection, ...]:
    """What had been written when at most so many attempts had been made."""
    return tuple(reflection for after, reflection in _placed(reflections) if after <= attempts)


def reflections_at(reflections: Sequence[Reflection], attempts: int) -> tuple[Reflection, ...]:
    """What was written when exactly so many attempts had been made."""
    return tuple(reflection for after, reflection in _placed(reflections) if after == attempts)


def notes_at(reflections: Sequence[Reflection], attempts: int) -> tuple[Reflection, ...]:
    """The notes that were written when exactly so many attempts had been made; reflections are none."""
    return tuple(reflection for reflection in reflections if reflection.after == attempts)


def _placed(reflections: Sequence[Reflection]) -> Iterator[tuple[int, Reflection]]:
    """Each reflection with the number of attempts that it follows."""
    numbers = count(1)
    return ((next(numbers) if reflection.after is None else reflection.after, reflection) for reflection in reflections)


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished question."""

    task: Task
    attempts: tuple[Attempt, ...]
    reflections: tuple[Reflection, ...]
    chosen: int = -1  # which attempt stands; the last, unless candidates voted

    @property
    def first(self) -> Attempt | RefusedStatement:
        """The shared first answer as the model wrote it."""
        return self.attempts[0].written or self.attempts[0]

    @property
    def lesson(self) -> str | None:
        """The last note that was written once the episode had ended: what its entry has to say besides the change."""
        last = self.reflections[-1] if self.reflections else None
        return last.text if last is not None and last.after == len(self.attempts) else None

    @property
    def final(self) -> Attempt:
        """The attempt that stands."""
        return self.attempts[self.chosen]
