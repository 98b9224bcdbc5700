"""Random choices that are the same on every version of Python."""

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Random choices from a seed: only `random.Random.random` is used, whose numbers Python promises to keep."""

    def __init__(self, *seed: object) -> None:
        digest = hashlib.sha256("\0".join(map(str, seed)).encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311 (rows, not secrets)

    def chance(self, share: float) -> bool:
        """True with the probability `share`."""
        return self._random.random() < share

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound` - 1."""
        return int(self._random.random() * bound)

    def of(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return choices[self.below(len(choices))]

    def some(self, choices: Sequence[T], count: int) -> list[T]:
        """At most `count` different choices, in random order."""
        left = list(choices)
        return [left.pop(self.below(len(left))) for _ in range(min(count, len(left)))]
