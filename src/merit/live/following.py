"""What an agent works with, made from its database: when it is opened, and again when the schema changed meanwhile."""

import hashlib
import threading
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from merit.agent.confidence import Calibration, find_calibration, read_calibration
from merit.errors import DatabaseUnusable, InputError
from merit.live.asking.scrubbing import ScrubbedEngine, names_of
from merit.live.asking.selecting import LearnedAnswers, SchemaSelection
from merit.live.parts import LiveParts
from merit.live.record.history import History
from merit.live.schema.schemas import KnownSchemas
from merit.live.schema.staleness import follow_schema
from merit.live.shown import nameable, notes, readable, with_context
from merit.memory import Grade, Memory
from merit.models import CachingCompleter
from merit.prompts import LIVE_VERSION
from merit.selection import Selector
from merit.settings import ModelSettings, Settings
from merit.sql import content_hash
from merit.sql.address import parse
from merit.types import Encoder, Engine, Limits, ModelIdentity, Schema, ScopeKind, Store
from merit.values import ValueIndex, open_values

NO_MODEL = ModelIdentity("none")  # where no model was named
LOOK_S = 30.0  # between two looks at the schema: reading a large one takes a third of a second


@dataclass(frozen=True, slots=True)
class PartsMaker:
    """What stays open as long as the agent, and makes the rest from the schema."""

    settings: Settings
    url: str
    folder: Path
    cache: Path
    history: History
    engine: Engine
    store: Store
    memory: Memory
    completer: CachingCompleter
    encoder: Encoder | None

    def make_parts(self, found: Schema) -> LiveParts:
        """Everything for a schema that was just read."""
        settings, database = self.settings, self.settings.database
        never = database.rows == "never"
        engine: Engine = ScrubbedEngine(self.engine, names_of(found)) if never else self.engine
        if not found.tables:
            raise InputError(
                f"{database.name}: has no tables to ask about; check the role's rights, and include and exclude in "
                "merit.toml, or name another database"
            )
        schema, context = with_context(nameable(replace(found, db_id=database.name)), settings)
        values = None if never else self._values(readable(schema, database))
        selector = Selector(
            schema, budget=settings.budget.schema_tokens, dialect=engine.dialect, values=values, encoder=self.encoder
        )
        learned = LearnedAnswers(self.store, lambda: self.memory.sequence, database.name)
        return LiveParts(
            engine=engine,
            schema=schema,
            completer=self.completer,
            memory=self.memory,
            history=self.history,
            values=values,
            notes=notes(context),
            selection=SchemaSelection(selector, learned),
            include=database.include,
            exclude=database.exclude,
            calibration=_calibration(settings.model, self.completer.identity.name),
            checks=settings.checks,
            keep=Grade(settings.memory.keep),
            encoder=self.encoder.identity.name if self.encoder is not None else None,
            schemas=KnownSchemas(self.folder, schema, engine.dialect),
            scope=ScopeKind(settings.memory.scope),
            team=settings.memory.team,
            has_model=self.completer.identity != NO_MODEL,
        )

    def _values(self, schema: Schema) -> ValueIndex:
        """The values of a database: a file's are kept under its content, a server's for a day."""
        address = parse(self.url)
        if address.dialect == "sqlite":
            content = content_hash(Path(address.database))
        else:
            named = f"{address.shown} {datetime.now(UTC):%Y-%m-%d} {schema.text()}"
            content = hashlib.sha256(named.encode()).hexdigest()
        return open_values(self.engine, schema, content, self.cache)


class SchemaFollower:
    """Looks at a database's schema from time to time: an agent may stay open for weeks."""

    def __init__(self, maker: PartsMaker, limits: Limits) -> None:
        self._maker = maker
        self._limits = limits
        self._lock = threading.Lock()
        self._text = ""
        self._looked_at = -LOOK_S

    def parts(self) -> LiveParts:
        """The parts for the schema as it is now; entries that it concerns are marked."""
        found = self._maker.engine.schema()
        parts = self._maker.make_parts(found)
        follow_schema(parts, self._limits)
        self._text, self._looked_at = found.text(), time.monotonic()
        return parts

    def renewed(self) -> LiveParts | None:
        """New parts where the schema changed since the last look, which is not repeated at once."""
        with self._lock:
            if time.monotonic() - self._looked_at < LOOK_S:
                return None
            self._looked_at = time.monotonic()
            try:
                changed = self._maker.engine.schema().text() != self._text
            except DatabaseUnusable:
                return None  # the statement that needs the database says so
            return self.parts() if changed else None


def _calibration(model: ModelSettings, name: str) -> Calibration | None:
    """What a share of this model's votes is worth; a file that says so of another one is refused."""
    given = read_calibration(model.calibration) if model.calibration is not None else None
    calibration = find_calibration(name, LIVE_VERSION, given)
    if given is not None and calibration is None:
        raise InputError(
            f"{model.calibration}: was fitted on {given.about}, and this is the model {name} with the prompts "
            f"{LIVE_VERSION}; take 'calibration' out of [model], or fit one on runs with --prompts live"
        )
    return calibration
