"""How much room the temporary files of a statement take together: the kernel limits only each of them by itself."""

import fcntl
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_LOOK_EVERY_S = 0.05  # a disk takes some hundred megabytes meanwhile at most
_OPEN_FILES = "/dev/fd"


class TemporarySpace:
    """Interrupts a statement whose temporary files are together larger than allowed.

    A thread of its own looks at them, because the thread that runs a statement is inside SQLite until it is done.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._interrupt: Callable[[], None] | None = None  # stops the statement that is run now
        self._changed = threading.Condition()
        ready = threading.Event()
        threading.Thread(target=self._watch, args=(ready,), daemon=True).start()
        ready.wait()

    @contextmanager
    def limited(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Watch while a statement runs; afterwards nothing is interrupted any more."""
        with self._changed:
            self._interrupt = interrupt
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._interrupt = None

    def _watch(self, ready: threading.Event) -> None:
        with suppress(OSError):
            temporary_bytes()  # what this thread needs of memory it has before that is limited
        ready.set()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._interrupt is not None)
            time.sleep(_LOOK_EVERY_S)
            with self._changed, suppress(OSError, MemoryError):  # the statement may have taken all memory; look again
                if self._interrupt is not None and temporary_bytes() > self._most_bytes:
                    self._interrupt()


def temporary_bytes() -> int:
    """The size of all files that this process writes and that have no name, as SQLite's temporary files have none."""
    total = 0
    for name in os.listdir(_OPEN_FILES):  # noqa: PTH208 - numbers, not paths
        with suppress(OSError):  # closed meanwhile
            state = os.fstat(int(name))
            writable = fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR
            if stat.S_ISREG(state.st_mode) and state.st_nlink == 0 and writable:
                total += state.st_size
    return total
