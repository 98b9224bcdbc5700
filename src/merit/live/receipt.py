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
        tried=_statements(answer.attempts),
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


def _statements(attempts: Sequence[Attempt]) -> tuple[Tried, ...]:
    """Every candidate that is a statement, in its order."""
    found = tried([attempt for attempt in attempts if reason_to_decline(attempt.sql) is None])
    return tuple(Tried(kept(one.sql), one.status, one.error and kept(one.error)) for one in found)


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
