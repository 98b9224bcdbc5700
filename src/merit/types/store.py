"""Where a memory is kept: a log of changes, numbered in the order in which they were committed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from merit.types.entry import Entry


@dataclass(frozen=True, slots=True)
class Deletion:
    """From here on an entry is not recalled any more; the log keeps it. Without such an entry it has no effect."""

    id: str  # of the entry
    reason: str


@dataclass(frozen=True, slots=True)
class Staleness:
    """From here on an entry is stale and not recalled, or fresh again: the database it is about has changed."""

    id: str  # of the entry
    stale: bool
    reason: str  # what changed


@dataclass(frozen=True, slots=True)
class Restoration:
    """From here on a deleted entry may be recalled again, and is not stale: a person said anew that it is right."""

    id: str  # of the entry
    reason: str


# What a log holds. More kinds can be added; a reader that does not know a kind refuses the log.
Change = Entry | Deletion | Staleness | Restoration


class Store(Protocol):
    """A log that several processes may append to and follow. An entry's id stands in it at most once.

    Sequence numbers begin at 1 and grow; 0 stands for the beginning. They are given in the order in which changes are
    committed: once a reader has seen a number, no smaller one appears later. The changes of one append have consecutive
    numbers.
    """

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        ...

    @property
    def purges(self) -> int:
        """How often entries were purged while it was open, as far as it was followed: what was read may be gone."""
        ...

    def append(self, changes: Sequence[Change], *, expected: int | None = None) -> int:
        """Commit changes, all of them or none, and return the last sequence number.

        When this returns, they survive a crash. A change of more than 16 MiB is refused. With `expected`, nothing is
        written if the log has another last sequence number by now: MemoryChanged is raised, and the caller looks again
        at what is there.
        """
        ...

    def since(self, sequence: int) -> Iterator[tuple[int, Change]]:
        """Every change committed after a sequence number, in order. Cheap where there is none."""
        ...

    def read(self, ids: Iterable[str]) -> list[Entry]:
        """Entries by their ids, in the order asked for, deleted ones included; an unknown id is an InputError."""
        ...

    def fingerprint(self, sequence: int) -> str | None:
        """A hash of the log from its beginning up to a sequence number; None if the log does not have that number."""
        ...

    def close(self) -> None:
        """Give back what it holds. A closed store is not used any more."""
        ...
