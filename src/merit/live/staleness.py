"""Keeps a memory in step with its database: entries that a change of the schema concerns go stale, or come back."""

import logging
from collections.abc import Callable

from merit.errors import counted
from merit.live.drift import Drift, find_drift
from merit.live.parts import LiveParts
from merit.types import Error, Limits

_log = logging.getLogger(__name__)


def follow_schema(parts: LiveParts, limits: Limits, *, always: bool = False) -> Drift:
    """Mark the entries that are stale since the last look, and those that hold again; nothing where nothing changed.

    With `always`, entries are compared also where the schema is the one of the last look.
    """
    known, name = parts.schemas, parts.schema.db_id
    if known is None or (known.is_checked and not always):
        return Drift({}, {})
    own = [item for item in parts.memory.listed() if item.entry.provenance.db_id == name]
    drift = find_drift(own, known.lineage_of, known.now, running(parts, limits))
    parts.memory.mark_stale(drift.stale)
    parts.memory.mark_stale(drift.fresh, stale=False)
    known.note_checked()
    if drift.stale or drift.fresh:
        _log.warning(
            "merit: the schema of %s changed: %s, %s; `merit memory list FOLDER --stale` lists what is stale",
            name,
            counted(len(drift.stale), "entry went stale", "entries went stale"),
            counted(len(drift.fresh), "came back", "came back"),
        )
    return drift


def running(parts: LiveParts, limits: Limits) -> Callable[[str], str | None]:
    """How to run a statement again: what the database said where it failed."""

    def runs(sql: str) -> str | None:
        result = parts.engine.execute(sql, limits)
        return result.message if isinstance(result, Error) else None  # a busy database says nothing about the entry

    return runs
