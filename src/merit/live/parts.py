"""What the agent for one database works with."""

from dataclasses import dataclass

from merit.live.history import History
from merit.live.selecting import SchemaSelection
from merit.memory import Grade, Memory
from merit.prompts import StoredValues
from merit.settings import CheckSettings
from merit.types import Completer, Engine, Schema


@dataclass(frozen=True, slots=True)
class LiveParts:
    """What an agent works with; `values` is None where no rows may be shown to a model."""

    engine: Engine
    schema: Schema  # its `db_id` is the database's name in the memory: the same for all copies that share it
    completer: Completer
    memory: Memory
    history: History
    values: StoredValues | None = None
    notes: tuple[str, ...] = ()  # rules and meanings that people wrote down
    selection: SchemaSelection | None = None  # None: the whole schema is always shown
    checks: tuple[CheckSettings, ...] = ()  # what must hold of answers
    keep: Grade = Grade.TESTED  # the least grade that is kept without a person's word
