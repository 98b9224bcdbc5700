"""Metrics in Prometheus' text format; labels are names of routes and states, never anything that a person wrote."""

import resource
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from merit import __version__

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_PAGE_BYTES = resource.getpagesize()
Labels = tuple[tuple[str, str], ...]

_HELP = {
    "merit_requests_total": "Requests, by method, route and status.",
    "merit_request_seconds": "How long requests took until their response began, by route.",
    "merit_asks_total": "Questions that were answered, by the status of the answer.",
    "merit_ask_seconds": "How long questions took.",
    "merit_model_calls_total": "Calls of the language model.",
    "merit_model_tokens_total": "Tokens of the language model, by direction.",
    "merit_feedback_total": "What people said about answers, by kind.",
    "merit_refused_total": "Requests that were refused before they reached a route, by reason.",
}


class Metrics:
    """Counters and histograms. Usable from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, dict[Labels, float]] = defaultdict(lambda: defaultdict(float))
        self._buckets: dict[str, dict[Labels, list[int]]] = defaultdict(dict)
        self._sums: dict[str, dict[Labels, float]] = defaultdict(lambda: defaultdict(float))
        self._started = time.time()

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        with self._lock:
            self._counts[name][tuple(sorted(labels.items()))] += amount

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Add to a histogram of seconds."""
        key = tuple(sorted(labels.items()))
        with self._lock:
            buckets = self._buckets[name].setdefault(key, [0] * (len(_SECONDS) + 1))
            buckets[bisect_left(_SECONDS, seconds)] += 1
            self._sums[name][key] += seconds

    def text(self, gauges: dict[str, float]) -> str:
        """Everything, with some gauges that are read at this moment."""
        own = {
            "process_resident_memory_bytes": resident_bytes(),
            "process_start_time_seconds": self._started,
            **gauges,
        }
        with self._lock:
            lines = [*self._counter_lines(), *self._histogram_lines()]
        for name, value in own.items():
            lines += [f"# TYPE {name} gauge", f"{name} {value:.17g}"]
        lines += ["# TYPE merit_build_info gauge", f'merit_build_info{{version="{__version__}"}} 1']
        return "\n".join(lines) + "\n"

    def _counter_lines(self) -> Iterator[str]:
        for name, values in self._counts.items():
            yield f"# HELP {name} {_HELP[name]}"
            yield f"# TYPE {name} counter"
            for labels, value in values.items():
                yield f"{name}{_shown(labels)} {value:.17g}"

    def _histogram_lines(self) -> Iterator[str]:
        for name, values in self._buckets.items():
            yield f"# HELP {name} {_HELP[name]}"
            yield f"# TYPE {name} histogram"
            for labels, buckets in values.items():
                below = 0
                for bound, number in zip((*map(str, _SECONDS), "+Inf"), buckets, strict=True):
                    below += number
                    yield f"{name}_bucket{_shown((*labels, ('le', bound)))} {below}"
                yield f"{name}_sum{_shown(labels)} {self._sums[name][labels]:.17g}"
                yield f"{name}_count{_shown(labels)} {below}"


def resident_bytes() -> float:
    """How much memory this process takes; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES
    except (OSError, ValueError, IndexError):
        return 0


def _shown(labels: Labels) -> str:
    if not labels:
        return ""
    escaped = (value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"") for _, value in labels)
    return "{" + ",".join(f'{name}="{value}"' for (name, _), value in zip(labels, escaped, strict=True)) + "}"
