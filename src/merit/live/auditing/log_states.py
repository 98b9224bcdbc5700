"""What a memory's log says of each entry at each of its numbers: a plain restatement, for audits, beside the index."""

from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from merit.memory import open_store
from merit.memory.purging import PURGED
from merit.memory.store import has_memory
from merit.types import Change, Deletion, Entry, Precedent, Repair, Restoration, Staleness


class EntryState(StrEnum):
    """Whether an entry may be recalled."""

    LATER = "committed later"
    PRESENT = "there"
    DELETED = "deleted"
    STALE = "stale"


@dataclass(slots=True)
class LoggedEntry:
    """An entry, the number it was committed under, and every later change to it."""

    entry: Entry | None  # None: it was purged, and only its number is left
    committed: int
    changes: list[tuple[int, Change]] = field(default_factory=list)

    def state(self, position: int) -> tuple[EntryState, int, str]:
        """What it was at a number of the log, since which number, and why."""
        if self.committed > position:
            return EntryState.LATER, self.committed, ""
        deleted = stale = None
        for number, change in self.changes:
            if number > position:
                break
            match change:
                case Deletion(reason=reason):
                    deleted = (number, reason)
                case Restoration():
                    deleted = stale = None
                case Staleness(stale=is_stale, reason=reason):
                    stale = (number, reason) if is_stale else None
                case _:
                    pass
        if deleted is not None:
            return EntryState.DELETED, *deleted
        return (EntryState.STALE, *stale) if stale is not None else (EntryState.PRESENT, self.committed, "")


@dataclass(frozen=True, slots=True)
class FoldedLog:
    """Everything that a log says."""

    entries: dict[str, LoggedEntry]
    last: int  # the last number

    def live(self) -> dict[str, Entry]:
        """The entries that are there now and not deleted, stale ones included."""
        now = {identity: logged for identity, logged in self.entries.items() if logged.entry is not None}
        deleted = EntryState.DELETED
        return {
            key: logged.entry for key, logged in now.items() if logged.entry and logged.state(self.last)[0] != deleted
        }


def fold(place: Path | str) -> FoldedLog:
    """Go through the log of the memory in a folder or at a URL; in a folder without one there is nothing."""
    entries: dict[str, LoggedEntry] = {}
    last = 0
    if isinstance(place, Path) and not has_memory(place):
        return FoldedLog(entries, last)
    with closing(open_store(place, writable=False)) as store:
        for last, change in store.since(0):
            if isinstance(change, Repair | Precedent):
                entries.setdefault(change.id, LoggedEntry(change, last))
            elif change.id in entries:
                if entries[change.id].entry is not None:  # a purge leaves the numbers of changes, not what they were
                    entries[change.id].changes.append((last, change))
            elif isinstance(change, Deletion) and change.reason == PURGED:
                entries[change.id] = LoggedEntry(None, last)
    return FoldedLog(entries, last)
