"""Votes over the outcomes in scores.json.gz, counted by merit's own rule."""

import gzip
import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from merit.agent import METHODS
from merit.agent.agreement import Vote, choose, share_of_votes
from merit.report.statistics import bootstrap
from merit.types import Status, Verdict

HERE = Path(__file__).parent
NAMES = {"dev": "Spider dev-972", "bird": "BIRD-303", "bundled": "the bundled 360", "train": "Spider train, 684"}
ORDERS = range(1, 13)  # of the draws, for means
RECORDED = range(1)  # the recorded order, for intervals
GROUNDED_VOTE = METHODS["resample_grounded"].grounded_vote  # chosen on Spider train
Outcome = tuple[int, int, int, int]  # result, right, grounded, right as written
Wordings = dict[str, list[Outcome]]  # the greedy answer's outcome, then those of the draws
Right = npt.NDArray[np.float64]  # of each question, from 0 to 1
Mixture = tuple[str, ...]  # the wording of the greedy answer, then those of the draws


@cache
def scores() -> dict[str, dict[str, Wordings]]:
    """Outcomes by set, question and wording."""
    with gzip.open(HERE / "scores.json.gz", "rt") as file:
        read: dict[str, dict[str, Wordings]] = json.load(file)
    return read


@cache
def _verdict(result: int) -> Verdict:
    if result < 0:
        return Verdict(Status.EXECUTION_ERROR)
    return Verdict(Status.EXECUTED, result=str(result) if result else "")


@cache
def _vote(result: int, weight: float) -> Vote:
    return Vote(_verdict(result), weight)


@cache
def _order(question: str, wording: str, draws: int, order: int) -> tuple[int, ...]:
    """Where the draws of a wording stand, in their recorded order (0) or in another one."""
    places = range(1, draws + 1)
    return tuple(random.Random(f"{order} {question} {wording}").sample(places, draws)) if order else tuple(places)


def candidates(question: str, wordings: Wordings, mixture: Mixture, order: int) -> list[Outcome]:
    """A greedy answer and draws, each draw once."""
    left = {wording: iter(_order(question, wording, len(wordings[wording]) - 1, order)) for wording in set(mixture)}
    drawn = [wordings[wording][next(left[wording])] for wording in mixture[1:]]
    return [wordings[mixture[0]][0], *drawn]


def is_right(outcomes: Sequence[Outcome], *, grounds: bool) -> int:
    """Whether the answer that stands is right; without grounding, what had to be grounded failed."""
    votes = [_vote(*_counted(outcome, grounds)) for outcome in outcomes]
    return outcomes[choose(votes)][1 if grounds else 3]


def share(outcomes: Sequence[Outcome]) -> float:
    """The share of votes that the answer got."""
    return share_of_votes([_vote(*_counted(outcome, grounds=True)) for outcome in outcomes])


def _counted(outcome: Outcome, grounds: bool) -> tuple[int, float]:
    result, _, grounded, _ = outcome
    if not grounded:
        return result, 1.0
    return (result, GROUNDED_VOTE) if grounds else (-1, 1.0)


@cache
def right(name: str, mixture: Mixture, *, grounds: bool, orders: range) -> Right:
    """How often each question of a set is answered rightly, over some orders of the draws."""
    return np.array(
        [
            np.mean([is_right(candidates(question, wordings, mixture, order), grounds=grounds) for order in orders])
            for question, wordings in scores()[name].items()
        ]
    )


def percent(rights: Right) -> str:
    """The mean, in percent."""
    return f"{100 * rights.mean():.2f}"


def difference(after: Right, before: Right) -> str:
    """The mean difference in percentage points, with its interval over questions."""
    points = 100 * (after - before)
    interval = bootstrap(list(points))
    if interval is None or not points.any():
        return "0"
    return f"{points.mean():+.2f} [{interval[0]:+.2f}, {interval[1]:+.2f}]"


def in_turn(first: str, others: str | Sequence[str], answers: int = 8) -> Mixture:
    """A greedy answer of one wording, then draws of others in turn."""
    return (first, *(others[place % len(others)] for place in range(answers - 1)))
