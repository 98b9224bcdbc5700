"""What the paper's accounting leaves out: how often databases, memory and model were at work, and how long."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from merit.tracing import span


@dataclass(slots=True)
class Work:
    """Counts and seconds by kind of work; work side by side is added up."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def of(self, kind: str) -> Iterator[None]:
        """Measure one piece of work."""
        started = time.perf_counter()
        try:
            with span(kind):
                yield
        finally:
            self.counts[kind] += 1
            self.seconds[kind] = self.seconds.get(kind, 0.0) + time.perf_counter() - started
