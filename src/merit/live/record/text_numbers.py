"""Which numbers go with a text, in 16 bytes for each pair: for indexes that grow as long as a project lives."""

import numpy as np
import numpy.typing as npt

_RECENT = 500  # pairs that wait before they are sorted in; then a twentieth of all, so that sorting in stays rare
_RECENT_SHARE = 20


class TextNumbers:
    """Numbers by texts.

    A text is known by 64 bits of its hash: two texts can share one, so a caller checks what it finds.
    """

    def __init__(self) -> None:
        self._hashes: npt.NDArray[np.int64] = np.zeros(0, np.int64)  # ascending; equal ones in the order of adding
        self._numbers: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._recent: dict[int, list[int]] = {}  # by hash, not sorted in yet
        self._waiting = 0

    def add(self, text: str, number: int) -> None:
        """Note a number for a text."""
        self._recent.setdefault(hash(text), []).append(number)
        self._waiting += 1
        if self._waiting > max(_RECENT, len(self._hashes) // _RECENT_SHARE):
            self._sort_in()

    def find(self, text: str) -> list[int]:
        """The numbers of a text, in the order in which they were added."""
        key = hash(text)
        first = last = int(self._hashes.searchsorted(key))
        if first < len(self._hashes) and self._hashes[first] == key:
            last = int(self._hashes.searchsorted(key, "right"))
        return [*self._numbers[first:last].tolist(), *self._recent.get(key, ())]

    def _sort_in(self) -> None:
        keys = np.fromiter((key for key, numbers in self._recent.items() for _ in numbers), np.int64, self._waiting)
        added = np.fromiter((number for numbers in self._recent.values() for number in numbers), np.int64)
        order = np.argsort(keys, kind="stable")
        keys, added = keys[order], added[order]
        places = np.searchsorted(self._hashes, keys, side="right")
        self._hashes, self._numbers = np.insert(self._hashes, places, keys), np.insert(self._numbers, places, added)
        self._recent, self._waiting = {}, 0
