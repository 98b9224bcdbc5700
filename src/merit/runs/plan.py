"""All turns of a run, known before it begins: one pass over the stream, or a control's two."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from merit.agent import Method, Task
from merit.runs.questions import StreamQuestion
from merit.runs.turn import Phase


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
    return Planned(phase, Task(asked.question, asked.schema, position, asked.first_answer, reads_from))
