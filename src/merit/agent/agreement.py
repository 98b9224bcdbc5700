"""Where the agent is not told what is right: the result that most candidates agree on stands (regime dbms_only)."""

from collections.abc import Sequence
from dataclasses import dataclass

from merit.types import Verdict


@dataclass(frozen=True, slots=True)
class Vote:
    """What a candidate came to, and how much that counts."""

    verdict: Verdict
    weight: float = 1.0


def choose(votes: Sequence[Vote]) -> int:
    """Which candidate stands: the first of the heaviest group with one result; if none ran, the last."""
    groups = _groups(votes)
    if not groups:
        return len(votes) - 1
    result = max(groups, key=lambda group: groups[group])  # of equally heavy groups, the one that came first
    return next(i for i, vote in enumerate(votes) if vote.verdict.satisfied and vote.verdict.result == result)


def decided(votes: Sequence[Vote], left: int) -> bool:
    """Whether `left` more candidates, of full weight each, could not change what stands."""
    groups = _groups(votes)
    if left <= 0 or not any(groups):  # a result with rows wins over empty results, however many are empty
        return left <= 0
    order = list(groups)
    leader = max(groups, key=lambda group: groups[group])
    ahead = order[: order.index(leader)]  # these win a tie
    rivals = {**groups, None: 0.0}  # a result that is still to come
    del rivals[leader]
    return all(
        groups[leader] > weight + left or (groups[leader] == weight + left and result not in ahead)
        for result, weight in rivals.items()
    )


def is_agreed(verdicts: Sequence[Verdict], share: float) -> bool:
    """Whether at least two candidates, and at least this share of all, gave the result that stands."""
    most = max(_groups([Vote(verdict) for verdict in verdicts]).values(), default=0)
    return most >= 2 and most >= share * len(verdicts)


def share_of_votes(votes: Sequence[Vote]) -> float:
    """The share of all votes that the result that stands got, from 0 to 1; those that failed count as votes against."""
    total = sum(vote.weight for vote in votes)
    return max(_groups(votes).values(), default=0.0) / total if total else 0.0


def _groups(votes: Sequence[Vote]) -> dict[str | None, float]:
    """How many votes each result got, in the order they came; empty results count only where all are empty."""
    ran = [vote for vote in votes if vote.verdict.satisfied]
    counted = [vote for vote in ran if vote.verdict.result] or ran
    groups: dict[str | None, float] = {}
    for vote in counted:
        groups[vote.verdict.result] = groups.get(vote.verdict.result, 0.0) + vote.weight
    return groups
