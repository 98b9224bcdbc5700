"""Many people ask one server at a time, which is killed now and then: what is lost, slow, or ever larger.

    python bench/serve.py [--minutes 10] [--askers 50] [--latency 1.0] [--think 2.0] [--kills 3]
        [--confirm-share 0.25] [--json]

A stand-in for a language model answers over HTTP after `--latency` seconds. Each asker has a token, asks a question
that no other one asks, reads the events to the last, confirms `--confirm-share` of the answers (with 0, nothing is
learned: whatever grows then is not what was learned), and thinks for about `--think` seconds. The server runs in a
process of its own, in a new folder, and is killed (SIGKILL) `--kills` times in the first half, each time to be started
again. What a kill cut is asked again. At the end, every answer and every confirmation that was acknowledged is looked
up.

asks             questions that were answered
errors           responses that are errors, failed questions, and acknowledged answers or confirmations that are lost
cut              requests that a kill cut; they were asked again
overhead_ms_p50, overhead_ms_p95   from sending a question to its answer, less the time in the stand-in model
rss_growth_mb    the server's memory at the end (rss_mb), less that two minutes (or a third) after the last start
rss_mb_per_1000  the slope of a line through its memory since then, for each 1,000 questions that were answered
"""

import argparse
import asyncio
import atexit
import json
import os
import random
import signal
import socket
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from merit.web.access_tokens import Right, TokenStore

_NUMBER = "asked as number "
_LOST = (aiohttp.ClientError, ConnectionError, TimeoutError)
Look = tuple[float, int, float]  # seconds since the last start, answers, MiB
_SQL = "SELECT state, count(*) FROM orders GROUP BY state"


