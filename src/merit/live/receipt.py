"""What an answer leaves on record besides itself."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from merit.agent import Attempt
from merit.live.records import Tried
from merit.memory import Entry, Recall
from merit.types import Schema


def fingerprint(schema: Schema) -> str:
    """A hash of what a schema says."""
    return hashlib.sha256(schema.text().encode()).hexdigest()[:16]


def tried(attempts: Sequence[Attempt]) -> list[Tried]:
    """Every statement that was executed, in its order; what was written before its grounding."""
    fresh = [attempt for attempt in attempts if not attempt.repeat]
    statements = [one for attempt in fresh for one in (attempt.written, attempt) if one is not None]
    return [Tried(one.sql, one.verdict.status, one.verdict.error) for one in statements]


def shown_entries(recall: Recall | None) -> list[Entry]:
    """The entries that a recall put into a prompt."""
    return [*recall.positives, *recall.negatives, *recall.precedents] if recall else []


def now() -> str:
    """The time, as events have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
