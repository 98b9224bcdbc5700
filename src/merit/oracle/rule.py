"""What decides a verdict in each benchmark, as values: everything else about judging is the same."""

from collections.abc import Callable
from dataclasses import dataclass

from merit.data import Layout, check_distinct
from merit.oracle.compare import same_bird, same_spider
from merit.oracle.rewrite import order_matters, rewrite, rewrite_keeping_distinct
from merit.types import Distinct, Row


@dataclass(frozen=True, slots=True)
class JudgingRule:
    """How one official evaluator treats a query's text, its rows, and two results beside each other."""

    name: str  # part of the cache key: change it when results would change
    rewrite: Callable[[str], str]
    unique_rows: bool  # whether a repeated row counts once
    lossy: bool  # whether bytes that are not UTF-8 are dropped rather than an error
    same: Callable[[str, list[Row], list[Row], float], bool]  # rewritten reference, its rows, the result's, deadline


def _spider(reference: str, expected: list[Row], rows: list[Row], deadline: float) -> bool:
    return same_spider(expected, rows, ordered=order_matters(reference), deadline=deadline)


def _bird(_reference: str, expected: list[Row], rows: list[Row], deadline: float) -> bool:
    return same_bird(expected, rows, deadline=deadline)


SPIDER_DROPPED = JudgingRule("spider-1", rewrite=rewrite, unique_rows=False, lossy=True, same=_spider)
SPIDER_KEPT = JudgingRule(
    "spider-kept-1", rewrite=rewrite_keeping_distinct, unique_rows=False, lossy=True, same=_spider
)
BIRD = JudgingRule("bird-1", rewrite=str, unique_rows=True, lossy=False, same=_bird)
_SPIDER = {Distinct.DROPPED: SPIDER_DROPPED, Distinct.KEPT: SPIDER_KEPT}


def rule_of(layout: Layout, distinct: Distinct | None = None) -> JudgingRule:
    """The rule of a benchmark; Spider's has two forms, of which the layout names one for those who choose none."""
    check_distinct(layout, distinct)
    chosen = distinct or layout.distinct
    return BIRD if chosen is None else _SPIDER[chosen]
