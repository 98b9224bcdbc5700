"""From two channels' scores to an order: min-max per pool, weights, ties (paper, appendix on retrieval).

Dense scores come in single precision for a whole pool at once, which is fast and nearly right. Whatever could matter
for the result, the pool's extremes and all candidates near the top, is then scored again exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
DECIMALS = 12  # what is equal up to here is a tie (docs/spec.md)


@dataclass(frozen=True, slots=True)
class Dense:
    """A pool's dense scores: nearly right for all, exact on demand, and how far off the former can be."""

    near: npt.NDArray[np.float32]
    exact: Callable[[Rows], Floats]
    error: float


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's scores, and how they came about."""

    at: int  # in the pool
    score: float
    dense: float | None
    lexical: float | None
    dense_normalised: float | None
    lexical_normalised: float | None
    bonus: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best candidates, in order, and the extremes they were normalised by."""

    best: tuple[Scored, ...]
    dense_range: tuple[float, float] | None
    lexical_range: tuple[float, float] | None


def rank(
    dense: Dense | None,
    lexical: Floats | None,
    dense_weight: float,
    bonus: Floats | None,
    same_type: Callable[[int], bool],
    identity: Callable[[int], str],
    limit: int,
) -> Ranking:
    """The best `limit` candidates of a pool that is not empty."""
    weights = (dense_weight, 1.0 - dense_weight) if dense is not None and lexical is not None else (1.0, 1.0)
    dense_range = _extremes(dense) if dense is not None else None
    lexical_range = None
    parts = (dense.near if dense is not None else None, lexical, bonus)
    total = np.zeros(next(len(part) for part in parts if part is not None))
    slack = 1e-9
    if lexical is not None:
        lexical = np.round(lexical, DECIMALS, out=lexical)
        lexical_range = (float(lexical.min()), float(lexical.max()))
        total += weights[1] * _normalised(lexical, lexical_range)
    if dense is not None and dense_range is not None:
        total += weights[0] * _normalised(dense.near.astype(np.float64), dense_range)
        span = dense_range[1] - dense_range[0]
        slack += 2.0 * weights[0] * dense.error / span if span > 0.0 else 0.0
    if bonus is not None:
        total += bonus
    rows = _near_the_top(total, limit, slack)
    best = _settle(rows, dense, dense_range, lexical, lexical_range, weights, bonus)
    best.sort(
        key=lambda scored: (
            -scored.score,
            -(scored.dense or 0.0),
            -(scored.lexical or 0.0),
            -int(same_type(scored.at)),
            identity(scored.at),
        )
    )
    return Ranking(tuple(best[:limit]), dense_range, lexical_range)


def _settle(
    rows: Rows,
    dense: Dense | None,
    dense_range: tuple[float, float] | None,
    lexical: Floats | None,
    lexical_range: tuple[float, float] | None,
    weights: tuple[float, float],
    bonus: Floats | None,
) -> list[Scored]:
    """Exact scores of the few candidates that are left."""
    exact = np.round(dense.exact(rows), DECIMALS) if dense is not None else None
    exact_scaled = _normalised(exact, dense_range) if exact is not None and dense_range is not None else None
    bm25 = lexical[rows] if lexical is not None else None
    bm25_scaled = _normalised(bm25, lexical_range) if bm25 is not None and lexical_range is not None else None
    extra = bonus[rows] if bonus is not None else np.zeros(len(rows))
    total = extra.copy()
    if exact_scaled is not None:
        total += weights[0] * exact_scaled
    if bm25_scaled is not None:
        total += weights[1] * bm25_scaled
    total = np.round(total, DECIMALS)

    def value(channel: Floats | None, i: int) -> float | None:
        return None if channel is None else float(channel[i])

    return [
        Scored(
            at=int(at),
            score=float(total[i]),
            dense=value(exact, i),
            lexical=value(bm25, i),
            dense_normalised=value(exact_scaled, i),
            lexical_normalised=value(bm25_scaled, i),
            bonus=float(extra[i]),
        )
        for i, at in enumerate(rows)
    ]


def _normalised(scores: Floats, extremes: tuple[float, float]) -> Floats:
    low, high = extremes
    if high <= low:
        return np.zeros(len(scores))
    scaled = scores - low
    scaled /= high - low
    return scaled


def _extremes(dense: Dense) -> tuple[float, float]:
    """The exact smallest and largest score: among those that could be it, the exact ones decide."""
    near, reach = dense.near, 2.0 * dense.error
    low, high = np.flatnonzero(near <= near.min() + reach), np.flatnonzero(near >= near.max() - reach)
    scores = np.round(dense.exact(np.concatenate([low, high])), DECIMALS)
    return float(scores[: len(low)].min()), float(scores[len(low) :].max())


def _near_the_top(total: Floats, limit: int, slack: float) -> Rows:
    """All candidates that could be among the best, given that scores may be off by `slack`."""
    if len(total) <= limit:
        return np.arange(len(total))
    left = total.copy()
    for _ in range(limit):  # a few times the maximum is cheaper than sorting
        best = int(left.argmax())
        left[best] = -np.inf
    return np.flatnonzero(total >= total[best] - slack)
