"""Keeps a memory in step with its database: entries that a change of the schema concerns go stale, or come back."""

import logging
import shlex
from collections.abc import Callable, Iterable

from merit.errors import counted
from merit.live.parts import LiveParts
from merit.live.schema.drift import Drift, find_drift
from merit.memory import Entry, Listed
from merit.types import Error, Limits

_log = logging.getLogger(__name__)
NO_DRIFT = Drift({}, {})


def follow_schema(parts: LiveParts, limits: Limits) -> Drift:
    """Mark the entries that are stale since the last look, and those that hold again.

    Where the schema is the one of the last look, only what was committed or brought back since then is looked at: it
    may have been learned with another schema.
    """
    known, memory = parts.schemas, parts.memory
    if known is None:
        return NO_DRIFT
    until = known.checked_until(memory.name)
    if until == memory.sequence:
        return NO_DRIFT
    listed = memory.listed() if until is None or until > memory.sequence else _later(parts, until)
    drift = _follow(parts, limits, listed)
    known.note_checked(memory.name, memory.sequence)
    return drift


def follow_learned(parts: LiveParts, limits: Limits, entries: Iterable[Entry]) -> Drift:
    """Mark those of some entries stale that do not fit the present schema: an answer can be confirmed days later."""
    return _follow(parts, limits, map(Listed, entries))


def _later(parts: LiveParts, until: int) -> list[Listed]:
    """What came after a look at the present schema, or was brought back, and was learned with another one."""
    listed = parts.memory.listed(until)
    return [item for item in listed if item.entry.provenance.schema_fingerprint != parts.fingerprint]


def _follow(parts: LiveParts, limits: Limits, listed: Iterable[Listed]) -> Drift:
    known, name = parts.schemas, parts.schema.db_id
    if known is None:
        return NO_DRIFT
    own = [item for item in listed if item.entry.provenance.db_id == name]
    drift = find_drift(own, known.lineage_of, known.now, running(parts, limits))
    parts.memory.mark_stale(drift.stale)
    parts.memory.mark_stale(drift.fresh, stale=False)
    if drift.stale or drift.fresh:
        _log.warning(
            "merit: the schema of %s changed: %s, %s; `merit memory list %s --stale` lists what is stale",
            name,
            counted(len(drift.stale), "entry went stale", "entries went stale"),
            counted(len(drift.fresh), "came back", "came back"),
            shlex.quote(parts.memory.name),
        )
    return drift


def running(parts: LiveParts, limits: Limits) -> Callable[[str], str | None]:
    """How to run a statement again: what the database said where it failed."""

    def runs(sql: str) -> str | None:
        result = parts.engine.execute(sql, limits)
        return result.message if isinstance(result, Error) else None  # a busy database says nothing about the entry

    return runs
