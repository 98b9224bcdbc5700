"""Products of vectors: small ones use no BLAS threads, and none of them is further off than recall allows for."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from merit import vectors
from merit.vectors import products

DIMENSION = 384
ROUNDOFF = 2.0**-24


def unit(rows: int) -> npt.NDArray[np.float32]:
    drawn = np.random.default_rng(rows).standard_normal((rows, DIMENSION), np.float32)
    scaled: npt.NDArray[np.float32] = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return scaled


class Watched(np.ndarray):
    """A matrix that cannot be multiplied as one, which is what BLAS shares between threads."""

    def __matmul__(self, other: Any) -> Any:
        raise AssertionError("multiplied as a matrix")


@pytest.mark.parametrize("rows", [0, 1, 7000, 40_000])
def test_small_products_use_no_threads(rows: int) -> None:
    found = products(unit(rows).view(Watched), unit(1)[0])
    assert found.shape == (rows,)
    assert found.dtype == np.float32


def test_large_products_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_THREADED_FROM", 100 * DIMENSION)
    with pytest.raises(AssertionError, match="multiplied as a matrix"):
        products(unit(100).view(Watched), unit(1)[0])


@pytest.mark.parametrize("threaded_from", [0, 1 << 24])
def test_either_way_is_as_near_as_recall_allows_for(threaded_from: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_THREADED_FROM", threaded_from)
    matrix, query = unit(3000), unit(1)[0]
    exact = matrix.astype(np.float64) @ query.astype(np.float64)
    assert np.abs(products(matrix, query) - exact).max() <= 1.01 * (DIMENSION + 1) * ROUNDOFF
