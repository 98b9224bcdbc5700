"""What the memory would show for a question, without asking it."""

from dataclasses import dataclass

from merit.live.agent import LiveAgent
from merit.live.asking.asker import check_question
from merit.live.asking.preparing import prepare
from merit.live.judging.ladder import RejectedSQL
from merit.live.record.receipt_making import shown_by
from merit.memory import Match


@dataclass(frozen=True, slots=True)
class Recollection:
    """The confirmed answers that the first prompt would show, and what people rejected for this very question."""

    matches: tuple[Match, ...]
    rejected: tuple[RejectedSQL, ...]


def recall(agent: LiveAgent, question: str, *, author: str = "") -> Recollection:
    """Recall as asking does, for a person; the model is not called and nothing is written down."""
    check_question(question)
    prepared = prepare(agent.parts, agent._asker.method, question, viewer=agent.parts.viewer(author))
    return Recollection(tuple(next(shown_by(prepared, ()))), tuple(prepared.rejected.values()))
