"""How much faster a stream is that looks ahead than one that asks one call after the other.

The rival is merit itself without looking ahead (`ahead=0`), which is how the paper's released code runs a stream. The
endpoint is a local mock with 200 ms latency and 32 places, in a process of its own; its answers are a real model's
(MERIT_DATA/recordings: Qwen2.5-Coder-1.5B-Instruct on Spider dev-972), chosen by question and number of attempts.

`overhead_ms` is everything in the sequential run beyond 200 ms a call: merit's own work, its writing to the disk, the
HTTP client, and also the mock's work, the sockets and the timers, which `bare_ms` measures in the same run by a client
that does nothing but call. After 200 ms of waiting caches are cold: work takes two or three times what it takes else.

    python bench/stream.py [--questions 972] [--json]
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import tempfile
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from merit.benchmark import DataSpec
from merit.models import AnswerStore, CachingCompleter, CachingEncoder, open_completer, open_encoder
from merit.stream import OwnParts, RunSpec, open_setup, run_stream

LATENCY_S = 0.2
PLACES = 32
BARE_CALLS = 100
STREAMS = [
    (method, seed) for method in ("merit", "dynamic_rag", "no_type_filter", "positive_only") for seed in range(3)
]
_ATTEMPT = re.compile(r"^\[Attempt \d+ - observed", re.MULTILINE)
_QUESTION = re.compile(r"^QUESTION:\n(.*)\n", re.MULTILINE)


def data_folder() -> Path:
    """Where the benchmarks are."""
    given = os.environ.get("MERIT_DATA")
    return Path(given) if given else Path(__file__).parents[2] / "shared" / "data"


class Endpoint:
    """An OpenAI-compatible endpoint that answers from the recording, after a while."""

    def __init__(self, data: Path) -> None:
        questions = [record["question"] for record in json.loads((data / "spider/dev.json").read_text())]
        lines = (data / "recordings/qwen2.5-coder-1.5b/spider_iterative.jsonl").read_text().splitlines()
        self.answers = {questions[one["id"]]: one["attempts"] for one in map(json.loads, lines)}
        self.calls = self.busy = 0
        self.busy_s, self.since = 0.0, time.monotonic()

    def note(self, change: int) -> None:
        """Keep account of how many places are taken."""
        now = time.monotonic()
        self.busy_s += self.busy * (now - self.since)
        self.since, self.busy = now, self.busy + change

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's requests."""
        while head := await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b"":
            length = re.search(rb"content-length: (\d+)", head.lower())
            body = await reader.readexactly(int(length[1])) if length else b""
            if head.startswith(b"GET"):
                self.note(0)
                reply = {"calls": self.calls, "busy_s": self.busy_s}
                self.calls, self.busy_s = 0, 0.0
            else:
                self.calls += 1
                self.note(+1)
                await asyncio.sleep(LATENCY_S)
                self.note(-1)
                reply = self.answer(json.loads(body)["messages"][0]["content"])
            data = json.dumps(reply).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(data) + data)
            await writer.drain()

    def answer(self, prompt: str) -> dict[str, Any]:
        """What the model said to this question after so many attempts."""
        asked = _QUESTION.search(prompt)
        attempts = self.answers.get(asked[1] if asked else "", ["SELECT 1"])
        sql = attempts[min(len(_ATTEMPT.findall(prompt)), len(attempts) - 1)]
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(sql) // 4}
        return {"choices": [{"message": {"content": f"<answer>{sql}</answer>"}}], "usage": usage}


