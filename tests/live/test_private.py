"""Values that are private are read on no engine: they are in no prompt, no index, no cache and no file of a project."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from making.databases import DIALECTS, Place, empty
from making.live import ToldModel, encoder_opened_once
from merit.live import LiveAgent, open_live
from merit.settings import AskingSettings, DatabaseSettings, Settings
from merit.sql.connect import open_engine
from merit.types import Limits, Result

SECRET, PLAIN = "canary seven", "harbour master"
TABLES = [
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40), email VARCHAR(40))",
    f"INSERT INTO customer VALUES (1, '{PLAIN}', '{SECRET}')",
]
FIND = "SELECT id, email FROM customer WHERE id = 7"  # no rows
Opener = Callable[..., tuple[LiveAgent, ToldModel, list[str]]]


@pytest.fixture(params=DIALECTS)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("merit.live.opening.open_encoder", encoder_opened_once)
    with empty(request.param, tmp_path) as place:
        for statement in TABLES:
            place.run(statement)
        yield place


@pytest.fixture
def opened(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """An agent with other fields of [database], its model, and every statement that its engine ran."""
    ran: list[str] = []

    def noting(*given: Any, **more: Any) -> Any:
        engine = open_engine(*given, **more)
        execute = engine.execute

        def noted(sql: str, limits: Limits) -> Result:
            ran.append(sql)
            return execute(sql, limits)

        engine.execute = noted  # type: ignore[method-assign]
        return engine

    monkeypatch.setattr("merit.live.opening.open_engine", noting)

    def opener(**fields: Any) -> tuple[LiveAgent, ToldModel, list[str]]:
        model, database = ToldModel(FIND), DatabaseSettings("shop", place.url)
        settings = Settings(tmp_path / "merit.toml", replace(database, **fields), asking=AskingSettings(candidates=2))
        return open_live(settings, tmp_path / "own", model), model, ran

    return opener


def holding(folder: Path, text: str) -> list[Path]:
    """The files below a folder that have a text in them, in whatever case."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if text.lower().encode() in path.read_bytes().lower()]


def ask_about(agent: LiveAgent, model: ToldModel) -> str:
    """Questions that mention both values, in other words than are stored, and all that the model was shown."""
    for question in ("Who has canaryseven?", "Where is the harbourmaster?"):
        agent.ask(question)
    return "\n".join(model.prompts).lower()


def test_a_private_column_is_not_read(opened: Opener, tmp_path: Path) -> None:
    agent, model, ran = opened(private=("*email*",))
    with agent:
        assert any("name" in sql for sql in ran)
        assert not any("email" in sql.lower() for sql in ran), "no statement of the index touches it"
        prompts = ask_about(agent, model)
    assert PLAIN in prompts, "other values are shown"
    assert SECRET not in prompts
    assert holding(tmp_path / "cache", SECRET) == []
    assert holding(tmp_path / "cache", PLAIN), "so the other test would fail where the index held it"


def test_a_column_that_is_not_private_is_read(opened: Opener) -> None:
    """So that the test above can fail."""
    agent, model, ran = opened(private=())
    with agent:
        assert any("email" in sql.lower() for sql in ran)
        assert SECRET in ask_about(agent, model)


def test_no_row_is_read_where_rows_are_never_shown(opened: Opener, tmp_path: Path) -> None:
    agent, model, ran = opened(rows="never")
    with agent:
        assert ran == [], "nothing is read for an index"
        prompts = ask_about(agent, model)
        answer = agent.ask("Everything?")
        agent.correct(answer.id, "SELECT name, email FROM customer")
        corrected = agent.ask("Everything again?")
        agent.check_memory()
        agent.without_memory(corrected.id)
        prompts += "\n".join(model.prompts).lower()
    for text in (SECRET, PLAIN):
        assert text not in prompts
    for folder in ("cache", "own"):
        assert holding(tmp_path / folder, PLAIN) == []
