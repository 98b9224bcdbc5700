"""Drawing by lot, the same on every version of Python."""

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Lots from a seed: only `random.Random.random` is used, whose numbers Python promises to keep."""

    def __init__(self, *seed: object) -> None:
        digest = hashlib.sha256("\0".join(map(str, seed)).encode()).digest()
        self._lots = random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311 (rows, not secrets)

    def chance(self, share: float) -> bool:
        """Whether something that happens so often happens now."""
        return self._lots.random() < share

    def below(self, bound: int) -> int:
        """A whole number from 0 up to `bound`, without it."""
        return int(self._lots.random() * bound)

    def of(self, choices: Sequence[T]) -> T:
        """One of them."""
        return choices[self.below(len(choices))]

    def some(self, choices: Sequence[T], count: int) -> list[T]:
        """So many different ones of them, in an order of their own."""
        left = list(choices)
        return [left.pop(self.below(len(left))) for _ in range(min(count, len(left)))]