def serve(data: Path, pipe: Connection) -> None:
    """The endpoint's process."""

    async def go() -> None:
        endpoint = Endpoint(data)

        async def quiet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await endpoint.serve(reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()

        server = await asyncio.start_server(quiet, "127.0.0.1", 0, limit=2**22)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(go())


async def said(base: str, requests: Iterable[bytes]) -> list[Any]:
    """What the endpoint says to some requests, one after the other, over one plain connection."""
    host, port = base.removeprefix("http://").removesuffix("/v1").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    found = []
    for request in requests:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        found.append(json.loads(await reader.readexactly(length)))
    writer.close()
    return found


async def taken(base: str) -> dict[str, float]:
    """The endpoint's own account since the last time it was asked."""
    found: dict[str, float] = (await said(base, [b"GET /taken HTTP/1.1\r\n\r\n"]))[0]
    return found


async def bare(base: str) -> float:
    """Seconds beyond the latency that a call takes where nothing else is done."""
    body = json.dumps({"messages": [{"role": "user", "content": "x" * 6000}]}).encode()  # as long as most prompts
    call = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    started = time.monotonic()
    await said(base, [call] * BARE_CALLS)
    return (time.monotonic() - started) / BARE_CALLS - LATENCY_S


async def runs(
    data: Path, folder: Path, streams: list[tuple[str, int]], questions: int, ahead: int, base: str
) -> dict[str, Any]:
    """Some streams side by side, from nothing."""
    spider = DataSpec("spider", data / "spider", protocol="db")
    initial = data / "recordings/qwen2.5-coder-1.5b/spider_initial.jsonl"
    asked = CachingCompleter(open_completer("openai:mock", concurrency=PLACES), AnswerStore(None))
    with (
        closing(CachingEncoder(open_encoder("wordllama"), None)) as encoder,
        OwnParts(asked, encoder, cache=folder.parent / "cache") as parts,
    ):
        setups = {
            (name, seed): open_setup(RunSpec(spider, initial, name, seed, limit=questions), parts)
            for name, seed in streams
        }
        await taken(base)
        started, cpu = time.monotonic(), time.process_time()
        found = await asyncio.gather(
            *(run_stream(setup, folder / f"{name}-{seed}", ahead=ahead) for (name, seed), setup in setups.items())
        )
        wall, worked, account = time.monotonic() - started, time.process_time() - cpu, await taken(base)
        await asked.close()
    calls = sum(one["calls"]["repair"] + one["calls"]["reflection"] for one in found)
    busy = account["busy_s"] / (PLACES * wall)
    return {"wall_s": wall, "cpu_s": worked, "calls": calls, "busy": busy, "sent": asdict(asked.sent)}


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file that must be the same."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "timings.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def measure(questions: int, ahead: int, scratch: Path) -> dict[str, Any]:
    """All figures."""
    data = data_folder()
    mine, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(data, theirs), daemon=True)
    server.start()
    base = f"http://127.0.0.1:{mine.recv()}/v1"
    os.environ["OPENAI_BASE_URL"] = base
    one = [("merit", 0)]
    warm = asyncio.run(runs(data, scratch / "warm", one, 20, 0, base))  # references and imports
    quick = asyncio.run(runs(data, scratch / "ahead", one, questions, ahead, base))
    many = asyncio.run(runs(data, scratch / "many", STREAMS, questions, ahead, base))
    slow = asyncio.run(runs(data, scratch / "sequential", one, questions, 0, base))
    beyond = asyncio.run(bare(base))
    server.terminate()
    identical = files_of(scratch / "ahead") == files_of(scratch / "sequential")
    identical &= files_of(scratch / "many" / "merit-0") == files_of(scratch / "sequential" / "merit-0")
    return {
        "questions": questions,
        "ahead": ahead,
        "concurrency": PLACES,
        "latency_ms": 1000 * LATENCY_S,
        "sequential_s": round(slow["wall_s"], 1),
        "ahead_s": round(quick["wall_s"], 1),
        "speedup": round(slow["wall_s"] / quick["wall_s"], 2),
        "identical": identical,
        "overhead_ms": round(1000 * (slow["wall_s"] / slow["calls"] - LATENCY_S), 2),
        "bare_ms": round(1000 * beyond, 2),
        "calls": slow["calls"],
        "wasted": quick["sent"]["wasted"],
        "busy": round(many["busy"], 3),
        "streams": len(STREAMS),
        "streams_s": round(many["wall_s"], 1),
        "streams_calls": many["calls"],
        "streams_sent": many["sent"]["calls"],
        "streams_wasted": many["sent"]["wasted"],
        "streams_cpu_s": round(many["cpu_s"], 1),
        "warm_s": round(warm["wall_s"], 1),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=972)
    parser.add_argument("--ahead", type=int, default=32)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options.questions, options.ahead, Path(folder))
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:<16}{value}")


if __name__ == "__main__":
    main()
