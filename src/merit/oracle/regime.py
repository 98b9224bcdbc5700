"""How much an agent learns from the judge."""

from merit.oracle.judge import Judge
from merit.types import Judging, Regime


def judging_for(regime: Regime, judge: Judge) -> Judging:
    """The judge as a regime lets an agent see it; without an oracle, no reference is used."""
    return judge.judge if regime.has_oracle else judge.execute
