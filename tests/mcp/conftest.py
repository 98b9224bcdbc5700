"""An MCP server over an agent for a small shop."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from making.live import ToldModel, encoder_opened_once, make_shop
from making.mcp_client import Person, Served
from mcp import Client
from merit.live import LiveAgent, open_live
from merit.mcp.callers import owner
from merit.mcp.server import MeritServer, make_server
from merit.settings import DatabaseSettings, ModelSettings, Settings


@pytest.fixture
def open_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., LiveAgent]:
    """Opens an agent for the shop with a model, or with none; what it learns is kept in `own`."""
    monkeypatch.setattr("merit.live.opening.open_encoder", encoder_opened_once)
    database = tmp_path / "shop.sqlite"

    def make(model: ToldModel | None, rows: str = "prompt", **tables: Any) -> LiveAgent:
        path = database if database.exists() else make_shop(database)
        about = DatabaseSettings("shop", f"sqlite:///{path}", rows=rows)
        return open_live(Settings(tmp_path / "merit.toml", about, ModelSettings(), **tables), tmp_path / "own", model)

    return make


@pytest.fixture
def serve(open_agent: Callable[..., LiveAgent]) -> Served:
    """A client in memory and the agent behind it: `era` of the protocol, and a `person` where the client has one."""

    @asynccontextmanager
    async def serving(
        model: ToldModel | None,
        *,
        era: str = "auto",
        person: Person | None = None,
        suggestions: bool = False,
        **settings: Any,
    ) -> AsyncIterator[tuple[Client, LiveAgent]]:
        agent = open_agent(model, **settings)
        server: MeritServer = make_server(agent, owner("ada"), suggestions=suggestions)
        try:
            async with Client(server, mode=era, elicitation_callback=person) as client:
                yield client, agent
        finally:
            await agent.close_async()

    return serving
