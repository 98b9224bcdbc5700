"""What a run kept in its memory, told from its turns alone."""

from dataclasses import dataclass

from merit.agent import grade_of, polarity_of
from merit.memory import Grade
from merit.runs.view import RunView
from merit.types import Polarity


@dataclass(frozen=True, slots=True)
class KeptEntry:
    """An entry that a run kept."""

    polarity: Polarity
    grade: Grade
    poisoned: bool  # kept as right, though the judge calls its episode's answer wrong


def kept_by(view: RunView) -> dict[str, KeptEntry]:
    """Every entry that a run kept, by its id."""
    kept = {}
    for turn in view.turns:
        if turn.entry is not None:
            polarity = polarity_of(turn.episode, view.method)
            poisoned = polarity is not Polarity.NEGATIVE and not turn.final_correct
            kept[turn.entry] = KeptEntry(polarity, grade_of(turn.episode, view.method, view.identity.regime), poisoned)
        if turn.review is not None:  # the reviewer goes by the judge
            learned = turn.review.learned.items()
            kept |= {name: KeptEntry(polarity, Grade.CONFIRMED, False) for polarity, name in learned}
    return kept
