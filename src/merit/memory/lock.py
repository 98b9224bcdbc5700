"""The lock of a memory's writers: a file in its folder that one process at a time holds."""

import fcntl
import os
import time
from pathlib import Path

from merit.errors import MemoryUnusable
from merit.memory.files import open_to_append

# An append takes milliseconds, on a disk that stands still seconds; what holds the lock for longer keeps the memory.
_WAIT_S = 15.0
_LONGEST_PAUSE_S = 0.05


class WriterLock:
    """Entered, it keeps writers of other processes out. It can be entered again by the one that holds it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = open_to_append(path)
        self._entered = 0

    def __enter__(self) -> "WriterLock":
        if not self._entered:
            self._take()
        self._entered += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._entered -= 1
        if not self._entered:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give it back for good."""
        os.close(self._file)

    def _take(self) -> None:
        pause_s, until = 0.001, time.monotonic() + _WAIT_S
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > until:
                    folder = self._path.parent
                    raise MemoryUnusable(
                        f"{folder}: another process is writing this memory; wait for it or stop it"
                    ) from None
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
