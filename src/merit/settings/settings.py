"""What `merit.toml` says, as values."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from merit.errors import InputError
from merit.settings.checks import CheckSettings

ROWS = ("prompt", "never")  # whether rows and stored values may stand in prompts and indexes
GRADES = ("confirmed", "tested", "agreed", "executed")  # of `merit.types.Grade`, the surest first
SCOPES = ("personal", "team", "database")  # of `merit.types.ScopeKind`, the narrowest first
# Columns whose values are never read, unless the file says otherwise: keys to other doors, and what names a person.
DEFAULT_PRIVATE = (
    *("*password*", "*passwd*", "*secret*", "*token*", "*api_key*", "*apikey*", "*private_key*", "*salt*"),
    *("*email*", "*e_mail*", "*phone*", "*ssn*", "*social_security*", "*passport*", "*iban*", "*card_number*"),
)


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """The table `[database]`."""

    name: str  # what memories and receipts call the database, wherever it is
    url: str = ""
    url_env: str = ""  # the environment variable that holds the URL
    rows: str = "prompt"
    timeout_s: float = 30.0
    include: tuple[str, ...] = ()  # patterns of schemas, tables and columns, as `merit.sql.reflect` reads them
    exclude: tuple[str, ...] = ()
    private: tuple[str, ...] = DEFAULT_PRIVATE

    def resolved_url(self, environment: Mapping[str, str] = os.environ) -> str:
        """The URL, from the environment where the file names a variable."""
        return _resolved(self.url, self.url_env, f"the database {self.name}", environment)

    def is_private(self, table: str, column: str) -> bool:
        """Whether a column's values may never be read, neither for a prompt nor for an index."""
        return self.rows == "never" or matches(self.private, f"{table}.{column}")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The table `[model]`."""

    uri: str = ""
    encoder: str = "wordllama"
    calibration: Path | None = None  # what a share of votes is worth, as `merit calibrate` wrote it


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """The table `[budget]`: what a question may take, and a day; None where there is no limit."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None
    calls_per_day: int | None = None
    tokens_per_day: int | None = None
    cost_per_day: float | None = None
    prices: tuple[float, float] | None = None  # of a million tokens: prompt, output
    schema_tokens: int = 8000  # a schema beyond it is shown in part


@dataclass(frozen=True, slots=True)
class AskingSettings:
    """The table `[asking]`: how many candidates a question gets, and when they agree."""

    candidates: int = 8  # at most
    least: int | None = None  # after so many, agreement ends the asking; None: only when no other one could win
    enough: float = 0.5  # the share of votes that counts as agreement


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """The table `[context]`: files in which people wrote down what their data means."""

    comments: bool = True  # whether the database's own comments are used
    dbt: Path | None = None  # the target folder of a dbt project, or its manifest.json
    semantic: tuple[Path, ...] = ()  # YAML of Apache Ossie or Snowflake Cortex
    schema: str = ""  # whose tables the database names without a qualifier


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """The table `[memory]`: how sure an answer must be, by its grade, and where what is learned is kept."""

    recall: str = "tested"  # the least grade that later questions are shown
    keep: str = "tested"  # the least grade that is kept without a person's word
    url: str = ""  # of a PostgreSQL database that a team shares; empty for the project's folder
    url_env: str = ""  # the environment variable that holds the URL
    scope: str = "database"  # whom what people say is for: themselves, their team, or all who ask the database
    team: str = ""  # whose entries are recalled besides, and are made with the scope `team`

    def resolved_url(self, environment: Mapping[str, str] = os.environ) -> str:
        """The URL, from the environment where the file names a variable; empty for the project's folder."""
        return _resolved(self.url, self.url_env, "the memory", environment)


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The table `[serve]`: what `merit serve` lets one person take, and how long it keeps what was asked."""

    keep_days: int | None = None  # answers without consequences are purged after so many days; None keeps them
    requests_per_minute: int = 600  # of one person
    asks_each: int = 4  # questions of one person at a time
    asks: int = 64  # of all people together
    stop_seconds: int = 20  # for questions under way to be answered once the server is told to stop


@dataclass(frozen=True, slots=True)
class Settings:
    """What a `merit.toml` says."""

    path: Path
    database: DatabaseSettings
    model: ModelSettings = field(default_factory=ModelSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    asking: AskingSettings = field(default_factory=AskingSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    rules: Mapping[str, str] = field(default_factory=dict)
    glossary: Mapping[str, str] = field(default_factory=dict)
    memory: MemorySettings = field(default_factory=MemorySettings)
    checks: tuple[CheckSettings, ...] = ()
    serve: ServeSettings = field(default_factory=ServeSettings)


def _resolved(url: str, variable: str, what: str, environment: Mapping[str, str]) -> str:
    if not variable:
        return url
    if not environment.get(variable):
        raise InputError(f"{variable}: the environment variable is not set; set it to the URL of {what}")
    return environment[variable]


def matches(patterns: Iterable[str], name: str) -> bool:
    """Whether a pattern fits the end of a name with dots, part by part; case does not matter.

    `email`, `users.*` and `sales.users.email` fit `sales.users.email`. A pattern with more parts than the name fits,
    too, where the parts that there are do: what may be private is.
    """
    parts = name.casefold().split(".")[::-1]
    return any(
        all(fnmatchcase(part, wanted) for part, wanted in zip(parts, pattern.casefold().split(".")[::-1], strict=False))
        for pattern in patterns
    )
