"""How much of a verdict an agent is told."""

from merit.oracle.judge import Oracle
from merit.types import Question, Regime, Status, Verdict

_EXECUTED = Verdict(Status.EXECUTED)


class ExecutionOnly:
    """A judge that only says whether a statement ran (regime dbms_only): right and wrong answers look the same."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def judge(self, question: Question, sql: str) -> Verdict:
        """Whether `sql` ran, and if not, how it failed."""
        verdict = self._oracle.judge(question, sql)
        ran = verdict.status in (Status.CORRECT, Status.DENOTATION_MISMATCH)
        return _EXECUTED if ran else verdict


def under(regime: Regime, oracle: Oracle) -> Oracle:
    """The oracle as a regime lets an agent see it."""
    return ExecutionOnly(oracle) if regime is Regime.DBMS_ONLY else oracle
