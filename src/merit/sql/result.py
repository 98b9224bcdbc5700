"""What running a statement gives: rows, a failure with its cause, or a timeout."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from merit.sql.limits import Limits
from merit.types import Cause

Value = None | int | float | str | bytes
Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a query; `truncated` when there were more than the limit."""

    columns: tuple[str, ...]
    rows: list[Row]
    truncated: bool = False


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


class Sandbox(Protocol):
    """One kind of database engine, made safe to hand any statement to."""

    def execute(
        self, database: Path, sql: str, limits: Limits, *, distinct: bool = False, lossy: bool = False
    ) -> Result:
        """Run one read-only query. `distinct` keeps each row once; `lossy` drops bytes that are not UTF-8."""
        ...

    def close(self) -> None:
        """Give back every connection and process."""
        ...
