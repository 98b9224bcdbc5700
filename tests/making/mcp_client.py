"""The official MCP client in tests: persons who answer a dialogue, and short ways to call tools."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.client.context import ClientRequestContext
from mcp.client.session import ElicitationFnT
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult, TextContent

from mcp import Client
from merit.live import LiveAgent

ERAS = ["auto", "legacy"]  # the protocol of 2026-07-28, and the one with a handshake before it
Served = Callable[..., AbstractAsyncContextManager[tuple[Client, LiveAgent]]]  # of a model and settings
Person = ElicitationFnT


class Dialogue:
    """A person before a client: answers every dialogue in the same way, and keeps what was shown."""

    def __init__(self, action: str = "accept", **content: object) -> None:
        self._answer = ElicitResult.model_validate({"action": action, "content": content or None})
        self.shown: list[str] = []

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG002
        self.shown.append(params.message)
        return self._answer


def agreeing() -> Dialogue:
    """A person who says yes."""
    return Dialogue(agree=True)


async def result(client: Client, tool: str, /, **arguments: object) -> dict[str, Any]:
    """The typed result of a call that must succeed."""
    called = await client.call_tool(tool, arguments)
    assert not called.is_error, text(called)
    assert isinstance(called.structured_content, dict)
    return called.structured_content


async def refusal(client: Client, tool: str, /, **arguments: object) -> str:
    """The one sentence of a call that must fail."""
    called = await client.call_tool(tool, arguments)
    assert called.is_error, called
    assert called.structured_content is None
    sentence = text(called)
    assert "\n" not in sentence
    assert "Traceback" not in sentence
    return sentence


def text(called: CallToolResult) -> str:
    """The text of a result."""
    (content,) = called.content
    assert isinstance(content, TextContent)
    return content.text
