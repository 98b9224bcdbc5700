"""An agent for a database, put together from names or from `merit.toml`."""

import logging
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import NoneType

from merit.agent import RELATED, find_method, only_sure
from merit.cache import cache_folder
from merit.errors import InputError, check_type
from merit.live.agent import LiveAgent
from merit.live.following import NO_MODEL, PartsMaker, SchemaFollower
from merit.live.record.history import History
from merit.live.record.purging import finish_purge
from merit.live.switch import switched_off
from merit.memory import Grade, Memory, index_folder, is_url, open_store
from merit.models import AnswerStore, CachingCompleter, check_encoder, open_completer, open_encoder
from merit.models.answers import FILE as ANSWERS
from merit.runs.paths import MANIFEST
from merit.settings import (
    AskingSettings,
    BudgetSettings,
    DatabaseSettings,
    MemorySettings,
    ModelSettings,
    Settings,
    checked_scope,
)
from merit.sql.address import FILES, parse
from merit.sql.connect import SchemaFilter, open_engine
from merit.types import Completer, Completion, Limits, Sampling

_log = logging.getLogger(__name__)
DEFAULT_METHOD = "precedent_grounded"
NAME_A_MODEL = "no model was named; give --model openai:MODEL, or 'uri' under [model] in merit.toml"
_AT_HAND = 100  # entries and recalls: an agent may stay open for months
FOLDER = Path(".merit")  # of a project: its memory and history


def connect(
    url: str | Path,
    *,
    model: str | Completer | None,
    name: str = "",
    folder: str | Path = FOLDER,
    memory: str = "",
    scope: str = "database",
    team: str = "",
    encoder: str = "wordllama",
    method: str = DEFAULT_METHOD,
    rows: bool = True,
    asking: AskingSettings | None = None,
    budget: BudgetSettings | None = None,
) -> LiveAgent:
    """An agent for the database at a URL: `sqlite:///FILE`, `duckdb:///FILE`, `postgresql://...`, `mysql://...`.

    What it learns and what was asked is kept in `folder`; what it learns in `memory` instead, where that is the URL of
    a team's memory on PostgreSQL. `name` is what the memory calls the database: another copy of it under the same name
    shares what was learned. What people say is for everyone who asks the database, unless `scope` is `team` or
    `personal`; what is for a `team` is recalled where that is named. Without `rows` no value of the database reaches a
    prompt; without a model, answers can be judged but nothing can be asked.
    """
    check_type("url", url, (str, Path), "the URL of a database, or the path of a SQLite file")
    check_type("model", model, (str, Completer, NoneType), "a name such as 'openai:NAME', a merit.Completer, or None")
    check_type("rows", rows, bool, "True, or False for no value in any prompt")
    check_type("asking", asking, (AskingSettings, NoneType), "a merit.settings.AskingSettings, or None")
    check_type("budget", budget, (BudgetSettings, NoneType), "a merit.settings.BudgetSettings, or None")
    address = full_url(str(url))
    database = DatabaseSettings(name or name_of(address), address, rows="prompt" if rows else "never")
    uri = model if isinstance(model, str) else ""
    limits = (budget or BudgetSettings(), asking or AskingSettings())
    settings = Settings(
        Path("merit.toml"),
        database,
        ModelSettings(uri, encoder),
        *limits,
        memory=MemorySettings(url=memory, scope=scope, team=team),
    )
    given = model if not isinstance(model, str) else None
    return open_live(settings, Path(folder), given, method=method)


def open_live(
    settings: Settings,
    folder: Path,
    model: Completer | None = None,
    *,
    method: str = DEFAULT_METHOD,
    cache: Path | None = None,
) -> LiveAgent:
    """An agent as `merit.toml` describes it; `model` stands in for the one that is named there."""
    cache = cache or cache_folder()
    check_encoder(settings.model.encoder)
    checked_scope(settings.memory, "the memory")
    if method.partition(":")[0] in RELATED:
        raise InputError(
            f"the method {method!r} is for runs over a benchmark: its prompts are not made for live use; choose "
            f"{DEFAULT_METHOD!r}"
        )
    finish_purge(folder)  # one that was cut short
    url, database = settings.database.resolved_url(), settings.database
    chosen = only_sure(find_method(method), Grade(settings.memory.recall))
    if (why := switched_off(folder, database.name)) is not None:
        _log.warning("merit: the memory of %s is switched off (%s)", database.name, why)
        chosen = replace(chosen, recall=None)
    with ExitStack() as stack:
        shown = SchemaFilter(database.include, database.exclude)
        engine = open_engine(url, shown=shown, cache=cache)
        stack.callback(engine.close)
        encoder = open_encoder(settings.model.encoder) if chosen.encodes else None
        location = _memory_location(settings, folder)
        store = open_store(location)
        memory = Memory(store, encoder, index_folder=index_folder(location, store, cache))
        stack.callback(memory.close)
        memory.at_hand = _AT_HAND
        completer = _completer(model or settings.model.uri, settings.serve.asks, cache)
        maker = PartsMaker(
            settings=settings,
            url=url,
            folder=folder,
            cache=cache,
            history=History(folder),
            engine=engine,
            store=store,
            memory=memory,
            completer=completer,
            encoder=encoder,
        )
        limits = Limits(timeout_s=database.timeout_s, rows=10_000)
        follower = SchemaFollower(maker, limits)
        agent = LiveAgent(
            follower.parts(), chosen, asking=settings.asking, budget=settings.budget, limits=limits, follower=follower
        )
        stack.pop_all()
        return agent


def _memory_location(settings: Settings, folder: Path) -> str | Path:
    """Where the memory is: a team's URL, or in the folder, which may not be a run's: that would break its audit."""
    url = settings.memory.resolved_url()
    if url and not is_url(url):
        raise InputError(f"the memory: {url!r} should be a URL, postgresql://...; a folder is named with --folder")
    refuse_run(folder)
    return url or folder / "memory"


def refuse_run(folder: Path) -> None:
    """Refuse a run's folder for what a person asks and learns."""
    if (folder / MANIFEST).is_file():
        raise InputError(f"{folder}: is the folder of a run, which is not changed; name another --folder")


def full_url(url: str) -> str:
    """The URL of a database, also where only the path of a SQLite file is given."""
    return url if "://" in url else f"sqlite:///{url}"


def name_of(url: str) -> str:
    """What a database is called where nothing else is said: its file's name, or its own on a server."""
    address = parse(url)
    return Path(address.database).stem if address.dialect in FILES else address.database or address.dialect


class NoModel:
    """Stands where no model was given: answers can be judged, and nothing can be asked."""

    identity = NO_MODEL
    concurrency = 1
    recorded = True

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:  # noqa: ARG002 - always refused
        """Refused."""
        raise InputError(NAME_A_MODEL)

    async def close(self) -> None:
        """Nothing is open."""


def _completer(model: Completer | str, concurrency: int, cache: Path) -> CachingCompleter:
    """The model; a question has one call under way, so that as many can be as questions are asked at a time."""
    if isinstance(model, str):
        opened: Completer = open_completer(model, concurrency=concurrency) if model else NoModel()
    else:
        opened = model
    kept = cache / ANSWERS if isinstance(model, str) and not opened.recorded else None
    return CachingCompleter(opened, AnswerStore(kept))
