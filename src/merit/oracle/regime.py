"""How much of the truth an agent is told."""

from merit.oracle.judge import Judge, Oracle
from merit.types import Question, Regime, Verdict


class ExecutionOnly:
    """An oracle that only says whether a statement ran (regime dbms_only): no reference has a part in what it says."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def judge(self, question: Question, sql: str) -> Verdict:
        """Whether `sql` ran, and if not, how it failed."""
        return self._judge.execute(question, sql)


def under(regime: Regime, judge: Judge) -> Oracle:
    """The judge as a regime lets an agent see it."""
    return ExecutionOnly(judge) if regime is Regime.DBMS_ONLY else judge
