"""One database to run a statement on, and the rows it should give."""

import os
from pathlib import Path

from merit.types import Limits

Task = tuple[bytes, tuple[float, int, int, int, int], bytes | None]  # database, limits, digest of the expected rows


class Trial:
    """One database to run a statement on, and the digest of the rows it should give, if any are expected."""

    __slots__ = ("task",)

    def __init__(self, database: Path, limits: Limits, expected: bytes | None = None) -> None:
        self.task: Task = (
            os.fsencode(database),
            limits.values(),
            expected,
        )  # in the form in which it is sent to the worker, made once
