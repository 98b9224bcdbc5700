"""What running a statement gives: rows, a failure with its cause, or a timeout."""

import hashlib
import marshal
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from merit.sql.limits import Limits
from merit.types import Cause

Value = None | int | float | str | bytes
Row = tuple[Value, ...]

# Python's own format: its version 2 writes equal values as equal bytes on every Python, and nothing else is as fast.
_MARSHAL = 2


def encode(rows: list[Row]) -> bytes:
    """Rows as bytes; equal bytes are the same rows of the same types in the same order."""
    return marshal.dumps(rows, _MARSHAL)


def decode(encoded: bytes) -> list[Row]:
    """The rows again."""
    rows: list[Row] = marshal.loads(encoded)
    return rows


def digest(encoded: bytes) -> bytes:
    """A short name for encoded rows."""
    return hashlib.blake2b(encoded, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a query; `truncated` when there were more than the limits allow."""

    columns: tuple[str, ...]
    rows: list[Row]
    truncated: bool = False
    steady: bool = field(default=True, compare=False)  # nothing in it depends on the clock or on chance


@dataclass(frozen=True, slots=True)
class Error:
    """No rows, and why; `message` is the database's own text where it has one."""

    cause: Cause
    message: str


@dataclass(frozen=True, slots=True)
class Timeout:
    """The deadline fired."""

    seconds: float

    @property
    def message(self) -> str:
        """The text a person or a model sees."""
        return f"the query timed out after {self.seconds:g} s"


Result = Rows | Error | Timeout


Task = tuple[bytes, tuple[float, int, int, int, int], bytes | None]  # database, limits, digest of the expected rows


class Trial:
    """One database to run a statement on, and the digest of the rows it should give, if any are expected."""

    __slots__ = ("task",)

    def __init__(self, database: Path, limits: Limits, expected: bytes | None = None) -> None:
        self.task: Task = (os.fsencode(database), limits.values(), expected)  # as it travels, made once


class Sandbox(Protocol):
    """One kind of database engine, made safe to hand any statement to."""

    def execute(
        self, database: Path, sql: str, limits: Limits, *, distinct: bool = False, lossy: bool = False
    ) -> Result:
        """Run one read-only query. `distinct` keeps each row once; `lossy` drops bytes that are not UTF-8."""
        ...

    def execute_each(
        self, databases: Sequence[Path], sql: str, limits: Limits, *, distinct: bool = False, lossy: bool = False
    ) -> list[Result]:
        """Run one query on database after database; a timeout or a crash is the last result."""
        ...

    def first_difference(
        self, trials: Sequence[Trial], sql: str, *, distinct: bool = False, lossy: bool = False
    ) -> tuple[int, Result] | None:
        """Run one query on database after database until one does not give its expected rows: which one, and what."""
        ...

    def close(self) -> None:
        """Give back every connection and process."""
        ...
