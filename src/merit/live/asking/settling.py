"""Before an answer is shown: the user's checks, what people said earlier, and the grade at which it is kept."""

from collections.abc import Callable
from dataclasses import replace

from merit.live.answer import Answer, AnswerStatus
from merit.live.asking.preparing import Prepared
from merit.live.judging.checks import Checked, applying, run_checks
from merit.live.judging.feedback import Learner
from merit.live.judging.ladder import grade_earned, with_objections
from merit.live.parts import LiveParts
from merit.live.record.events import Asked
from merit.live.record.history import standing_question
from merit.sql import canonical
from merit.types import Limits


def check_and_keep(
    parts: LiveParts, limits: Limits, answer: Answer, prepared: Prepared, asked: Callable[[Answer], Asked]
) -> tuple[Answer, Asked]:
    """The answer as it is shown, and the event to write down; its entry is committed by then, if it leaves one."""
    checked, dialect = Checked(), parts.engine.dialect
    agreed = answer.status is AnswerStatus.ANSWERED
    if answer.rows is not None:
        question = standing_question([turn.question for turn in prepared.earlier], answer.question)
        checks = applying(parts.checks, question, answer.sql, dialect)
        checked = run_checks(parts.engine, checks, answer.sql, limits)
        answer = with_objections(answer, prepared.rejected.get(canonical(answer.sql, dialect)), checked)
    failed = tuple(name for name, _ in checked.failed)
    written = replace(asked(answer), passed=checked.passed, failed=failed)
    rejected = [statement.scope for statement in prepared.rejected.values()]
    kept = Learner(parts, limits).keep(written, grade_earned(answer, checked, agreed), rejected)
    return answer, replace(written, kept=kept)
