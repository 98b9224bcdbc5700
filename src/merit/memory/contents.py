"""What a log holds: every entry with its state, which is a fold over the changes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from merit.errors import InputError
from merit.types import Deletion, Entry, Restoration, Staleness, Store

PROMOTED = "promoted as"  # why an entry was deleted whose place another one took, for more people
_PROMOTED = re.compile(rf"{PROMOTED} ((?:pos|neg|pre)-[0-9a-f]{{16}})\b")


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of a log, and why it was deleted or is stale, where it is."""

    entry: Entry
    deleted: str | None = None
    stale: str | None = None
    sequence: int = field(default=0, compare=False)  # its number in the log

    @property
    def recallable(self) -> bool:
        """Whether later questions may be shown it, as far as its state goes."""
        return self.deleted is None and self.stale is None


@dataclass(frozen=True, slots=True)
class Contents:
    """What a log holds up to a sequence number: every entry by its id, deleted ones too, in order."""

    sequence: int
    entries: Mapping[str, Listed]


def promoted(ids: Iterable[str], listed: Iterable[Listed]) -> list[str]:
    """Entries by their ids, each with those that took its place when it was promoted."""
    reasons = {item.entry.id: item.deleted or "" for item in listed}
    found = dict.fromkeys(ids)
    waiting = list(found)
    while waiting:
        place = _PROMOTED.match(reasons.get(waiting.pop(), ""))
        if place and place[1] not in found:
            found[place[1]] = None
            waiting.append(place[1])
    return list(found)


def read_contents(store: Store) -> Contents:
    """Everything that a store holds now."""
    entries: dict[str, Listed] = {}
    last = 0
    for sequence, change in store.since(0):
        last = sequence
        if isinstance(change, Deletion):
            if change.id in entries:
                entries[change.id] = replace(entries[change.id], deleted=change.reason)
        elif isinstance(change, Restoration):
            if change.id in entries:
                entries[change.id] = replace(entries[change.id], deleted=None, stale=None)
        elif isinstance(change, Staleness):
            if change.id in entries:
                why = change.reason if change.stale else None
                entries[change.id] = replace(entries[change.id], stale=why)
        elif change.id in entries:
            raise InputError(f"{store.name}: the id {change.id} is there twice; remove one of the lines")
        else:
            entries[change.id] = Listed(change, sequence=sequence)
    return Contents(last, entries)
