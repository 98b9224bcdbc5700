"""A store that lives as long as its process: for going through a run again, and for tests."""

import hashlib
import threading
from collections.abc import Iterable, Iterator, Sequence

from merit.errors import InputError, MemoryChanged, MemoryUnusable
from merit.memory.format4 import log_lines
from merit.types import Change, Entry, Precedent, Repair


class VolatileStore:
    """A log in this process's memory. Nothing of it is ever written."""

    name = "a memory that is not kept"

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._digests = [b""]  # of the log up to each sequence number
        self._entries: dict[str, Entry] = {}
        self.purges = 0  # nothing purges it
        self._mutex = threading.Lock()
        self._closed = False

    def append(self, changes: Sequence[Change], *, expected: int | None = None) -> int:
        """Keep changes, all of them or none."""
        with self._mutex:
            self._check_open()
            if expected is not None and expected != len(self._changes):
                raise MemoryChanged(f"{self.name}: changed meanwhile; try again")
            self._digests += _digests(log_lines(changes, len(self._changes)), self._digests[-1])
            for change in changes:
                self._changes.append(change)
                if isinstance(change, Repair | Precedent):
                    self._entries.setdefault(change.id, change)
            return len(self._changes)

    def since(self, sequence: int) -> Iterator[tuple[int, Change]]:
        """The changes after a sequence number."""
        with self._mutex:
            self._check_open()
            changes = self._changes[max(sequence, 0) :]
        return iter(list(enumerate(changes, max(sequence, 0) + 1)))

    def read(self, ids: Iterable[str]) -> list[Entry]:
        """Entries by their ids."""
        with self._mutex:
            self._check_open()
            try:
                return [self._entries[identity] for identity in ids]
            except KeyError as error:
                raise InputError(f"{self.name}: there is no entry {error.args[0]}") from None

    def fingerprint(self, sequence: int) -> str | None:
        """The hash of the changes up to a sequence number."""
        with self._mutex:
            self._check_open()
            return self._digests[sequence].hex() if 0 <= sequence < len(self._digests) else None

    def close(self) -> None:
        """Forget everything."""
        with self._mutex:
            self._closed = True
            self._changes, self._entries = [], {}

    def _check_open(self) -> None:
        if self._closed:
            raise MemoryUnusable(f"{self.name}: closed")


def _digests(lines: Iterable[bytes], digest: bytes) -> list[bytes]:
    """A hash for each line, of itself and of the hash before it."""
    digests = []
    for line in lines:
        digest = hashlib.sha256(digest + line).digest()
        digests.append(digest)
    return digests
