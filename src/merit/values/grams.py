"""Keys found by the groups of three letters that they share with a text."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

_EDGE = "\0"  # stands before and after a key, so that its first and last letters count more
_BITS = 21  # of one character: Unicode has 0x110000


def grams(key: str) -> frozenset[str]:
    """The groups of three letters in a key, its edges included."""
    framed = f"{_EDGE}{key}{_EDGE}"
    return frozenset([framed[start : start + 3] for start in range(len(framed) - 2)])


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of groups that two keys have in common (Dice), from 0 to 1."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0


class GramIndex:
    """For each group of three letters, the keys that have it."""

    def __init__(self, keys: Sequence[str]) -> None:
        codes, owners = _codes(keys)
        self._owners = owners
        self._codes, self._starts, counts = np.unique(codes, return_index=True, return_counts=True)
        self._ends = self._starts + counts
        self._sizes = np.bincount(owners, minlength=len(keys))

    def sharing(self, wanted: Iterable[str], least: float, most: int) -> list[int]:
        """The keys of whose groups at least this share is among the wanted ones; those with the largest share first."""
        if not len(self._codes):
            return []
        codes = np.array(sorted({_code(gram) for gram in wanted}), dtype=np.int64)
        at = np.searchsorted(self._codes, codes)
        known = at[(at < len(self._codes)) & (self._codes[np.minimum(at, len(self._codes) - 1)] == codes)]
        if not len(known):
            return []
        hits = np.concatenate([self._owners[self._starts[place] : self._ends[place]] for place in known])
        shares = np.bincount(hits, minlength=len(self._sizes)) / self._sizes
        found = np.flatnonzero(shares >= least)
        best = np.lexsort((found, -self._sizes[found], -shares[found]))[:most]
        return [int(number) for number in found[best]]


def _code(gram: str) -> int:
    first, second, third = map(ord, gram)
    return first << 2 * _BITS | second << _BITS | third


def _codes(keys: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The groups of all keys as sorted numbers, each once a key, and which key each is of."""
    framed = "".join(f"{_EDGE}{key}{_EDGE}" for key in keys)
    letters = np.frombuffer(framed.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    lengths = np.array([len(key) + 2 for key in keys], dtype=np.int64)
    owners = np.repeat(np.arange(len(keys)), lengths)
    codes = letters[:-2] << 2 * _BITS | letters[1:-1] << _BITS | letters[2:]
    within = owners[:-2] == owners[2:]
    codes, owners = codes[within], owners[:-2][within]
    order = np.lexsort((owners, codes))
    codes, owners = codes[order], owners[order]
    first = np.ones(len(codes), dtype=bool)
    first[1:] = (codes[1:] != codes[:-1]) | (owners[1:] != owners[:-1])
    return codes[first], owners[first]
