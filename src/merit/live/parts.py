"""What the agent for one database works with."""

from dataclasses import dataclass, replace
from functools import cached_property

from merit.agent.confidence import Calibration
from merit.errors import InputError
from merit.live.asking.selecting import SchemaSelection
from merit.live.record.history import History
from merit.live.schema.schemas import KnownSchemas, fingerprint
from merit.memory import Grade, Memory
from merit.models import CachingCompleter
from merit.prompts import LiveTexts, StoredValues
from merit.settings import CheckSettings
from merit.types import Engine, Schema, ScopeKind, Viewer, is_scope


@dataclass(frozen=True)
class LiveParts:
    """What an agent works with; `values` is None where no rows may be shown to a model."""

    engine: Engine
    schema: Schema  # its `db_id` is the database's name in the memory: the same for all copies that share it
    completer: CachingCompleter
    memory: Memory
    history: History
    values: StoredValues | None = None
    notes: tuple[str, ...] = ()  # rules and meanings that people wrote down
    selection: SchemaSelection | None = None  # None: the whole schema is always shown
    include: tuple[str, ...] = ()  # what merit.toml shows of the database, and what not
    exclude: tuple[str, ...] = ()
    calibration: Calibration | None = None  # what a share of votes is worth, where that was measured
    checks: tuple[CheckSettings, ...] = ()  # what must hold of answers
    keep: Grade = Grade.TESTED  # the least grade that is kept without a person's word
    encoder: str | None = None  # the name of the one whose vectors rank
    schemas: KnownSchemas | None = None  # None: entries are not checked for staleness
    scope: ScopeKind = ScopeKind.DATABASE  # whom what people say is for
    team: str = ""  # whose entries are recalled besides
    has_model: bool = True  # False: only statements that come with their question can be judged

    def candidates(self, most: int, *, execute: bool, sql: str | None) -> int:
        """How many a question can have: one where nothing is executed, or where no model follows a first statement."""
        return most if execute and (self.has_model or sql is None) else 1

    def without_learned(self) -> "LiveParts":
        """The same with a selection from the schema that knows of no confirmed question."""
        return replace(self, selection=self.selection.without_learned() if self.selection is not None else None)

    def viewer(self, author: str) -> Viewer:
        """What a person may be shown."""
        return Viewer(author, self.team)

    def scope_of(self, author: str) -> str | None:
        """The scope of what a person says."""
        if self.scope is ScopeKind.DATABASE:
            return None
        scope = f"{self.scope}:{author if self.scope is ScopeKind.PERSONAL else self.team}"
        if not is_scope(scope):
            raise InputError("what is personal needs the name of its author, on one line and of at most 200 characters")
        return scope

    def about(self) -> dict[str, object]:
        """Database, model and settings, as a page shows them."""
        return {
            "database": self.schema.db_id,
            "dialect": self.engine.dialect,
            "model": self.completer.identity.name,
            "encoder": self.encoder,
            "rows": "prompt" if self.values is not None else "never",
            "calibrated_on": self.calibration.about if self.calibration is not None else None,
        }

    @cached_property
    def texts(self) -> LiveTexts:
        """What prompts say of the tables."""
        return LiveTexts(self.engine.dialect, self.values)

    @cached_property
    def schema_text(self) -> str:
        """What the schema says, as entries keep it."""
        return self.schema.text()

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what the schema says: with the database's name, it tells which database a question was about."""
        return fingerprint(self.schema_text)
