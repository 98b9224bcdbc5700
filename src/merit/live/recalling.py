"""What the memory would show for a question, without asking it."""

from dataclasses import dataclass

from merit.agent import Method
from merit.live.ladder import RejectedSQL
from merit.live.parts import LiveParts
from merit.live.preparing import prepare
from merit.live.receipt import shown_by
from merit.memory import Match


@dataclass(frozen=True, slots=True)
class Recollection:
    """The confirmed answers that the first prompt would show, and what people rejected for this very question."""

    matches: tuple[Match, ...]
    rejected: tuple[RejectedSQL, ...]


def recollect(parts: LiveParts, method: Method, question: str) -> Recollection:
    """Recall as asking does; the model is not called and nothing is written down."""
    prepared = prepare(parts, method, question)
    return Recollection(tuple(next(shown_by(prepared, ()))), tuple(prepared.rejected.values()))
