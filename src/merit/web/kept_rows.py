"""The rows of recent answers, kept in memory within bounds, so that they need not be computed again."""

import threading
from collections import OrderedDict

from merit.types import Row, Rows

_MOST_ANSWERS = 100
_MOST_BYTES = 64 * 1024 * 1024
_CELL_BYTES = 60  # of a cell besides its text, about


class KeptRows:
    """Rows by the ids of their answers; those that were looked at longest ago go first."""

    def __init__(self, most_answers: int = _MOST_ANSWERS, most_bytes: int = _MOST_BYTES) -> None:
        self._most_answers = most_answers
        self._most_bytes = most_bytes
        self._kept: OrderedDict[str, tuple[Rows, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def keep(self, answer: str, rows: Rows) -> None:
        """Keep the rows of an answer, unless they alone are too much."""
        size = sum(map(_size, rows.rows))
        if size > self._most_bytes // 2:
            return
        with self._lock:
            self._forget(answer)
            self._kept[answer] = (rows, size)
            self._bytes += size
            while len(self._kept) > self._most_answers or self._bytes > self._most_bytes:
                self._forget(next(iter(self._kept)))

    def find(self, answer: str) -> Rows | None:
        """The rows of an answer, if they are still there."""
        with self._lock:
            if answer not in self._kept:
                return None
            self._kept.move_to_end(answer)
            return self._kept[answer][0]

    def _forget(self, answer: str) -> None:
        _, size = self._kept.pop(answer, (None, 0))
        self._bytes -= size


def _size(row: Row) -> int:
    return sum(_CELL_BYTES + (len(cell) if isinstance(cell, str | bytes) else 0) for cell in row)
