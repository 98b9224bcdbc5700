"""One thread that interrupts statements whose deadline has passed."""

import os
import threading
import time
from math import inf
from typing import Protocol


class Interruptible(Protocol):
    """A running statement that can be told to stop."""

    def expire(self) -> None:
        """Stop the running statement as soon as the engine looks up."""
        ...


class Watchdog:
    """Deadlines of running statements; arming costs about a microsecond, so every statement has one."""

    def __init__(self) -> None:
        self._start_anew()

    def _start_anew(self) -> None:
        self._pid = os.getpid()
        self._armed: dict[int, tuple[float, Interruptible]] = {}
        self._changed = threading.Condition(threading.Lock())
        self._wakes_at = inf
        self._running = False

    def arm(self, statement: Interruptible, deadline: float) -> None:
        """Expire `statement` at `deadline` (monotonic seconds) unless it is disarmed first."""
        if self._pid != os.getpid():  # a fork keeps this object but not its thread
            self._start_anew()
        with self._changed:
            self._armed[id(statement)] = (deadline, statement)
            if not self._running:
                self._running = True
                threading.Thread(target=self._watch, name="merit-watchdog", daemon=True).start()
            elif deadline < self._wakes_at:
                self._changed.notify()

    def disarm(self, statement: Interruptible) -> None:
        """Forget `statement`; once this returns it will not be expired any more."""
        with self._changed:
            self._armed.pop(id(statement), None)

    def _watch(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for key, (deadline, statement) in list(self._armed.items()):
                    if deadline <= now:
                        del self._armed[key]
                        statement.expire()
                self._wakes_at = min((deadline for deadline, _ in self._armed.values()), default=inf)
                self._changed.wait(None if self._wakes_at == inf else self._wakes_at - now)


WATCHDOG = Watchdog()