@dataclass
class Bench:
    """What was seen so far."""

    askers: int
    latency: float
    think: float
    confirm_share: float = 0.25
    base: str = ""
    until: float = 0.0
    asked: int = 0
    model_s: dict[int, float] = field(default_factory=dict)  # in the model, by the number of the question
    overheads: list[float] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)  # ids that were acknowledged
    confirmed: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    cut: int = 0
    up: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, request: web.Request) -> web.Response:
        """The stand-in model: the same statement for every question."""
        started = time.perf_counter()
        text = str((await request.json())["messages"][-1]["content"])
        number = int(text.rpartition(_NUMBER)[2].split("?")[0])
        await asyncio.sleep(self.latency)
        message = {"role": "assistant", "content": f"<answer>{_SQL}</answer>"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(text) // 4, "completion_tokens": 12, "total_tokens": len(text) // 4 + 12}
        self.model_s[number] = self.model_s.get(number, 0.0) + time.perf_counter() - started
        return web.json_response(
            {"id": "x", "object": "chat.completion", "model": "bench", "choices": [choice], "usage": usage}
        )

    async def asker(self, session: aiohttp.ClientSession, token: str, seed: int) -> None:
        """One person until the time is over."""
        draw, headers = random.Random(seed), {"Authorization": f"Bearer {token}"}
        await asyncio.sleep(draw.uniform(0, self.think + self.latency))
        while time.monotonic() < self.until:
            self.asked += 1
            number = self.asked
            while True:
                await self.up.wait()
                try:
                    answer = await self._ask(session, headers, number)
                    if answer and self._confirms(number):
                        await self._confirm(session, headers, answer)
                    break
                except _LOST:
                    self.cut += 1
                    self.model_s.pop(number, None)
                    await asyncio.sleep(0.2)
            await asyncio.sleep(draw.expovariate(1 / self.think) if self.think else 0)

    def _confirms(self, number: int) -> bool:
        return int(number * self.confirm_share) > int((number - 1) * self.confirm_share)

    async def _ask(self, session: aiohttp.ClientSession, headers: dict[str, str], number: int) -> str:
        body = {"question": f"How many orders are in each state, {_NUMBER}{number}?"}
        started, last, data = time.perf_counter(), "", {}
        stream = {**headers, "Accept": "text/event-stream"}
        async with session.post(f"{self.base}/api/answers", json=body, headers=stream) as response:
            if response.status != 200:
                self.errors.append(f"{response.status}: {await response.text()}")
                return ""
            async for line in response.content:
                if line.startswith(b"event: "):
                    last = line[7:].strip().decode()
                elif line.startswith(b"data: "):
                    data = json.loads(line[6:])
        if last in ("asking", "started", "candidate", "cancelled"):
            raise ConnectionError("the stream ended early")
        if last != "answer" or data["status"] != "answered":
            self.errors.append(f"{last}: {data.get('error')}")
            return ""
        in_model = self.model_s.pop(number, 0.0)  # nothing where a question that was cut found its replies kept
        self.overheads.append(1000 * (time.perf_counter() - started - in_model))
        self.answers.append(data["id"])
        return str(data["id"])

    async def _confirm(self, session: aiohttp.ClientSession, headers: dict[str, str], answer: str) -> None:
        async with session.post(f"{self.base}/api/answers/{answer}/confirm", headers=headers) as response:
            if response.status == 200:
                self.confirmed.append(answer)
            elif response.status != 409:  # 409: the word was kept, and its acknowledgement was cut
                self.errors.append(f"confirm {response.status}: {await response.text()}")


class Server:
    """`merit serve` in a process of its own."""

    def __init__(self, folder: Path, port: int, model: str) -> None:
        self._folder, self._port, self._model = folder, port, model
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, session: aiohttp.ClientSession, base: str) -> None:
        """Start it, and wait until it is ready."""
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": self._model,
            "OPENAI_API_KEY": "none",
            "MERIT_CACHE": str(self._folder / "cache"),
        }
        with (self._folder / "server.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "merit", "serve", "--port", str(self._port), "--no-browser", "--json-log"),
                cwd=self._folder, env=environment, stdout=log, stderr=log,
            )  # fmt: skip
        atexit.register(_end, self._process.pid)  # whatever becomes of this program
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with suppress(*_LOST):
                async with session.get(f"{base}/health/ready") as response:
                    if response.status == 200:
                        return
            await asyncio.sleep(0.1)
        raise SystemExit(f"the server did not start; see {self._folder / 'server.log'}")

    async def stop(self, number: int = signal.SIGTERM) -> int:
        """End it with a signal."""
        assert self._process is not None
        self._process.send_signal(number)
        return await self._process.wait()

    def rss_mb(self) -> float:
        """The memory that it takes."""
        assert self._process is not None
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def run(
    folder: Path,
    minutes: float,
    askers: int,
    latency: float,
    think: float,
    kills: int,
    confirm_share: float = 0.25,
) -> dict[str, Any]:
    """Everything, in a folder."""
    bench = Bench(askers, latency, think, confirm_share)
    tokens = _prepare(folder, askers)
    runner = web.AppRunner(application := web.Application(client_max_size=1 << 24))
    application.router.add_post("/v1/chat/completions", bench.complete)
    await runner.setup()
    model_port, port = _free_port(), _free_port()
    await web.TCPSite(runner, "127.0.0.1", model_port).start()
    bench.base = f"http://127.0.0.1:{port}"
    server = Server(folder, port, f"http://127.0.0.1:{model_port}/v1")
    seen = list[Look]()
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=60)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:
        await server.start(session, bench.base)
        bench.up.set()
        began = time.monotonic()
        bench.until = began + 60 * minutes
        people = [asyncio.create_task(bench.asker(session, token, seed)) for seed, token in enumerate(tokens)]
        for number in range(kills):
            await asyncio.sleep(began + 30 * minutes * (number + 1) / (kills + 1) - time.monotonic())
            bench.up.clear()
            await server.stop(signal.SIGKILL)
            await server.start(session, bench.base)
            bench.up.set()
        watching = asyncio.create_task(_watch(server, bench, seen))
        await asyncio.gather(*people)
        watching.cancel()
        lost = await _lost(session, bench, tokens[0])
        await server.stop()
    await runner.cleanup()
    quantiles = statistics.quantiles(bench.overheads, n=20) if len(bench.overheads) > 1 else [0.0] * 19
    return {
        "asks": len(bench.answers),
        "errors": len(errors := [*bench.errors, *lost]),
        "overhead_ms_p50": round(statistics.median(bench.overheads or [0.0]), 1),
        "overhead_ms_p95": round(quantiles[-1], 1),
        **_memory(seen),
        "confirmed": len(bench.confirmed),
        "cut": bench.cut,
        "kills": kills,
        "askers": askers,
        "minutes": minutes,
        "first_errors": errors[:5],
    }


