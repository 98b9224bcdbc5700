"""How the candidates of a question vote: what stands, whether enough of them agree on it, when no more are needed."""

from collections.abc import Sequence
from dataclasses import dataclass

from merit.agent import Attempt, Method
from merit.agent.agreement import choose, decided, share_of_votes
from merit.agent.rules import cast_votes, unfinished, votes
from merit.live.asking.declining import reason_to_decline
from merit.types import Regime


@dataclass(frozen=True, slots=True)
class VoteCount:
    """How the votes of some candidates stand."""

    result: float  # the weight of the result that stands; 0 where none ran
    agreeing: int  # how many candidates gave it
    declined: float  # the weight of those that say that there is no answer
    share: float  # of all votes, for what stands: the result, or that there is none

    @property
    def unanswerable(self) -> bool:
        """Whether more votes say that there is no answer than are for any result."""
        return self.declined > self.result


@dataclass(frozen=True, slots=True)
class Election:
    """How candidates of a method vote, and when no more of them are needed."""

    method: Method
    most: int  # candidates
    least: int | None = None  # after so many, enough agreement ends the asking
    enough: float = 0.5  # the share of votes

    def tally(self, attempts: Sequence[Attempt]) -> VoteCount:
        """How the votes stand."""
        cast = cast_votes(self.method, attempts)
        total = sum(vote.weight for vote in cast)
        share = share_of_votes(cast)
        declined = float(sum(reason_to_decline(attempt.sql) is not None for attempt in attempts))
        stands = cast[choose(cast)].verdict
        same = [vote for vote in cast if vote.verdict.satisfied and vote.verdict.result == stands.result]
        weight, agreeing = share * total, len(same) if stands.satisfied else 0
        return VoteCount(weight, agreeing, declined, declined / total if declined > weight else share)

    def agreed(self, tally: VoteCount) -> bool:
        """Whether enough candidates agree: at least two, since one alone agrees with nothing."""
        return tally.share >= self.enough and (tally.declined if tally.unanswerable else tally.agreeing) >= 2

    def goes_on(self, attempts: Sequence[Attempt]) -> bool:
        """Whether another candidate is needed: it could change what stands, and agreement does not suffice yet."""
        left = self.most - len(attempts)
        if not votes(self.method, Regime.DBMS_ONLY):
            return unfinished(self.method, Regime.DBMS_ONLY, self.most - 1, attempts)
        tally = self.tally(attempts)
        if left <= 0 or (self.least is not None and len(attempts) >= self.least and self.agreed(tally)):
            return False
        if tally.unanswerable:
            return tally.declined <= tally.result + left
        return not decided(cast_votes(self.method, attempts), left) or tally.result < tally.declined + left
