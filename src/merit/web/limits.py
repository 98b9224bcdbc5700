"""How often a person may send requests, and how many at a time."""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

FAILURES_PER_MINUTE = 60  # wrong tokens from one address
_MOST_BUCKETS = 10_000  # the one that was used longest ago goes


class RateLimit:
    """At most so many requests a minute for each key, a quarter of them at once."""

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._room = max(1.0, per_minute / 4)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is left, and when that was so

    def wait_s(self, key: str) -> float:
        """Take a place; 0 where there was one, else the seconds until there is."""
        with self._lock:
            return self._wait_s(key, self._clock())

    def _wait_s(self, key: str, now: float) -> float:
        left, then = self._buckets.pop(key, (self._room, now))
        left = min(self._room, left + (now - then) * self._rate)
        granted = left >= 1
        self._buckets[key] = (left - 1 if granted else left, now)
        if len(self._buckets) > _MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return 0.0 if granted else (1 - left) / self._rate


class ConcurrencyLimit:
    """At most so many requests under way for each person."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._under_way = Counter[str]()
        self._lock = threading.Lock()

    def enter(self, key: str) -> Callable[[], None] | None:
        """How to leave again; None where there are too many."""
        with self._lock:
            if self._under_way[key] >= self._most:
                return None
            self._under_way[key] += 1

        def leave() -> None:
            with self._lock:
                self._under_way[key] -= 1
                if not self._under_way[key]:
                    del self._under_way[key]

        return leave
