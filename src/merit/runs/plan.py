"""Which question comes when, known before a run begins: the order by its seed, then all turns.

A stream is ordered by seed alone, the same for every method (paper, "Causal stream protocol"). A run is one pass over
it, or a control's two.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from merit.agent import Method, Task
from merit.runs.questions import StreamQuestion
from merit.runs.turn import Phase
from merit.types import Question


def stream_order(questions: Sequence[Question], seed: int) -> list[Question]:
    """The questions, in the dataset's order, shuffled by a seed."""
    shuffled = list(questions)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - repeatable on purpose
    return shuffled


def beginnings(questions: Sequence[Question], streams: Iterable[tuple[int, int | None]]) -> list[Question]:
    """The questions that the beginnings of some streams take, each given by seed and length, in the dataset's order."""
    taken = {question.id for seed, length in streams for question in stream_order(questions, seed)[:length]}
    return [question for question in questions if question.id in taken]


@dataclass(frozen=True, slots=True)
class Planned:
    """A turn to come."""

    phase: Phase
    task: Task


def plan(order: Sequence[StreamQuestion], method: Method) -> list[Planned]:
    """The turns of a method over a stream. A control gathers first, and answers knowing what all the others left."""
    answering = [_planned(Phase.ANSWER, asked, i, i if method.online else len(order)) for i, asked in enumerate(order)]
    if method.online:
        return answering
    return [*(_planned(Phase.GATHER, asked, i, i) for i, asked in enumerate(order)), *answering]


def method_in(phase: Phase, method: Method) -> Method:
    """What a method does in a phase: a control writes while it gathers and recalls while it answers."""
    if method.online:
        return method
    return replace(method, recall=None) if phase is Phase.GATHER else replace(method, writes=frozenset())


def _planned(phase: Phase, asked: StreamQuestion, position: int, reads_from: int) -> Planned:
    return Planned(phase, asked.task(position, reads_from))