async def _lost(session: aiohttp.ClientSession, bench: Bench, token: str) -> list[str]:
    """Acknowledged answers and confirmations that the server does not know any more."""
    known: dict[str, Any] = {}
    before, headers = "", {"Authorization": f"Bearer {token}"}
    while True:
        query = {"limit": "500", **({"before": before} if before else {})}
        async with session.get(f"{bench.base}/api/answers", params=query, headers=headers) as response:
            page = await response.json()
        known |= {answer["id"]: answer for answer in page["answers"]}
        if page["next"] is None:
            break
        before = page["next"]
    lost = [f"answer {identity} is lost" for identity in bench.answers if identity not in known]
    words = {identity: (record["feedback"] or {}).get("kind") for identity, record in known.items()}
    unsaid = [identity for identity in bench.confirmed if words.get(identity) != "confirmed"]
    return lost + [f"the confirmation of {identity} is lost" for identity in unsaid]


def _prepare(folder: Path, askers: int) -> list[str]:
    with closing(sqlite3.connect(folder / "shop.sqlite")) as db:
        db.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, total REAL)")
        rows = [(number, ("paid", "open", "sent")[number % 3], number / 7) for number in range(5000)]
        db.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
        db.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
        people = ((number, f"name {number}", f"city {number % 40}") for number in range(1000))
        db.executemany("INSERT INTO customers VALUES (?, ?, ?)", people)
        db.commit()
    (folder / "merit.toml").write_text(
        '[database]\nname = "shop"\nurl = "sqlite:///shop.sqlite"\n\n[model]\nuri = "openai:bench"\n'
    )
    store = TokenStore(folder / ".merit")
    return [store.add(f"asker-{number}", list(Right)) for number in range(askers)]


async def _watch(server: Server, bench: Bench, seen: list[Look]) -> None:
    """Look at the server's memory twice a second until this is cancelled."""
    started = time.monotonic()
    while True:
        seen.append((time.monotonic() - started, len(bench.answers), server.rss_mb()))
        await asyncio.sleep(0.5)


def _memory(seen: list[Look]) -> dict[str, float]:
    """How the server's memory grew after its warm-up."""
    warm = min(120.0, (end := seen[-1][0]) / 3)
    span = min(30.0, (end - warm) / 3)
    late = [look for look in seen if look[0] >= warm]
    first = [mb for at, _, mb in late if at <= warm + span] or [late[0][2]]  # a busy machine may look seldom
    last = statistics.median(mb for at, _, mb in late if at >= end - span)
    growth = last - statistics.median(first)
    answers = [n for _, n, _ in late]
    slope = statistics.linear_regression(answers, [mb for *_, mb in late]).slope if len({*answers}) > 1 else 0.0
    return {"rss_growth_mb": round(growth, 1), "rss_mb_per_1000": round(1000 * slope, 2), "rss_mb": round(last, 1)}


def _end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def main() -> None:
    """Run it, and print it."""
    parser = argparse.ArgumentParser(description="Many people ask one server, which is killed now and then.")
    defaults = {"minutes": 10.0, "askers": 50, "latency": 1.0, "think": 2.0, "kills": 3, "confirm-share": 0.25}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    parser.add_argument("--json", action="store_true", dest="as_json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="merit-serve-") as folder:
        row = asyncio.run(
            run(
                Path(folder),
                given.minutes,
                given.askers,
                given.latency,
                given.think,
                given.kills,
                given.confirm_share,
            )
        )
    print(json.dumps(row) if given.as_json else "  ".join(f"{name} {value}" for name, value in row.items()))
    raise SystemExit(1 if row["errors"] else 0)


if __name__ == "__main__":
    main()
