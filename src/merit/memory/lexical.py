"""BM25 over one segment of entries, with the statistics of whichever pool is selected (paper, appendix on retrieval).

Texts are tokenised once, when they are added; a query touches only the postings of its own tokens.
"""

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

K1 = 1.5
B = 0.75
_SHORT = 1024  # postings with fewer rows are scored together: alone, the calls cost more than the arithmetic

_TIMES = 2**32  # more often than that no text has a token

_TOKEN = re.compile(r"[a-z0-9_]+")
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Piece = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]  # rows in ascending order, and how often each has it


def tokenise(text: str) -> list[str]:
    """Lower-cased runs of letters, digits and underscores."""
    return _TOKEN.findall(text.lower())


class Postings:
    """Which rows have which token how often. The first rows may be loaded from disk; later ones grow in memory."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0  # tokens
        self.lengths = array("I")
        self._loaded: dict[str, int] = {}
        self._starts: npt.NDArray[np.int64] = np.zeros(1, np.int64)
        self._rows: npt.NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._times: npt.NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._grown: dict[str, tuple[array[int], array[int]]] = {}
        self._once: dict[str, int] = {}  # tokens of one later row: most words are rare, and two arrays take 250 bytes

    def add(self, text: str) -> None:
        """Append a row."""
        tokens = tokenise(text)
        for token, times in Counter(tokens).items():
            if token in self._grown:
                rows, often = self._grown[token]
                rows.append(self.count)
                often.append(times)
            elif token in self._once:
                row, before = divmod(self._once.pop(token), _TIMES)
                self._grown[token] = (array("I", [row, self.count]), array("I", [before, times]))
            else:
                self._once[token] = self.count * _TIMES + times
        self.lengths.append(len(tokens))
        self.total += len(tokens)
        self.count += 1

    def pieces(self, token: str) -> Iterator[Piece]:
        """The postings of a token, in one or two pieces."""
        at = self._loaded.get(token)
        if at is not None:
            span = slice(self._starts[at], self._starts[at + 1])
            yield self._rows[span], self._times[span]
        if token in self._grown:
            rows, times = self._grown[token]
            yield np.frombuffer(rows, np.uint32), np.frombuffer(times, np.uint32)
        elif token in self._once:
            row, often = divmod(self._once[token], _TIMES)
            yield np.array([row], np.uint32), np.array([often], np.uint32)

    def frequency(self, token: str, mask: Mask | None) -> int:
        """In how many rows, of those in `mask`, the token stands."""
        if mask is not None:
            return sum(int(np.count_nonzero(mask[rows])) for rows, _ in self.pieces(token))
        at = self._loaded.get(token)
        loaded = 0 if at is None else int(self._starts[at + 1] - self._starts[at])
        return loaded + (len(self._grown[token][0]) if token in self._grown else token in self._once)

    def score(self, weights: Mapping[str, float], mean_length: float, mask: Mask | None) -> Floats:
        """The BM25 score of every row in `mask`, in row order, for weighted tokens.

        Whatever the shortcut, each row's sum takes the same steps in the same order, so that equal rows have equal
        scores to the last bit, in whichever segment they are.
        """
        lengths = np.array(self.lengths, np.float64)
        norms = K1 * (1.0 - B + B * lengths / mean_length)
        scores = np.zeros(self.count)
        alike: dict[int, Floats] = {}
        part = np.empty(self.count)  # one buffer for all: fresh ones of this size cost more than the arithmetic
        short: list[tuple[Piece, float]] = []  # that come next
        for token, weight in weights.items():
            factor = weight * (K1 + 1.0)
            for rows, times in self.pieces(token):
                if len(rows) < _SHORT:
                    short.append(((rows, times), factor))
                    continue
                _add(scores, norms, short)
                if len(rows) == self.count:  # in every row, as words of the template are
                    if (often := int(times.min())) == times.max():  # and equally often
                        if often not in alike:
                            alike[often] = often / (often + norms)
                        scores += np.multiply(alike[often], factor, out=part)
                        continue
                    np.divide(times, np.add(times, norms, out=part), out=part)
                    scores += np.multiply(part, factor, out=part)
                else:
                    if mask is not None:
                        in_pool = mask[rows]
                        rows, times = rows[in_pool], times[in_pool]
                    at = rows.astype(np.intp)  # once, instead of at every use
                    some = norms.take(at)
                    some += times
                    np.divide(times, some, out=some)
                    some *= factor
                    some += scores.take(at)
                    scores[at] = some
        _add(scores, norms, short)
        return scores if mask is None else scores[mask]

    def dump(self) -> dict[str, npt.NDArray[np.generic]]:
        """Everything as flat arrays."""
        later = (*self._grown, *self._once)
        vocabulary = [*self._loaded, *(token for token in later if token not in self._loaded)]
        pieces = [list(self.pieces(token)) for token in vocabulary]
        sizes = [sum(len(rows) for rows, _ in token_pieces) for token_pieces in pieces]
        flat = [piece for token_pieces in pieces for piece in token_pieces]
        empty = np.zeros(0, np.uint32)
        return {
            "vocabulary": np.frombuffer("\n".join(vocabulary).encode(), np.uint8),
            "starts": np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
            "rows": np.concatenate([rows for rows, _ in flat]) if flat else empty,
            "times": np.concatenate([times for _, times in flat]) if flat else empty,
            "lengths": np.frombuffer(self.lengths, np.uint32) if self.count else empty,
        }

    @classmethod
    def load(cls, arrays: Mapping[str, npt.NDArray[np.generic]]) -> "Postings":
        """The postings of a dump; a ValueError if the arrays cannot belong together."""
        loaded = cls()
        vocabulary = arrays["vocabulary"].tobytes().decode()
        tokens = vocabulary.split("\n") if vocabulary else []
        loaded._loaded = {token: at for at, token in enumerate(tokens)}
        loaded._starts = arrays["starts"].astype(np.int64, copy=False)
        loaded._rows = arrays["rows"].astype(np.uint32, copy=False)
        loaded._times = arrays["times"].astype(np.uint32, copy=False)
        loaded.lengths = array("I", arrays["lengths"].tobytes())
        loaded.count = len(loaded.lengths)
        loaded.total = sum(loaded.lengths)
        if len(loaded._loaded) != len(tokens) or not loaded._belong_together():
            raise ValueError("the postings contradict each other")
        return loaded

    def _belong_together(self) -> bool:
        """Whether every token has its span of rows, and every row is there."""
        starts, size = self._starts, len(self._rows)
        if len(starts) != len(self._loaded) + 1 or starts[0] != 0 or starts[-1] != size or len(self._times) != size:
            return False
        return bool((np.diff(starts) >= 0).all()) and (size == 0 or int(self._rows.max()) < self.count)


def _add(scores: Floats, norms: Floats, pieces: list[tuple[Piece, float]]) -> None:
    """Add what weighted postings give to the rows they name, one after the other, and forget them."""
    if not pieces:
        return
    rows = np.concatenate([rows for (rows, _), _ in pieces]).astype(np.intp)
    times = np.concatenate([times for (_, times), _ in pieces])
    part = norms.take(rows)
    part += times
    np.divide(times, part, out=part)
    part *= np.repeat([factor for _, factor in pieces], [len(rows) for (rows, _), _ in pieces])
    np.add.at(scores, rows, part)  # in order, also where a row comes up again
    pieces.clear()


def weigh(query: str, pool: Sequence[tuple[Postings, Mask | None]], size: int) -> dict[str, float]:
    """How much each token of the query counts in a pool: its IDF there, times how often the query has it."""
    weights = {}
    for token, times in Counter(tokenise(query)).items():
        frequency = sum(postings.frequency(token, mask) for postings, mask in pool)
        if frequency:
            weights[token] = times * math.log(1.0 + (size - frequency + 0.5) / (frequency + 0.5))
    return weights


def mean_length(pool: Sequence[tuple[Postings, Mask | None]], size: int) -> float:
    """The mean number of tokens of a pool's rows."""
    total = 0
    for postings, mask in pool:
        if mask is None:
            total += postings.total
        else:
            total += int(np.frombuffer(postings.lengths, np.uint32)[mask].sum(dtype=np.int64))
    return total / size if total else 1.0
