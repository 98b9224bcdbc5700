"""Retention: erasing old answers that left nothing behind.

The memory rests on an answer that a person judged, that left an entry, or that such an answer follows in a
conversation. Those stay; `merit memory purge` erases them.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from merit.live.record.history import History
from merit.live.record.purging import Purge, Purged, finish_purge, purge_all


def old_answers(history: History, keep_days: int, now: datetime | None = None) -> tuple[str, ...]:
    """The answers that nothing rests on and that are older than so many days."""
    oldest = ((now or datetime.now(UTC)) - timedelta(days=keep_days)).isoformat()
    answers, judged = history.answers(), history.feedback()
    needed = {asked.id for asked in answers.values() if asked.id in judged or asked.kept or asked.time >= oldest}
    for asked in reversed(answers.values()):  # a follow-up comes after what it follows
        if asked.id in needed:
            needed.update(asked.earlier)
    return tuple(identity for identity in answers if identity not in needed)


def purge_old(folder: Path, keep_days: int) -> Purged:
    """Erase such answers from the history and the cache of the model's replies."""
    finish_purge(folder)
    old = old_answers(History(folder), keep_days)
    return purge_all(folder, Purge(answers=old)) if old else Purged()
