"""The vectors of one segment: appended in memory, saved in a file, and trusted only if they are the saved bytes.

They are read into memory, not mapped: a mapped file that loses its end kills the process that looks at it. The price is
that all of them are in memory, 1.5 GB for a million of 384 dimensions, also those that are never recalled from.
"""

import hashlib
import mmap
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from merit.memory.files import open_file, open_to_change

Matrix = npt.NDArray[np.float32]
_SPARE_ROWS = 64


class Vectors:
    """A matrix that grows by rows; its file, if there is one, holds the rows of the last save."""

    def __init__(self, dimension: int) -> None:
        self.count = 0
        self._rows = _room(_SPARE_ROWS, dimension)
        self._saved_rows = 0  # how many rows are in the file
        self._digest = hashlib.sha256()  # of those

    @classmethod
    def read(cls, path: Path, dimension: int, count: int, checksum: str) -> "Vectors":
        """The first `count` rows of a file; a ValueError if they are not those that were saved."""
        vectors = cls(dimension)
        with open_file(path, through_link=False) as file:
            if os.fstat(file.fileno()).st_size < 4 * dimension * count:
                raise ValueError(f"{path.name} is too short")
            vectors._grow(count)
            vectors.count = file.readinto(vectors._rows[:count].data) // (4 * dimension)
        vectors._digest.update(vectors.matrix.data)
        if vectors._digest.hexdigest() != checksum:
            raise ValueError(f"{path.name} is damaged")
        vectors._saved_rows = vectors.count
        return vectors

    @property
    def matrix(self) -> Matrix:
        """All rows, one below the other."""
        return self._rows[: self.count]

    def append(self, vector: Matrix) -> None:
        """Add a row."""
        self._grow(self.count + 1)
        self._rows[self.count] = vector
        self.count += 1

    def save(self, path: Path) -> str:
        """Add the rows that are not in the file yet; returns the checksum of all.

        Saved rows stay as they are, so a snapshot that names only those stays valid if this is interrupted.
        """
        fresh = self._rows[self._saved_rows : self.count]
        if not self._saved_rows:
            path.unlink(missing_ok=True)  # what an interrupted save left, or a link to something else
        with open_to_change(path) if self._saved_rows else path.open("xb") as file:
            file.seek(self._saved_rows * fresh.itemsize * fresh.shape[1])
            file.write(fresh.tobytes())
        self._digest.update(fresh.data)
        self._saved_rows = self.count
        return self._digest.hexdigest()

    def _grow(self, needed: int) -> None:
        """Make room; a quarter more than needed, which costs nothing until it is written to."""
        if needed > len(self._rows):
            wider = _room(needed + needed // 4 + _SPARE_ROWS, self._rows.shape[1])
            wider[: self.count] = self.matrix
            self._rows = wider


def _room(rows: int, dimension: int) -> Matrix:
    """Pages of its own, which go back as a whole: outgrown matrices would leave holes between what threads allocate."""
    return np.frombuffer(mmap.mmap(-1, 4 * rows * dimension, access=mmap.ACCESS_COPY), np.float32).reshape(
        rows, dimension
    )
