"""Verdicts of a run: each follows from what stands beside it, and is given again where the data is at hand."""

from dataclasses import dataclass, field, replace

from merit.agent import Attempt
from merit.agent.trajectory import RefusedStatement
from merit.audit.against_data import engine_note
from merit.audit.findings import Findings
from merit.errors import AuditFailed, short_hash
from merit.failure import classify
from merit.oracle import Judge, judging_for
from merit.runs import RunView
from merit.types import Cause, Question, QuestionId, Status, Timeout, Verdict


@dataclass(slots=True)
class VerdictChecks:
    """The verdicts of one run, in the order of its attempts."""

    view: RunView
    judge: Judge | None  # None where the data is not at hand
    findings: Findings
    _seen: dict[tuple[QuestionId, str], Verdict] = field(default_factory=dict)

    def check(self, attempt: Attempt | RefusedStatement, question: Question, at: str) -> None:
        """Check the verdict of an attempt, or of a statement before it was grounded."""
        verdict, regime = attempt.verdict, self.view.identity.regime
        repeat = isinstance(attempt, Attempt) and attempt.repeat
        hidden = (Status.CORRECT, Status.DENOTATION_MISMATCH)
        if verdict.status in ((Status.EXECUTED,) if regime.has_oracle else hidden):
            raise AuditFailed(f"{at}: the status {verdict.status} cannot be seen in the regime {regime}")
        if attempt.failure != (None if verdict.satisfied else classify(verdict)):
            raise AuditFailed(f"{at}: the failure type does not follow from the verdict {verdict.status}")
        if (verdict.cause is None) == (verdict.status in (Status.EXECUTION_ERROR, Status.TIMEOUT)):
            raise AuditFailed(f"{at}: the cause {verdict.cause} does not go with the status {verdict.status}")
        if not repeat and self._seen.setdefault((question.id, attempt.sql), verdict) != verdict:
            raise AuditFailed(f"{at}: the same SQL got another verdict before")
        if verdict.status is Status.TIMEOUT and verdict != self._late:
            raise AuditFailed(f"{at}: says more of a time limit than that it was met")
        if self.judge is not None:
            now = judging_for(regime, self.judge)(question, attempt.sql)
            again = replace(now, error=verdict.error) if repeat else now  # names are spelt as they were first
            if again != verdict:
                self._explain(attempt.sql, question, verdict, now, self.judge, at)
        self.findings.attempts += 1

    def _explain(self, sql: str, question: Question, then: Verdict, now: Verdict, judge: Judge, at: str) -> None:
        """Count what proves nothing where a verdict is another one now, and refuse all else."""
        if then.status is Status.TIMEOUT:  # a matter of the machine then
            self.findings.timeouts += 1
        elif self._only_rows_differ(then, now) and not judge.is_steady(question, sql):
            self.findings.unsteady += 1
        else:
            busy = now.status is Status.TIMEOUT
            way_out = "; audit it on a machine that has nothing else to do" if busy else engine_note(self.view)
            seen = f"recorded as {_described(then, now)}, but the judge says {_described(now, then)}"
            raise AuditFailed(f"{at}: {seen}{way_out}")

    @staticmethod
    def _only_rows_differ(then: Verdict, now: Verdict) -> bool:
        return None not in (then.result, now.result) and replace(now, result=then.result) == then

    @property
    def _late(self) -> Verdict:
        """The only verdict of what met its time limit: its words are shown to the model, and no judge repeats them."""
        return Verdict(Status.TIMEOUT, Timeout(self.view.identity.timeout_s).message, Cause.TIMEOUT)


def _described(verdict: Verdict, other: Verdict) -> str:
    """A verdict for people, as far as it differs from another."""
    if verdict.error != other.error:
        return f"{verdict.status} ({verdict.error})" if verdict.error else verdict.status
    if verdict.status is other.status:
        return f"{verdict.status} with {f'the result {short_hash(verdict.result)}' if verdict.result else 'no rows'}"
    return verdict.status
