"""What identifies a database is its name, with the schema's fingerprint on record; its URL is not."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from making.live import COUNT, PAID, ToldModel, make_shop
from merit.errors import InputError
from merit.live import LiveAgent, connect


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The same database twice: staging and production."""
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    staging = make_shop(tmp_path / "staging.sqlite")
    shutil.copy(staging, tmp_path / "production.sqlite")
    return staging, tmp_path / "production.sqlite"


def opened(path: Path, name: str, model: ToldModel) -> LiveAgent:
    return connect(f"sqlite:///{path}", model=model, name=name, folder=path.parent / "own")


def test_copies_under_one_name_share_what_was_learned(copies: tuple[Path, Path]) -> None:
    staging, production = copies
    model = ToldModel(PAID)
    with opened(staging, "shop", model) as agent:
        first = agent.ask("How many paid orders are there?")
    with opened(production, "shop", model) as agent:
        kept = agent.confirm(first.id)
        second = agent.ask("How many orders are paid?")
        assert second.recalled == kept.entries
        one, other = agent.history()
    assert "Database:" not in model.prompts[-1].partition("QUESTIONS")[2], "it is an answer on the same database"
    assert (one.database, one.schema_fingerprint) == (other.database, other.schema_fingerprint)
    assert "staging" not in f"{one}{other}"


def test_without_a_name_they_are_two_databases(copies: tuple[Path, Path]) -> None:
    staging, production = copies
    model = ToldModel(PAID)
    with opened(staging, "", model) as agent:
        agent.confirm(agent.ask("How many paid orders are there?").id)
        answer = agent.ask("How many orders, then?")
    with opened(production, "", model) as agent:
        with pytest.raises(InputError, match="is about the database 'staging', and this one is 'production'"):
            agent.confirm(answer.id)
        agent.ask("How many orders are paid?")
    assert "Database: staging" in model.prompts[-1]


def test_a_schema_that_changed_has_another_fingerprint(copies: tuple[Path, Path]) -> None:
    staging, production = copies
    with closing(sqlite3.connect(production)) as db:
        db.execute("ALTER TABLE orders ADD COLUMN note TEXT")
        db.commit()
    for path in (staging, production):
        with opened(path, "shop", ToldModel(COUNT)) as agent:
            agent.ask("How many?")
            events = agent.history()
    assert len({event.schema_fingerprint for event in events}) == 2
