"""Time limits in tests, where the machine itself may stand still."""

import threading
import time

# Added to every limit that a test holds something to: a busy machine stops a process for some seconds.
# What ignores its limit runs far longer than that.
STALL_S = 30.0

# For what must come, such as a server that starts: one that never does fails the test, a slow one does not.
COMES_S = 120

TRIES = 6  # of a test that is marked as `timed`
STILL_S = 0.05  # a pause of this process that may have spoilt one
_LOOK_S = 0.005


class StandingStill:
    """The longest pause in which this process did not run, although it should have."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "StandingStill":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        before = time.monotonic()
        while not self._over.wait(_LOOK_S):
            now = time.monotonic()
            self.longest_s, before = max(self.longest_s, now - before - _LOOK_S), now
