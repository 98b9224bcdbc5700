"""An agent for a small shop, as tests of asking open it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from making.live import ShopOpener, ToldModel, encoder_opened_once, make_shop
from merit.live import LiveAgent, open_live
from merit.settings import DatabaseSettings, Settings


@pytest.fixture
def ask_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ShopOpener]:
    """Opens an agent for the shop with a model and tables of merit.toml; what it learns is kept in `own`."""
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("merit.live.opening.open_encoder", encoder_opened_once)
    database = make_shop(tmp_path / "shop.sqlite")
    agents: list[LiveAgent] = []

    def make(told: ToldModel, /, **tables: Any) -> LiveAgent:
        settings = Settings(tmp_path / "merit.toml", DatabaseSettings("shop", f"sqlite:///{database}"))
        agents.append(open_live(replace(settings, **tables), tmp_path / "own", told))
        return agents[-1]

    yield make
    for agent in agents:
        agent.close()
