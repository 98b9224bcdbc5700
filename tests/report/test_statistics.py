"""The statistics against brute force."""

import itertools
import math
import random

import numpy as np
import pytest

from merit.report.statistics import RESAMPLES, SEED, bootstrap, deviation, mcnemar, mean


def percentile(values: list[float], share: float) -> float:
    """Linear interpolation between the nearest ranks, written out."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def test_the_deviation_is_that_of_a_sample() -> None:
    assert mean([69.0, 70.0, 71.5]) == pytest.approx(70.1666667)
    assert deviation([69.0, 70.0, 71.5]) == pytest.approx(math.sqrt((1.1666667**2 + 0.1666667**2 + 1.3333333**2) / 2))
    assert deviation([5.0, 5.0]) == 0.0
    assert deviation([5.0]) is None


def test_the_bootstrap_is_a_loop_over_resampled_questions() -> None:
    draw = random.Random(3)
    differences = [draw.choice([-100, -200 / 3, -100 / 3, 0, 0, 0, 100 / 3, 100]) for _ in range(60)]
    generator = np.random.default_rng(SEED)
    means = []
    for _ in range(RESAMPLES):
        chosen = generator.integers(0, len(differences), len(differences))
        means.append(sum(differences[i] for i in chosen) / len(differences))
    expected = (percentile(means, 0.025), percentile(means, 0.975))
    assert bootstrap(differences) == pytest.approx(expected, abs=1e-9)


def test_the_bootstrap_agrees_with_all_resamples_there_are() -> None:
    differences = [0.0, 100.0, 100.0 / 3, -100.0, 0.0, 200.0 / 3]
    every = [sum(chosen) / 6 for chosen in itertools.product(differences, repeat=6)]
    step = 100.0 / 3 / 6  # such means are multiples of it, so an end may fall on the neighbour
    expected = (percentile(every, 0.025), percentile(every, 0.975))
    assert bootstrap(differences) == pytest.approx(expected, abs=step + 1e-9)


def test_the_bootstrap_is_the_same_each_time_and_silent_where_nothing_can_be_said() -> None:
    differences = [0.0, 100.0, -100.0 / 3, 0.0]
    assert bootstrap(differences) == bootstrap(differences)
    assert bootstrap([0.0] * 10) == (0.0, 0.0)
    assert bootstrap([100.0]) is None
    assert bootstrap([]) is None


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (5, 1), (3, 9), (40, 22), (0, 12), (7, 7)])
def test_mcnemar_is_the_binomial_tail_of_the_disagreements(wins: int, losses: int) -> None:
    n, smaller = wins + losses, min(wins, losses)
    tail = sum(math.comb(n, k) for k in range(smaller + 1)) / 2**n
    assert mcnemar(wins, losses) == pytest.approx(min(1.0, 2 * tail))
