"""Where the agent is not told what is right: the result that most candidates agree on stands (regime dbms_only)."""

from collections import Counter
from collections.abc import Sequence

from merit.types import Verdict


def choose(verdicts: Sequence[Verdict]) -> int:
    """Which candidate stands: the first of the largest group with one result; if none ran, the last."""
    groups = _groups(verdicts)
    if not groups:
        return len(verdicts) - 1
    result, _ = groups.most_common(1)[0]  # of equally large groups, the one that came first
    return next(i for i, verdict in enumerate(verdicts) if verdict.satisfied and verdict.result == result)


def decided(verdicts: Sequence[Verdict], left: int) -> bool:
    """Whether `left` more candidates could not change what stands."""
    groups = _groups(verdicts)
    if left <= 0 or not any(groups):  # a result with rows wins over empty results, however many are empty
        return left <= 0
    leader, size = groups.most_common(1)[0]
    order = list(groups)
    others = [other + left + (order.index(result) < order.index(leader)) for result, other in groups.items()]
    others.remove(size + left)
    return all(size >= most for most in [*others, left])


def is_agreed(verdicts: Sequence[Verdict], share: float) -> bool:
    """Whether at least two candidates, and at least this share of all, gave the result that stands."""
    most = max(_groups(verdicts).values(), default=0)
    return most >= 2 and most >= share * len(verdicts)


def _groups(verdicts: Sequence[Verdict]) -> Counter[str | None]:
    """How many candidates gave each result; empty results count only where all are empty."""
    ran = [verdict.result for verdict in verdicts if verdict.satisfied]
    return Counter(result for result in ran if result) or Counter(ran)
