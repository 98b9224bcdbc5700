"""How often one person may call over HTTP."""

import asyncio
from pathlib import Path

import httpx2
from starlette.responses import PlainTextResponse

from merit.mcp.http import McpGate
from merit.web.access_tokens import TokenStore
from merit.web.limits import RateLimit
from merit.web.names import Names


def test_a_person_sends_only_so_many_requests(tmp_path: Path) -> None:
    tokens = TokenStore(tmp_path)
    people = {name: {"Authorization": f"Bearer {tokens.add(name, [])}"} for name in ("ada", "bob")}
    gate = McpGate(PlainTextResponse("ok"), Names("127.0.0.1", 1, ""), tokens, True, requests=RateLimit(40))

    async def call() -> list[httpx2.Response]:
        transport = httpx2.ASGITransport(app=gate)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:1") as client:
            return [await client.get("/mcp", headers=people[name]) for name in [*["ada"] * 12, "bob"]]

    replies = asyncio.run(call())
    assert [reply.status_code for reply in replies] == [200] * 10 + [429, 429, 200]
    assert int(replies[-2].headers["retry-after"]) >= 1
