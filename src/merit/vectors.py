"""Checking and scaling what an encoder returns, and products of such vectors."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from merit.errors import EncoderFailed
from merit.types import EncoderIdentity, Matrix

_THREADED_FROM = 1 << 24  # numbers, 64 MB: 44,000 vectors of 384 dimensions
_SINGLE = 1e-6  # how far from 1 rounding to single precision takes a length


def unit_vectors(raw: npt.ArrayLike, texts: Sequence[str], identity: EncoderIdentity) -> Matrix:
    """Scale an encoder's output to length 1, after checking its shape and values."""
    matrix = np.asarray(raw, dtype=np.float64)
    if matrix.shape != (len(texts), identity.dimension):
        raise EncoderFailed(
            f"{identity.name}: {len(texts)} texts gave an array of shape {matrix.shape}, expected "
            f"{(len(texts), identity.dimension)}; is it the same model as before?"
        )
    if not np.isfinite(matrix).all():
        raise EncoderFailed(f"{identity.name}: the encoder returned a vector that is not a number; nothing was kept")
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    # A vector of length 1 or 0 is left as it is: scaling it again would change its last bits.
    settled = (np.abs(lengths - 1.0) < _SINGLE) | (lengths == 0.0)
    return (matrix / np.where(settled, 1.0, lengths)).astype(np.float32)


def products(matrix: Matrix, query: Matrix) -> Matrix:
    """The product of each row and a query, in single precision.

    BLAS shares a matrix-vector product between threads even where one takes a tenth of a millisecond. On a machine with
    other work to do, its threads then wait for each other for tens of milliseconds. Row by row, BLAS uses no threads;
    that costs little until the rows are so many that memory is what all wait for.
    """
    return matrix @ query if matrix.size >= _THREADED_FROM else np.vecdot(matrix, query)
