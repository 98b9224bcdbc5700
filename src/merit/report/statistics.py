"""Spread over seeds, the query-cluster bootstrap, McNemar's exact test (all of the paper), Wilson's interval."""

import math
from collections.abc import Sequence

import numpy as np

RESAMPLES = 10_000
CONFIDENCE = 0.95
SEED = 0
_BATCH = 500  # resamples held in memory together

INTERVAL_NOTE = (
    f"Intervals are {CONFIDENCE:.0%} percentile intervals of {RESAMPLES:,} resamples of questions with replacement, "
    f"a question's outcomes over seeds kept together (seeded with {SEED})."
)


def mean(values: Sequence[float]) -> float:
    """The mean, summed exactly."""
    return math.fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation (n-1); None for a single value, which has none."""
    if len(values) < 2:
        return None
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def bootstrap(differences: Sequence[float]) -> tuple[float, float] | None:
    """The percentile interval of the mean of one difference a question; None where there is nothing to resample."""
    if len(differences) < 2:
        return None
    from scipy.stats import bootstrap as resample  # loaded only where a report is made: it takes a second

    interval = resample(
        (np.asarray(differences),),
        np.mean,
        n_resamples=RESAMPLES,
        batch=_BATCH,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def mcnemar(wins: int, losses: int) -> float:
    """The p-value of McNemar's exact test: how likely so uneven a split of the disagreements is by chance."""
    if wins + losses == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses, 0.5).pvalue)


def wilson(hits: int, size: int) -> tuple[float, float]:
    """Wilson's interval of a proportion, for so many hits of `size` at least 1; it stays within 0 and 1."""
    from scipy.stats import binomtest

    ends = binomtest(hits, size).proportion_ci(CONFIDENCE, "wilson")
    return float(ends.low), float(ends.high)
