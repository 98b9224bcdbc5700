"""Standard input and output: a real process and the official client, whatever is printed and however it ends."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import merit
from making import mcp_stdio
from making.clock import COMES_S
from making.live import make_shop
from making.mcp_client import ERAS, agreeing, result
from mcp import Client, StdioServerParameters

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def calling(number: int, tool: str, **arguments: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def environment() -> dict[str, str]:
    paths = [str(Path(merit.__file__).parents[1]), str(Path(mcp_stdio.__file__).parents[1])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def command(tmp_path: Path) -> list[str]:
    database = make_shop(tmp_path / "shop.sqlite")
    return [
        sys.executable,
        "-m",
        "merit",
        "mcp",
        "--database",
        f"sqlite:///{database}",
        "--folder",
        str(tmp_path / "own"),
    ]


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server that is spoken to byte for byte."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment()) as process:
        try:
            yield process
        finally:
            process.kill()


def written(process: subprocess.Popen[bytes], *messages: dict[str, Any] | bytes) -> None:
    assert process.stdin is not None
    for message in messages:
        process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
    process.stdin.flush()


async def one_of_many(client: Client, number: int) -> bool:
    if number % 4:
        return bool((await result(client, "describe", table="orders"))["tables"] == ["orders"])
    answer = await result(client, "repair", question=f"{number}?", sql=f"SELECT {number}")
    return bool(answer["status"] == "answered")


@pytest.mark.parametrize("era", ERAS)
def test_whatever_prints_the_client_reads_only_messages(era: str, tmp_path: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "making.mcp_stdio", str(tmp_path)], env=environment()
    )

    async def call() -> None:
        async with Client(server, mode=era, elicitation_callback=agreeing()) as client:
            answer = await result(client, "ask", question="How many orders?")
            assert (answer["status"], answer["rows"]) == ("answered", [[3]])
            said = await result(client, "feedback", answer=answer["id"], verdict="confirm")
            assert said["recorded"] == "confirmed"
            assert all(await asyncio.gather(*(one_of_many(client, number) for number in range(200))))

    asyncio.run(call())


def test_every_byte_on_standard_output_belongs_to_a_message(tmp_path: Path) -> None:
    with started(sys.executable, "-m", "making.mcp_stdio", str(tmp_path)) as process:
        written(process, HELLO, READY, calling(2, "ask", question="How many orders?"))
        assert process.stdout is not None
        lines = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert [line["id"] for line in lines] == [1, 2]
        out, err = process.communicate(timeout=COMES_S)
    assert out == b""
    for line in (b"printed", b"forged", b"written", b"a child", b"while it is opened"):
        assert line in err
    assert process.returncode == 0


def test_bytes_that_are_no_messages_are_survived(tmp_path: Path) -> None:
    garbage = [b"hello\n", b"\xff\xfe\x00\n", b"{}\n", b"[" * 100_000 + b"\n", b'{"jsonrpc":"2.0","id":9}\n', b"\n"]
    broken = (
        b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"describe","arguments":{"table":"\xff"}}}\n'
    )
    with started(*command(tmp_path)) as process:
        written(process, HELLO, READY, *garbage, broken, calling(4, "describe"))
        assert process.stdout is not None
        found: dict[object, Any] = {}
        while 4 not in found:
            line = json.loads(process.stdout.readline())
            found[line.get("id")] = line
        assert "CREATE TABLE orders" in found[4]["result"]["structuredContent"]["text"]
        assert found[3]["result"]["isError"] is True
        process.communicate(timeout=COMES_S)
    assert process.returncode == 0


def test_it_ends_when_the_client_goes_away_in_the_middle_of_a_call(tmp_path: Path) -> None:
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with started(*command(tmp_path)) as process:
        written(process, HELLO, READY, calling(2, "repair", question="x", sql=slow))
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        process.stdout.close()  # and never reads
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=COMES_S) == 0


def test_one_that_is_started_wrongly_says_why(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "merit", "mcp", "--database", f"sqlite:///{tmp_path}/nothing.sqlite"]
    done = subprocess.run(words, input=b"", capture_output=True, env=environment(), timeout=COMES_S, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"merit: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_it_waits_for_input(tmp_path: Path, number: signal.Signals) -> None:
    with started(*command(tmp_path)) as process:
        written(process, HELLO)
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(number)
        assert process.wait(COMES_S) == 128 + number
