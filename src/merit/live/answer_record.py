"""An answer as plain values: what `merit ask --json` prints and the API sends."""

from dataclasses import asdict
from typing import Any

from merit.live.answer import Answer
from merit.types import Value


def answer_record(answer: Answer) -> dict[str, Any]:
    """Every field with its rows."""
    rows = answer.rows
    return {
        "id": answer.id,
        "question": answer.question,
        "sql": answer.sql,
        "status": answer.status,
        "agreement": round(answer.agreement, 4),
        "confidence": None if answer.confidence is None else round(answer.confidence, 4),
        "calibrated_on": answer.calibrated_on or None,
        "found": answer.found,
        "reason": answer.reason,
        "columns": list(rows.columns) if rows else [],
        "rows": [[plain_value(value) for value in row] for row in rows.rows] if rows else [],
        "truncated": rows.truncated if rows else False,
        "error": answer.error,
        "candidates": len(answer.attempts),
        "recalled": list(answer.recalled),
        "remarks": list(answer.remarks),
        "passed": list(answer.passed),
        "left_out": asdict(answer.left_out),
        "widened": answer.widened,
        "calls": answer.calls,
        "prompt_tokens": answer.prompt_tokens,
        "output_tokens": answer.output_tokens,
        "seconds": answer.seconds,
    }


def plain_value(value: Value) -> Any:
    """A cell without bytes, which JSON does not have."""
    return value.hex() if isinstance(value, bytes) else value
