"""How many sessions each person has open, so that one person cannot take all places."""

import time
from collections import defaultdict
from collections.abc import Callable

MOST_EACH = 200
IDLE_S = 1800.0  # a session that nothing was asked in for so long is forgotten


class OpenSessions:
    """The sessions of each person, and when each was last used."""

    def __init__(self, most_each: int = MOST_EACH, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_each = most_each
        self._clock = clock
        self._used = defaultdict[str, dict[str, float]](dict)  # by person and session

    def used(self, person: str, session: str) -> None:
        """A session was begun, or something was asked in it."""
        self._used[person][session] = self._clock()

    def ended(self, person: str, session: str) -> None:
        """A session was closed."""
        self._used[person].pop(session, None)

    def full(self, person: str) -> bool:
        """Whether a person has as many sessions as one may have."""
        since = self._clock() - IDLE_S
        live = {session: at for session, at in self._used[person].items() if at > since}
        self._used[person] = live
        return len(live) >= self._most_each
