"""What an answer leaves on record besides itself."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from merit.agent import Attempt
from merit.agent.feedback import Tried, tried
from merit.live.answer import Answer
from merit.live.candidates import reason_to_decline
from merit.live.parts import LiveParts
from merit.live.records import Asked
from merit.memory import Entry, Recall

if TYPE_CHECKING:
    from merit.live.preparing import Prepared


def asked_of(answer: Answer, prepared: "Prepared", parts: LiveParts, method: str, replies: Sequence[str] = ()) -> Asked:
    """The event of a question: everything but the rows."""
    identity = parts.completer.identity
    return Asked(
        id=answer.id,
        time=now(),
        question=answer.question,
        database=parts.schema.db_id,
        dialect=parts.engine.dialect,
        schema_fingerprint=parts.fingerprint,
        position=prepared.position,
        method=method,
        model=f"{identity.name}@{identity.revision}" if identity.revision else identity.name,
        first_prompt_sha256=prepared.prompt.sha256,
        sql=answer.sql,
        status=answer.status,
        agreement=answer.agreement,
        error=answer.error,
        tried=_statements(answer.attempts),
        recalled=answer.recalled,
        reason=answer.reason,
        calls=answer.calls,
        prompt_tokens=answer.prompt_tokens,
        output_tokens=answer.output_tokens,
        seconds=answer.seconds,
        earlier=tuple(turn.id for turn in prepared.earlier),
        replies=tuple(dict.fromkeys(replies)),
    )


def _statements(attempts: Sequence[Attempt]) -> tuple[Tried, ...]:
    """Every candidate that is a statement, in its order."""
    return tuple(tried([attempt for attempt in attempts if reason_to_decline(attempt.sql) is None]))


def shown_entries(recall: Recall | None) -> list[Entry]:
    """The entries that a recall put into a prompt."""
    return [*recall.positives, *recall.negatives, *recall.precedents] if recall else []


def now() -> str:
    """The time, as events have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def today() -> str:
    """The day, as events have it."""
    return now()[:10]
