"""One database that any statement can be handed to, and what running one gives."""

from dataclasses import dataclass, field
from typing import Protocol

from merit.types.health import Health
from merit.types.nouns import Cause
from merit.types.schema import Schema

MIB = 1024 * 1024

# The SQL dialects that merit knows, with the engine's name as people and models read it.
DIALECTS = {
    "sqlite": "SQLite",
    "postgresql": "PostgreSQL",
    "mysql": "MySQL",
    "mariadb": "MariaDB",
    "duckdb": "DuckDB",
}

# The same dialects, by the names that sqlglot gives them.
SQLGLOT_DIALECTS = {
    "sqlite": "sqlite",
    "postgresql": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
    "duckdb": "duckdb",
}

Value = None | int | float | str | bytes
Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps on one statement: a result beyond `rows` or `result_bytes` is cut off, the rest is refused."""

    timeout_s: float = 30.0
    rows: int = 1_000_000
    result_bytes: int = 32 * MIB
    cell_bytes: int = 1 * MIB
    sql_bytes: int = 100_000

    def values(self) -> tuple[float, int, int, int, int]:
        """The fields in their order."""
        return self.timeout_s, self.rows, self.result_bytes, self.cell_bytes, self.sql_bytes


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a query; `truncated` when there were more than the limits allow."""

    columns: tuple[str, ...]
    rows: list[Row]
    truncated: bool = False
    steady: bool = field(default=True, compare=False)  # nothing in it depends on the clock or on chance


@dataclass(frozen=True, slots=True)
class Error:
    """No rows, and why.

    `message` is the engine's own text where it has one. `code` is the engine's own code: SQLite's result code by name,
    PostgreSQL's SQLSTATE, MySQL's and MariaDB's number, the name of DuckDB's exception. It is empty where the engine
    reported none, for example because merit refused the statement first. `hint` and `position` (of a character, counted
    from 1) are the engine's, too, where it gives them; they are part of the message, and stand here to be used.
    """

    cause: Cause
    message: str
    code: str = ""
    hint: str = field(default="", compare=False)
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Timeout:
    """The deadline passed before the statement was done."""

    seconds: float

    @property
    def message(self) -> str:
        """The text a person or a model sees."""
        return f"the query timed out after {self.seconds:g} s"


Result = Rows | Error | Timeout


class Engine(Protocol):
    """One database of one engine, made safe to hand any statement to."""

    @property
    def dialect(self) -> str:
        """The SQL it understands: a key of `DIALECTS`."""
        ...

    def execute(self, sql: str, limits: Limits) -> Result:
        """Run one read-only query; whatever the statement does wrong is a result, never an exception.

        DatabaseUnusable is raised where the database is out of reach, which no statement can help.
        """
        ...

    def schema(self) -> Schema:
        """The tables and views, from the database's own catalogue; raises DatabaseUnusable where it cannot be read."""
        ...

    def health(self) -> Health:
        """What answers there, and what its role could do if nothing of merit stood between; nothing is tried out."""
        ...

    def close(self) -> None:
        """Give back every connection and process."""
        ...
