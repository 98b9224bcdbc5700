"""A checkup: every confirmed statement is run again, and what fails or gives other columns than before is listed.

Of results only the names of their columns are kept, from one checkup to the next.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merit.errors import MeritError
from merit.files import atomic_write
from merit.live.parts import LiveParts
from merit.live.schema.drift import gone, statement
from merit.memory import Entry, Grade, Listed
from merit.reading import parse_json, read_text
from merit.types import Error, Limits, Polarity, Rows

SHAPES = "shapes.json"  # the columns that each entry's statement gave at the last checkup


@dataclass(slots=True)
class Checkup:
    """What running the confirmed statements again has shown, by the ids of their entries."""

    ran: int = 0
    stale: dict[str, str] = field(default_factory=dict)  # and why
    fresh: dict[str, str] = field(default_factory=dict)
    reshaped: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)  # columns before and now
    undecided: dict[str, str] = field(default_factory=dict)  # took too long


def check_up(parts: LiveParts, limits: Limits, tell: Callable[[int, int], object] = lambda _done, _of: None) -> Checkup:
    """Run every confirmed statement again; what fails goes stale, what holds again comes back."""
    path = parts.history.path.parent / SHAPES
    shapes, found = _read(path), Checkup()
    entries = [item for item in parts.memory.listed() if _counts(item, parts.schema.db_id)]
    for number, item in enumerate(entries, 1):
        tell(number, len(entries))
        _look_at(item, parts, limits, shapes, found)
    parts.memory.mark_stale(found.stale)
    parts.memory.mark_stale(found.fresh, stale=False)
    kept = {item.entry.id for item in entries}
    with atomic_write(path) as file:
        file.write(json.dumps({id_: columns for id_, columns in shapes.items() if id_ in kept}).encode())
    return found


def _counts(item: Listed, database: str) -> bool:
    entry = item.entry
    sure = entry.grade.at_least(Grade.TESTED) and entry.polarity is not Polarity.NEGATIVE
    return item.deleted is None and sure and entry.provenance.db_id == database


def _look_at(item: Listed, parts: LiveParts, limits: Limits, shapes: dict[str, list[str]], found: Checkup) -> None:
    entry, result = item.entry, parts.engine.execute(statement(item.entry), limits)
    found.ran += 1
    reason = f"does not run any more: {result.message}" if isinstance(result, Error) else _gone(entry, parts)
    if reason is not None:
        if item.stale is None:
            found.stale[entry.id] = reason
    elif not isinstance(result, Rows):
        found.undecided[entry.id] = result.message
    else:
        columns = [name.casefold() for name in result.columns]
        before = shapes.get(entry.id, columns)
        if before != columns:
            found.reshaped[entry.id] = (before, columns)
        shapes[entry.id] = columns
        if item.stale is not None:
            found.fresh[entry.id] = f"holds again, was stale because: {item.stale}"


def _gone(entry: Entry, parts: LiveParts) -> str | None:
    return gone(parts.schemas.lineage_of(entry), parts.schemas.now) if parts.schemas is not None else None


def _read(path: Path) -> dict[str, list[str]]:
    """The shapes of the last checkup; none where there was none, or the file is damaged."""
    with suppress(MeritError):
        record: Any = parse_json(read_text(path), path)
        if isinstance(record, dict) and all(isinstance(columns, list) for columns in record.values()):
            return {str(identity): [str(name) for name in columns] for identity, columns in record.items()}
    return {}
