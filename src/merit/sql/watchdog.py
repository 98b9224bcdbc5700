"""One thread that interrupts statements whose deadline has passed."""

import os
import threading
import time
from math import inf
from typing import Protocol

# SQLite forgets an interrupt that arrives while a statement is being prepared, so it is repeated until it is heard.
AGAIN_S = 0.05


class Interruptible(Protocol):
    """A running statement that can be told to stop."""

    def expire(self) -> None:
        """Stop the running statement as soon as the engine looks up."""
        ...


class Watchdog:
    """Deadlines of running statements; arming costs about a microsecond, so every statement has one.

    Only plain locks are used: an exception from a signal handler cannot leave one of them held.
    """

    def __init__(self) -> None:
        self._start_anew()
        os.register_at_fork(after_in_child=self._start_anew)  # a fork keeps this object but not its thread

    def _start_anew(self) -> None:
        self._lock = threading.Lock()
        self._bell = threading.Lock()  # released to wake the thread
        self._bell.acquire()
        self._armed: dict[int, tuple[float, Interruptible]] = {}
        self._wakes_at = inf
        self._running = False

    def arm(self, statement: Interruptible, deadline: float) -> None:
        """Expire `statement` from `deadline` (monotonic seconds) on, until it is disarmed."""
        with self._lock:
            self._armed[id(statement)] = (deadline, statement)
            if deadline < self._wakes_at and self._bell.locked():
                self._bell.release()
            if not self._running:
                self._running = True
                threading.Thread(target=self._watch, name="merit-watchdog", daemon=True).start()

    def disarm(self, statement: Interruptible) -> None:
        """Forget `statement`; once this returns it will not be expired any more."""
        with self._lock:
            self._armed.pop(id(statement), None)

    def _watch(self) -> None:
        while True:
            with self._lock:
                now = time.monotonic()
                for key, (deadline, statement) in list(self._armed.items()):
                    if deadline <= now:
                        statement.expire()
                        self._armed[key] = (now + AGAIN_S, statement)
                self._wakes_at = min((deadline for deadline, _ in self._armed.values()), default=inf)
            self._bell.acquire(timeout=-1 if self._wakes_at == inf else max(0.0, self._wakes_at - now))


WATCHDOG = Watchdog()
