"""In which order questions come (paper, "Causal stream protocol"): by seed alone, the same for every method."""

import random
from collections.abc import Iterable, Sequence

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
