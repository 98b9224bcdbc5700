"""The vectors of one bucket: appended, kept in a file, memory-mapped when opened again."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
_FIRST_ROWS = 64


class Vectors:
    """A matrix that grows by rows, in a file of plain float32 or, without a path, in memory."""

    def __init__(self, path: Path | None, dimension: int, count: int = 0) -> None:
        """`count` rows of an existing file are kept; whatever follows them is written over."""
        self._path = path
        self._dimension = dimension
        self.count = count
        self._rows = self._map(max(count, _FIRST_ROWS)) if count or path is None else None

    @property
    def matrix(self) -> Matrix:
        """All rows, one below the other."""
        if self._rows is None:
            return np.zeros((0, self._dimension), np.float32)
        return self._rows[: self.count]

    def append(self, vector: Matrix) -> None:
        """Add a row."""
        if self._rows is None:
            self._rows = self._map(_FIRST_ROWS)
        elif self.count == len(self._rows):
            self._rows = self._grown(2 * self.count)
        self._rows[self.count] = vector
        self.count += 1

    def flush(self) -> None:
        """Hand written rows to the file."""
        if isinstance(self._rows, np.memmap):
            self._rows.flush()

    def _grown(self, capacity: int) -> Matrix:
        if self._path is None:
            wider = np.zeros((capacity, self._dimension), np.float32)
            wider[: self.count] = self.matrix
            return wider
        self._rows = None  # unmap before the file grows
        return self._map(capacity)

    def _map(self, capacity: int) -> Matrix:
        if self._path is None:
            return np.zeros((capacity, self._dimension), np.float32)
        self._path.touch()
        size = capacity * self._dimension * 4
        with self._path.open("r+b") as file:
            file.truncate(max(size, self._path.stat().st_size // (self._dimension * 4) * self._dimension * 4))
        rows = self._path.stat().st_size // (self._dimension * 4)
        return np.memmap(self._path, np.float32, "r+", shape=(rows, self._dimension))
