"""Whether an attempt's SQL follows from what the model wrote: as it is, grounded, or set aside as a repeat."""

from collections.abc import Sequence
from dataclasses import dataclass

from merit.agent import Attempt, Method, Task
from merit.agent.rules import grounding, repeated
from merit.errors import AuditFailed
from merit.prompts import parse_sql
from merit.types import Regime


@dataclass(frozen=True, slots=True)
class AttemptSource:
    """Where an attempt was made: its task, the attempts before it, and who made it."""

    task: Task
    before: Sequence[Attempt]
    method: Method
    regime: Regime
    dialect: str


def check_candidate(attempt: Attempt, source: AttemptSource, at: str) -> None:
    """Derive an attempt's SQL again from its reply, the schema, and the candidates before it."""
    method, before = source.method, source.before
    written = parse_sql(attempt.reply) if before else source.task.first_answer.sql
    earlier = repeated(method, source.regime, written, before)
    expected, changed = earlier.sql if earlier and earlier.written else written, None
    if earlier is None:
        verdict = (attempt.written or attempt).verdict
        grounded = grounding(method, source.task, written, verdict, source.dialect)
        if grounded is not None:
            expected, changed = grounded.sql, (written, grounded.changes)
            earlier = repeated(method, source.regime, grounded.sql, before)
    if attempt.sql != expected:
        raise AuditFailed(f"{at}: the SQL is not the one in the reply{', grounded' if changed else ''}")
    if (attempt.written and (attempt.written.sql, attempt.written.changes)) != changed:
        raise AuditFailed(f"{at}: what was grounded is not what the reply and the schema give")
    if attempt.repeat != (earlier is not None):
        raise AuditFailed(f"{at}: {'repeats no' if attempt.repeat else 'repeats an'} earlier candidate")
    if earlier is not None and earlier.verdict != attempt.verdict:
        raise AuditFailed(f"{at}: the candidate that it repeats got another verdict")
