"""What an answer leaves on record besides itself."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from merit.agent import Attempt
from merit.live.answer import Answer
from merit.live.candidates import reason_to_decline
from merit.live.parts import LiveParts
from merit.live.records import Asked, Tried
from merit.memory import Entry, Recall
from merit.types import Limits

if TYPE_CHECKING:
    from merit.live.preparing import Prepared

_LONGEST = Limits().sql_bytes  # characters; a longer statement never runs


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
        sql=kept(answer.sql),
        status=answer.status,
        agreement=answer.agreement,
        error=answer.error and kept(answer.error),
        tried=tuple(tried(answer.attempts)),
        recalled=answer.recalled,
        reason=answer.reason,
        calls=answer.calls,
        prompt_tokens=answer.prompt_tokens,
        output_tokens=answer.output_tokens,
        seconds=answer.seconds,
        widened=answer.widened,
        earlier=tuple(turn.id for turn in prepared.earlier),
        replies=tuple(dict.fromkeys(replies)),
    )


def tried(attempts: Sequence[Attempt]) -> list[Tried]:
    """Every candidate that is a statement, in its order; what was written before its grounding."""
    fresh = [attempt for attempt in attempts if not attempt.repeat and reason_to_decline(attempt.sql) is None]
    statements = [one for attempt in fresh for one in (attempt.written, attempt) if one is not None]
    return [
        Tried(kept(one.sql), one.verdict.status, one.verdict.error and kept(one.verdict.error)) for one in statements
    ]


def kept(text: str) -> str:
    """A statement or message as a history keeps it: cut, so that all of them fit into a line."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def shown_entries(recall: Recall | None) -> list[Entry]:
    """The entries that a recall put into a prompt."""
    return [*recall.positives, *recall.negatives, *recall.precedents] if recall else []


def now() -> str:
    """The time, as events have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def today() -> str:
    """The day, as events have it."""
    return now()[:10]
