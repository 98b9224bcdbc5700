"""How much an agent learns from the judge."""

from merit.oracle.judge import Judge
from merit.types import Judging, Regime


def under(regime: Regime, judge: Judge) -> Judging:
    """The judge as a regime lets an agent see it; under dbms_only, no reference is used."""
    return judge.execute if regime is Regime.DBMS_ONLY else judge.judge
