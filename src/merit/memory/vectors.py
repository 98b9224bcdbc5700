"""The vectors of one bucket: appended, kept in a file, memory-mapped when opened again."""

import os
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

    def reserve(self, rows: int) -> None:
        """Make room for `rows` more, on the disk too; after this, appending them cannot fail."""
        needed = self.count + rows
        if self._rows is None:
            self._rows = self._map(max(needed, _FIRST_ROWS))
        elif needed > len(self._rows):
            self._rows = self._grown(max(needed, 2 * self.count))

    def append(self, vector: Matrix) -> None:
        """Add a row."""
        self.reserve(1)
        assert self._rows is not None
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
        return self._map(capacity)

    def _map(self, capacity: int) -> Matrix:
        if self._path is None:
            return np.zeros((capacity, self._dimension), np.float32)
        row_bytes = 4 * self._dimension
        _extend(self._path, capacity * row_bytes)
        rows = self._path.stat().st_size // row_bytes
        return np.memmap(self._path, np.float32, "r+", shape=(rows, self._dimension))


def rows_in(path: Path, dimension: int) -> int:
    """How many rows a file has."""
    return path.stat().st_size // (4 * dimension) if path.is_file() else 0


def _extend(path: Path, size: int) -> None:
    """Make a file at least so large, with real blocks: to write into a mapped hole on a full disk kills a process."""
    with path.open("ab") as file:
        missing = size - file.tell()
        if missing <= 0:
            return
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), file.tell(), missing)
        else:
            file.write(bytes(missing))
