"""Why an answer came out as it did: its receipt with what the memory says about the entries; and without memory."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from merit.live.answer import Answer
from merit.live.record.events import Asked, Feedback, feedback_record
from merit.live.record.receipt import ShownEntry
from merit.memory import Listed
from merit.sql import canonical, executed
from merit.types import Engine, Limits, Rows


@dataclass(frozen=True, slots=True)
class Why:
    """An answer, what was said about it, and the entries that its prompts showed."""

    asked: Asked
    feedback: Feedback | None
    entries: tuple[tuple[ShownEntry, Listed | None], ...]  # None: it was purged since

    def record(self) -> dict[str, Any]:
        """As plain values."""
        feedback = None if self.feedback is None else feedback_record(self.feedback)
        entries = [{**asdict(shown), **_entry(listed)} for shown, listed in self.entries]
        return {**asdict(self.asked), "feedback": feedback, "entries": entries}


def explained(asked: Asked, feedback: Feedback | None, listed: Mapping[str, Listed]) -> Why:
    """An answer with what the memory holds of the entries that it was shown."""
    shown: Iterable[ShownEntry]
    if asked.receipt is not None:
        shown = asked.receipt.shown
    else:  # of format 1
        shown = [ShownEntry(identity, (), 0.0, None, None) for identity in asked.recalled]
    return Why(asked, feedback, tuple((entry, listed.get(entry.id)) for entry in shown))


def _entry(listed: Listed | None) -> dict[str, Any]:
    if listed is None:
        return {"purged": True}
    entry, source = listed.entry, listed.entry.provenance
    return {
        "purged": False,
        "question": entry.question,
        "sql": entry.delta,
        "grade": entry.grade,
        "author": source.author,
        "time": source.time,
        "database": source.db_id,
        "answer": source.question_id,
        "run": source.run,
        "deleted": listed.deleted,
        "stale": listed.stale,
    }


@dataclass(frozen=True, slots=True)
class MemoryComparison:
    """An answer, and what the same question gives now without anything that was learned."""

    asked: Asked
    without: Answer
    same_sql: bool  # apart from layout
    same_rows: bool | None  # None where one of the two has no rows now
    now: str  # what the earlier SQL comes to now, in words
    rows: Rows | None = None  # what it gives now

    def record(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "answer": self.asked.id,
            "question": self.asked.question,
            "same_sql": self.same_sql,
            "same_rows": self.same_rows,
            "with_memory": {
                "sql": self.asked.sql,
                "status": self.asked.status,
                "agreement": round(self.asked.agreement, 4),
                "now": self.now,
            },
            "without_memory": {
                "sql": self.without.sql,
                "status": self.without.status,
                "agreement": round(self.without.agreement, 4),
                "error": self.without.error,
                "calls": self.without.calls,
                "prompt_tokens": self.without.prompt_tokens,
                "output_tokens": self.without.output_tokens,
            },
        }


def compared(asked: Asked, without: Answer, engine: Engine, limits: Limits) -> MemoryComparison:
    """Compare an answer with one that was found without memory; the history has no rows, so its SQL is run again."""
    same_sql = bool(asked.sql) and canonical(asked.sql, asked.dialect) == canonical(without.sql, asked.dialect)
    if not asked.sql:
        return MemoryComparison(asked, without, same_sql, None, "there was no statement")
    result = engine.execute(asked.sql, limits)
    if not isinstance(result, Rows):
        return MemoryComparison(asked, without, same_sql, None, f"it fails now: {result.message}")
    rows = f"{len(result.rows)} {'row' if len(result.rows) == 1 else 'rows'}"
    if without.rows is None:
        return MemoryComparison(asked, without, same_sql, None, rows, result)
    then, there = (executed(rows, asked.database).result for rows in (result, without.rows))
    return MemoryComparison(asked, without, same_sql, then == there, rows, result)
