"""What decides a verdict in each benchmark, as values: everything else about judging is the same."""

from collections.abc import Callable
from dataclasses import dataclass

from merit.oracle.compare import same_bird, same_spider
from merit.oracle.rewrite import order_matters, rewrite
from merit.types import Row


@dataclass(frozen=True, slots=True)
class JudgingRule:
    """How one official evaluator treats a query's text, its rows, and two results beside each other."""

    name: str  # part of the cache key: change it when results would change
    rewrite: Callable[[str], str]
    distinct: bool  # whether a repeated row counts once
    lossy: bool  # whether bytes that are not UTF-8 are dropped rather than an error
    same: Callable[[str, list[Row], list[Row], float], bool]  # rewritten reference, its rows, the result's, deadline


def _spider(reference: str, expected: list[Row], rows: list[Row], deadline: float) -> bool:
    return same_spider(expected, rows, ordered=order_matters(reference), deadline=deadline)


def _bird(_reference: str, expected: list[Row], rows: list[Row], _deadline: float) -> bool:
    return same_bird(expected, rows)


SPIDER = JudgingRule("spider-1", rewrite=rewrite, distinct=False, lossy=True, same=_spider)
BIRD = JudgingRule("bird-1", rewrite=str, distinct=True, lossy=False, same=_bird)
