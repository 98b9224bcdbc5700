"""A server over a small shop, as tests of the API use it."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from making.live import COUNT, PAID, AnsweringModel, ToldModel, encoder_opened_once, make_shop
from making.serving import Served, ServeShop, served
from merit.live import open_live
from merit.settings import DatabaseSettings, Settings


def answer_of(prompt: str) -> str:
    """What the shop's model says: by what a question holds, or else how many orders there are."""
    question = prompt.rpartition("QUESTION")[2] or prompt
    return PAID if "paid" in question.lower() else COUNT


@pytest.fixture
def serve_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServeShop]:
    """Serves the shop with a model; `tables` are those of merit.toml, and other options those of `served`."""
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("merit.live.opening.open_encoder", encoder_opened_once)
    database = make_shop(tmp_path / "shop.sqlite")
    with ExitStack() as stack:

        def make(told: ToldModel | None = None, tables: dict[str, Any] | None = None, **options: Any) -> Served:
            shop = DatabaseSettings("shop", f"sqlite:///{database}")
            settings = Settings(tmp_path / "merit.toml", **{"database": shop, **(tables or {})})
            agent = open_live(settings, tmp_path / "own", told or AnsweringModel(answer_of))
            return stack.enter_context(served(tmp_path / "own", agent, **options))

        yield make


@pytest.fixture
def shop(serve_shop: ServeShop) -> Served:
    """The shop, on this machine alone and without tokens."""
    return serve_shop()
