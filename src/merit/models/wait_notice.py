"""Messages that merit is waiting for an endpoint: the first one soon, later ones ever more rarely."""

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LOG = logging.getLogger(__name__)
_FIRST_S = 2.0  # before a user starts to wonder; an ordinary call is faster
_MOST_SHOWN = 100  # characters of why the last try failed


class WaitNotice:
    """Calls to one endpoint; when no answer has come for a while, a line on stderr says so.

    Each line comes after twice the silence of the line before, so a server that is always slow causes only a few lines.
    """

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._calls = 0
        self._since = 0.0
        self._next_s = _FIRST_S
        self._timer: asyncio.TimerHandle | None = None
        self._why = ""

    @contextmanager
    def call(self) -> Iterator[None]:
        """One call, with all its tries and pauses."""
        self._calls += 1
        if self._calls == 1:
            self._begin()
        try:
            yield
        finally:
            self._calls -= 1
            if not self._calls:
                self._stop()

    def answered(self) -> None:
        """An answer came; the waiting time of the other calls starts again."""
        self._why = ""
        self._begin()

    def failed(self, why: str) -> None:
        """A try failed."""
        self._why = why[:_MOST_SHOWN]

    def _begin(self) -> None:
        self._stop()
        self._since = time.monotonic()
        self._timer = asyncio.get_running_loop().call_later(self._next_s, self._warn)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _warn(self) -> None:
        silent_s = time.monotonic() - self._since
        _LOG.warning(
            "merit: waiting for %s (%s)", self._shown, "; ".join(filter(None, [f"{silent_s:.0f} s", self._why]))
        )
        self._next_s *= 2
        self._timer = asyncio.get_running_loop().call_later(max(0.0, self._next_s - silent_s), self._warn)
