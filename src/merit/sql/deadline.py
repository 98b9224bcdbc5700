"""Statements on a server that run past their limit: cancelled there, and cut off where cancelling has no effect."""

import threading
from collections.abc import Callable
from types import TracebackType

# After the server's own limit, which comes first where it works.
_CANCEL_AFTER_S = 0.1
_ABANDON_AFTER_S = 0.2


class Deadline:
    """Watches one statement: at its end it is cancelled on the server, a moment later its connection is cut."""

    def __init__(self, seconds: float, cancel: Callable[[], None], abandon: Callable[[], None]) -> None:
        self._seconds = seconds
        self._cancel = cancel
        self._abandon = abandon
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="merit-deadline", daemon=True)
        self.passed = False

    def __enter__(self) -> "Deadline":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()  # so that no late cancellation meets the connection's next statement

    def _watch(self) -> None:
        if self._done.wait(self._seconds + _CANCEL_AFTER_S):
            return
        self.passed = True
        # On a thread of its own: a server that does not answer must not keep the connection from being cut.
        cancelling = threading.Thread(target=self._cancel, name="merit-cancel", daemon=True)
        cancelling.start()
        if not self._done.wait(_ABANDON_AFTER_S):
            self._abandon()
