"""Streamable HTTP: a real server and the official client; tokens, rights, names, origins and sizes."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

from making.clock import COMES_S
from making.commands import refused
from making.live import COUNT, make_shop
from making.mcp_client import ERAS, Dialogue, Person, agreeing, refusal, result
from mcp import Client
from merit.live import History
from merit.mcp.sessions import MOST_EACH
from merit.web.access_tokens import Right, TokenStore

# Reading certificates takes longer than a request; none is asked for here.
PATIENT: dict[str, Any] = {"timeout": COMES_S, "verify": False}
POST = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}


@dataclass
class Server:
    """A server that runs, and the tokens that it knows by the names of their owners."""

    address: str
    folder: Path
    tokens: dict[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def client(self, owner: str = "", era: str = "auto", person: Person | None = None) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self.tokens[owner]}"} if owner else {}
        async with (
            httpx2.AsyncClient(headers=headers, **PATIENT) as http,
            Client(
                streamable_http_client(self.address, http_client=http), mode=era, elicitation_callback=person
            ) as client,
        ):
            yield client

    def post(self, content: object = HELLO, **headers: str) -> httpx2.Response:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return httpx2.post(self.address, content=body, headers={**POST, **headers}, **PATIENT)


def running(folder: Path, *options: str) -> Iterator[Server]:
    database = make_shop(folder / "shop.sqlite")
    words = [sys.executable, "-m", "merit", "mcp", "--http", "--port", "0", "--database", f"sqlite:///{database}"]
    own = folder / "own"
    tokens = {name: TokenStore(own).add(name, may) for name, may in OWNERS.items() if "--open" not in options}
    more = [option for option in options if option != "--open"]
    environment = {**os.environ, "MERIT_CACHE": str(folder / "cache")}
    command = [*words, "--folder", str(own), "--author", "ada", *more]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, text=True) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            found = re.match(r"http://127\.0\.0\.1:(\d+)/mcp \(Ctrl-C ends it\)", said)
            assert found, said + process.stderr.read()
            yield Server(f"http://127.0.0.1:{found[1]}/mcp", own, tokens)
            process.send_signal(signal.SIGINT)
            assert process.wait(COMES_S) in (0, 130)
            assert "Traceback" not in process.stderr.read()
        finally:
            process.kill()


OWNERS = {
    "bob": [Right.ASK, Right.CONFIRM],
    "cleo": [Right.ASK],
    "dora": list[Right](),
    "eve": [Right.ASK, Right.CONFIRM],
}


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that needs tokens."""
    yield from running(tmp_path_factory.mktemp("closed"))


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for this machine alone."""
    yield from running(tmp_path_factory.mktemp("local"), "--open")


@pytest.mark.parametrize("era", ERAS)
def test_on_this_machine_the_user_may_do_everything(local: Server, era: str) -> None:
    async def call() -> None:
        async with local.client(era=era, person=agreeing()) as client:
            answer = await result(client, "repair", question="How many?", sql=COUNT)
            assert (answer["status"], answer["rows"]) == ("unsure", [[3]])
            said = await result(client, "feedback", answer=answer["id"], verdict="confirm")
            assert (said["recorded"], said["author"]) == ("confirmed", "ada")
            assert "no argument" in await refusal(client, "ask", question="x", other=1)

    asyncio.run(call())


@pytest.mark.parametrize("era", ERAS)
def test_200_calls_in_parallel(closed: Server, era: str) -> None:
    async def call() -> None:
        async with closed.client("bob", era) as client:
            calls = (
                result(client, "repair", question=f"{n}?", sql=f"SELECT {n} + count(*) FROM orders") for n in range(200)
            )
            assert [found["rows"] for found in await asyncio.gather(*calls)] == [[[n + 3]] for n in range(200)]

    asyncio.run(call())


@pytest.mark.parametrize("era", ERAS)
def test_a_token_decides_what_may_be_done_and_under_which_name(closed: Server, era: str) -> None:
    async def call() -> None:
        sql = {"question": f"How many, {era}?", "sql": COUNT}
        async with closed.client("dora", era, agreeing()) as client:
            assert "the right 'ask'" in await refusal(client, "repair", **sql)
            assert "CREATE TABLE" in (await result(client, "describe"))["text"], "every token allows looking"
        person = agreeing()
        async with closed.client("cleo", era, person) as client:
            answer = await result(client, "repair", **sql)
            assert "the right 'confirm'" in await refusal(client, "feedback", answer=answer["id"], verdict="confirm")
            assert person.shown == []
        async with closed.client("bob", era, Dialogue("decline")) as client:
            assert (await result(client, "feedback", answer=answer["id"], verdict="confirm"))["recorded"] == "nothing"
        async with closed.client("bob", era, agreeing()) as client:
            assert (await result(client, "feedback", answer=answer["id"], verdict="confirm"))["author"] == "bob"
        asked, said = History(closed.folder).find(answer["id"])
        assert said is not None
        assert (asked.author, said.author, said.through) == ("cleo", "bob", "mcp")

    asyncio.run(call())


def test_without_a_valid_token_nothing_is_served(closed: Server) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic Ym9iOg=="},
        {"Authorization": "Bearer"},
    ):
        reply = closed.post(**headers)
        assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
        assert "a token is needed" in reply.json()["error"]
    assert closed.post(Authorization=f"Bearer {closed.tokens['bob']}").status_code == 200


def test_a_wrong_token_is_refused_where_none_is_needed(local: Server) -> None:
    assert local.post(Authorization="Bearer wrong").status_code == 401


def test_a_revoked_token_is_refused_in_its_own_session(closed: Server) -> None:
    bearer = {"Authorization": f"Bearer {closed.tokens['eve']}"}
    session = {"Mcp-Session-Id": closed.post(**bearer).headers["mcp-session-id"]}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert closed.post(ping, **bearer, **session).status_code == 200
    other = {"Authorization": f"Bearer {closed.tokens['bob']}"}
    assert closed.post(ping, **other, **session).status_code == 404, "a session is its owner's"
    TokenStore(closed.folder).revoke("eve")
    assert closed.post(ping, **bearer, **session).status_code == 401


def test_other_names_and_other_sites_are_refused(local: Server) -> None:
    port = local.address.split(":")[2].split("/")[0]
    for host in (f"evil.example:{port}", "evil.example", f"127.0.0.1.evil.example:{port}", f"a@127.0.0.1:{port}"):
        reply = local.post(Host=host)
        assert (reply.status_code, reply.json()["error"]) == (421, "this server does not go by that name")
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", "http://127.0.0.1:1"):
        assert local.post(Origin=origin).status_code == 403
    assert local.post(Host=f"localhost:{port}").status_code == 200
    assert local.post(Origin=f"http://127.0.0.1:{port}").status_code == 200


def test_requests_that_are_wrong_are_refused(local: Server) -> None:
    assert local.post(b"x" * 2_000_000).status_code == 413
    for body in (b"", b"hello", b"\xff\xfe", b"[]", b"[" * 100_000, b'{"jsonrpc":"2.0","id":1}'):
        assert 400 <= local.post(body).status_code < 500, body[:20]
    assert local.post(**{"Content-Type": "text/plain"}).status_code in (400, 415)
    assert local.post(**{"Mcp-Session-Id": "0" * 32}).status_code == 404
    for method in ("GET", "PUT", "DELETE"):
        assert 400 <= httpx2.request(method, local.address, **PATIENT).status_code < 500
    assert httpx2.get(local.address.removesuffix("mcp"), **PATIENT).status_code == 404
    assert local.post().status_code == 200


def test_a_client_that_never_ends_its_request_holds_up_nobody(local: Server) -> None:
    port = int(local.address.split(":")[2].split("/")[0])
    head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
    try:
        for number, connection in enumerate(slow):
            connection.sendall(head if number % 2 else head[:20])
        assert local.post().status_code == 200
    finally:
        for connection in slow:
            connection.close()
    assert local.post().status_code == 200


def test_two_names_are_refused(local: Server) -> None:
    port = int(local.address.split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n")
        assert connection.recv(100).split()[1] in (b"400", b"421")


def test_other_machines_need_tokens(tmp_path: Path) -> None:
    database = f"sqlite:///{make_shop(tmp_path / 'shop.sqlite')}"
    options = ["--http", "--port", 0, "--database", database, "--folder", tmp_path / "own"]
    for more in (["--host", "0.0.0.0"], ["--public-url", "https://merit.example"]):
        assert "there is no token" in refused("mcp", *options, *more)
    assert "--public-url" in refused("mcp", *options, "--public-url", "merit.example")


def test_the_first_token_closes_a_server_that_runs(tmp_path: Path) -> None:
    """Else whoever came in before could go on as the user of the machine, with every right."""
    serving = running(tmp_path, "--open")
    server = next(serving)
    before = server.post()
    assert before.status_code == 200
    token = TokenStore(server.folder).add("ada", [Right.ASK])
    session = {"Mcp-Session-Id": before.headers["mcp-session-id"]}
    assert [server.post().status_code, server.post(**session).status_code] == [401, 401]
    assert server.post(Authorization=f"Bearer {token}").status_code == 200
    TokenStore(server.folder).revoke("ada")
    assert server.post(Authorization=f"Bearer {token}").status_code == 401
    next(serving, None)


def test_one_person_cannot_take_the_sessions_of_all(closed: Server) -> None:
    own = {"Authorization": f"Bearer {closed.tokens['dora']}"}
    begun = [closed.post(**own) for _ in range(MOST_EACH + 5)]
    refused = [reply for reply in begun if reply.status_code == 429]
    assert 5 <= len(refused) <= 5 + 10  # others of this file may have sessions as dora
    assert "too many of your sessions" in refused[0].json()["error"]
    assert closed.post(Authorization=f"Bearer {closed.tokens['cleo']}").status_code == 200
    for reply in begun[:20]:
        ending = {**POST, **own, "Mcp-Session-Id": reply.headers["mcp-session-id"]}
        assert httpx2.delete(closed.address, headers=ending, **PATIENT).status_code == 200
    assert closed.post(**own).status_code == 200, "a session that was closed makes room"
