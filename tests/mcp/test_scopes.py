"""Whose memory a caller sees: their own and everyone's, never another person's."""

import asyncio
from collections.abc import Callable

import pytest

from making.live import COUNT, ToldModel
from making.mcp_client import agreeing, refusal, result
from mcp import Client, MCPError
from merit.live import LiveAgent
from merit.mcp.callers import owner
from merit.mcp.server import make_server
from merit.settings import MemorySettings

QUESTION = "How many orders are there?"


def test_what_is_personal_is_shown_to_its_owner_alone(open_agent: Callable[..., LiveAgent]) -> None:
    async def call() -> None:
        agent = open_agent(ToldModel(COUNT), memory=MemorySettings(scope="personal"))
        own, other = (make_server(agent, owner(name), suggestions=True) for name in ("ada", "bob"))
        async with Client(own, elicitation_callback=agreeing()) as ada, Client(other) as bob:
            first = (await result(ada, "ask", question=QUESTION))["id"]
            said = await result(ada, "feedback", answer=first, verdict="confirm")
            assert len((await result(ada, "recall", question=QUESTION))["entries"]) == 1
            assert (await result(bob, "recall", question=QUESTION))["entries"] == []
            resting = await result(ada, "ask", question="How many orders do we have?")
            assert resting["recalled"] == said["entries"]
            assert (await result(bob, "ask", question=QUESTION))["recalled"] == []
            with pytest.raises(MCPError, match="for other people alone"):
                await bob.read_resource(f"merit://answer/{resting['id']}")
            wanted = {"answer": resting["id"], "verdict": "confirm"}
            assert "for other people alone" in await refusal(bob, "feedback", **wanted)
        async with Client(own) as ada:
            assert "rests on what is not for everyone" in await refusal(ada, "feedback", **wanted)
        await agent.close_async()

    asyncio.run(call())
