"""Answers as the API sends them: a short form for lists, the whole with what became of them."""

from collections.abc import Sequence
from typing import Any

from merit.live import Asked, Contradiction, Feedback, Withdrawn
from merit.live.record.events import feedback_record
from merit.live.record.uses import Use
from merit.types import Rows
from merit.web.server_sent_events import FIRST_ROWS


def short_record(asked: Asked, feedback: Feedback | None) -> dict[str, Any]:
    """A line of a list."""
    return {
        "id": asked.id,
        "time": asked.time,
        "question": asked.question,
        "sql": asked.sql,
        "status": asked.status,
        "agreement": round(asked.agreement, 4),
        "error": asked.error,
        "reason": asked.reason,
        "author": asked.author,
        "database": asked.database,
        "model": asked.model,
        "recalled": list(asked.recalled),
        "earlier": list(asked.earlier),
        "seconds": asked.seconds,
        "feedback": feedback_record(feedback) if feedback is not None else None,
    }


def rows_record(rows: Rows, most: int | None = None) -> dict[str, Any]:
    """Rows, all or the first ones, and how many there are."""
    shown = rows.rows if most is None else rows.rows[:most]
    return {
        "columns": list(rows.columns),
        "rows": [list(row) for row in shown],
        "truncated": rows.truncated,
        "row_count": len(rows.rows),
    }


def first_rows(rows: Rows | None) -> dict[str, Any] | None:
    """The first rows, where there are some."""
    return rows_record(rows, FIRST_ROWS) if rows is not None else None


def judged_record(
    feedback: Feedback | Withdrawn, found: Sequence[Contradiction], uses: Sequence[Use]
) -> dict[str, Any]:
    """What a person said, what it left, and what that stands against or concerns."""
    return {
        "feedback": feedback_record(feedback),
        "entries": list(feedback.entries),
        "contradictions": [contradiction.record() for contradiction in found],
        "uses": [use.record() for use in uses],
    }
