"""How good stated confidences are: Brier score, calibration error, and accuracy when the least sure are left out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from merit.report.statistics import mean

BINS = 10  # of equal width, from 0 to 1
Stated = Sequence[tuple[float, bool]]  # how sure each answer was, from 0 to 1, and whether it was right


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Answers that were about equally sure."""

    low: float
    high: float
    answers: int
    right: int
    stated: float  # the mean of what they stated

    @property
    def accuracy(self) -> float:
        """How often they were right, from 0 to 1."""
        return self.right / self.answers


def brier(stated: Stated) -> float:
    """The mean squared difference between how sure an answer was and what it was: 1 right, 0 wrong."""
    return mean([(sure - right) ** 2 for sure, right in stated])


def confidence_bins(stated: Stated) -> list[ConfidenceBin]:
    """Answers in bins of equal width, without the empty bins; an edge belongs to the bin above it, 1 to the last."""
    numbered = sorted((min(int(sure * BINS), BINS - 1), sure, right) for sure, right in stated)
    bins = []
    for number, alike in groupby(numbered, key=lambda answer: answer[0]):
        answers = list(alike)
        right, sure = sum(right for *_, right in answers), mean([sure for _, sure, _ in answers])
        bins.append(ConfidenceBin(number / BINS, (number + 1) / BINS, len(answers), right, sure))
    return bins


def calibration_error(stated: Stated) -> float:
    """The expected calibration error: over bins, the mean gap between stated confidence and accuracy, by size."""
    gaps = [part.answers * abs(part.stated - part.accuracy) for part in confidence_bins(stated)]
    return math.fsum(gaps) / len(stated)


def kept_accuracy(stated: Stated, coverage: float) -> float:
    """Accuracy, from 0 to 1, of the surest answers: of a part `coverage` of all, above 0 and at most 1.

    Where only some of equally sure answers fit in, each counts in part, so that their order decides nothing.
    """
    wanted = coverage * len(stated)
    room, right = wanted, 0.0
    for _, alike in groupby(sorted(stated, reverse=True), key=lambda answer: answer[0]):
        answers = [right for _, right in alike]
        taken = min(room, len(answers))
        right += taken * sum(answers) / len(answers)
        room -= taken
    return right / wanted
