"""What becomes of an answer before it is shown: checked, weighed against people's words, kept at its grade."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from merit.live.answer import Answer
from merit.live.checks import Checked, applying, run_checks
from merit.live.feedback import Learner
from merit.live.history import standing_question
from merit.live.ladder import RejectedSQL, earned, weighed
from merit.live.parts import LiveParts
from merit.live.records import Asked
from merit.sql import canonical
from merit.types import Limits


def settled(
    parts: LiveParts,
    limits: Limits,
    answer: Answer,
    receipt: Callable[[Answer], Asked],
    earlier: Sequence[Asked],
    rejected: Mapping[str, RejectedSQL],
    *,
    agreed: bool,
) -> tuple[Answer, Asked]:
    """The answer as it is shown, and the event to write down; its entry is committed by then, if it leaves one."""
    checked, dialect = Checked(), parts.engine.dialect
    if answer.rows is not None:
        question = standing_question([turn.question for turn in earlier], answer.question)
        checks = applying(parts.checks, question, answer.sql, dialect)
        checked = run_checks(parts.engine, checks, answer.sql, limits)
    answer = weighed(answer, rejected.get(canonical(answer.sql, dialect)), checked)
    written = replace(
        receipt(answer),
        earlier=tuple(turn.id for turn in earlier),
        passed=checked.passed,
        failed=tuple(name for name, _ in checked.failed),
        replies=tuple(hashlib.sha256(attempt.reply.encode()).hexdigest() for attempt in answer.attempts),
    )
    kept = Learner(parts, limits).keep(written, earned(answer, checked, agreed))
    return answer, replace(written, kept=kept)
