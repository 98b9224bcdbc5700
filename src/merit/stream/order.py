"""In which order questions come (paper, "Causal stream protocol"): by seed alone, the same for every method."""

import random
from collections.abc import Sequence

from merit.types import Question


def stream_order(questions: Sequence[Question], seed: int) -> list[Question]:
    """The questions, in the dataset's order, shuffled by a seed."""
    shuffled = list(questions)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - repeatable on purpose
    return shuffled
