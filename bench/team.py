"""Many people ask and confirm over two servers that share one memory on PostgreSQL: what is lost, late or refused.

    python bench/team.py [--minutes 10] [--askers 50] [--confirming 8] [--think 5.0] [--latency 0.2] [--json]

--postgres   where the memory is kept, in a schema that is dropped afterwards (default: MERIT_TEST_POSTGRES)

Two `merit serve` run in processes and folders of their own, with the same PostgreSQL memory and a stand-in for a
language model, which answers over HTTP after `--latency` seconds. Askers have tokens, ask a question on one of the
servers at random, read the events to the last, and think for about `--think` seconds. Those who confirm ask a question
that was never asked on one server, confirm its answer there, and at once ask it on the other one: the confirmed entry
must be among what that answer was shown. At the end the memory's log is read, and both histories are audited.

asks, confirmed    questions that were answered, and answers that were confirmed
errors             responses that are errors, and questions that failed
lost               confirmed entries that the memory's log does not have
late               confirmations that the other server did not recall the first time it was asked
recalled_ms_p50, recalled_ms_p95, recalled_ms_max   from a confirmation's response to the event with what is recalled
ask_ms_p50, ask_ms_p95   from sending a question to its answer, the model's time included
contradictions     that the audits of both folders found
"""

import argparse
import asyncio
import json
import os
import random
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
import psycopg
from aiohttp import web

from merit.live.auditing.audit import audit_live
from merit.memory import open_store
from merit.web.access_tokens import Right, TokenStore

_SQL = "SELECT state, count(*) FROM orders GROUP BY state"
_POSTGRES = os.environ.get("MERIT_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")
_SERVERS = 2
_POOL = 200  # questions that askers choose from
_MOST_EXAMPLES = 3  # that a prompt shows: a confirmed answer to the very question is the first of them


@dataclass
class Bench:
    """What was seen so far."""

    think: float
    latency: float
    bases: list[str] = field(default_factory=list)  # of the servers
    tokens: list[dict[str, str]] = field(default_factory=list)  # by name, one set for each server
    until: float = 0.0
    took: list[float] = field(default_factory=list)
    recalled: list[float] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)  # entries that were acknowledged
    late: int = 0
    errors: list[str] = field(default_factory=list)

    async def complete(self, request: web.Request) -> web.Response:
        """The stand-in model: the same statement for every question."""
        text = str((await request.json())["messages"][-1]["content"])
        await asyncio.sleep(self.latency)
        message = {"role": "assistant", "content": f"<answer>{_SQL}</answer>"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(text) // 4, "completion_tokens": 12, "total_tokens": len(text) // 4 + 12}
        return web.json_response(
            {"id": "x", "object": "chat.completion", "model": "bench", "choices": [choice], "usage": usage}
        )

    async def asker(self, session: aiohttp.ClientSession, name: str, seed: int) -> None:
        """Somebody who only asks, until the time is over."""
        draw = random.Random(seed)
        await asyncio.sleep(draw.uniform(0, self.think))
        while time.monotonic() < self.until:
            question = f"How many orders are in each state, version {draw.randrange(_POOL)}?"
            await self.ask(session, draw.randrange(_SERVERS), name, question)
            await asyncio.sleep(draw.expovariate(1 / self.think) if self.think else 0)

    async def confirming(self, session: aiohttp.ClientSession, name: str, seed: int) -> None:
        """Somebody who confirms on one server, and looks whether the other one knows."""
        draw, number = random.Random(seed), 0
        while time.monotonic() < self.until:
            number += 1
            question = f"How many orders of {name} are in each state, number {number}?"
            here = draw.randrange(_SERVERS)
            answer, _ = await self.ask(session, here, name, question)
            entry = await self.confirm(session, here, name, answer) if answer else ""
            if entry:
                await self._look(session, 1 - here, name, question, entry)
            await asyncio.sleep(draw.expovariate(1 / self.think) if self.think else 0)

    async def _look(self, session: aiohttp.ClientSession, there: int, name: str, question: str, entry: str) -> None:
        started = time.perf_counter()
        _, shown = await self.ask(session, there, name, question)
        known = [at for at, ids in shown if entry in ids]
        if known:
            self.recalled.append(1000 * (known[0] - started))
        else:
            self.late += 1

    async def ask(
        self, session: aiohttp.ClientSession, at: int, name: str, question: str
    ) -> tuple[str, list[tuple[float, list[str]]]]:
        """The id of the answer, and what was recalled for it, with the time at which that was told."""
        headers = {"Authorization": f"Bearer {self.tokens[at][name]}", "Accept": "text/event-stream"}
        started, kind, data, shown = time.perf_counter(), "", {}, []
        body = {"question": question}
        async with session.post(f"{self.bases[at]}/api/answers", json=body, headers=headers) as response:
            if response.status != 200:
                self.errors.append(f"{response.status}: {await response.text()}")
                return "", []
            async for line in response.content:
                if line.startswith(b"event: "):
                    kind = line[7:].strip().decode()
                elif line.startswith(b"data: "):
                    data = json.loads(line[6:])
                    if kind == "started":
                        shown.append((time.perf_counter(), [item["id"] for item in data["recalled"]]))
        if kind != "answer" or data["status"] != "answered":
            self.errors.append(f"{kind}: {data.get('error')}")
            return "", []
        self.took.append(1000 * (time.perf_counter() - started))
        return str(data["id"]), shown

    async def confirm(self, session: aiohttp.ClientSession, at: int, name: str, answer: str) -> str:
        """The entry that a confirmation left."""
        headers = {"Authorization": f"Bearer {self.tokens[at][name]}"}
        async with session.post(f"{self.bases[at]}/api/answers/{answer}/confirm", headers=headers) as response:
            if response.status != 200:
                self.errors.append(f"confirm {response.status}: {await response.text()}")
                return ""
            entry = str((await response.json())["entries"][0])
        self.confirmed.append(entry)
        return entry


def prepare(folder: Path, names: list[str], memory: str) -> dict[str, str]:
    """A project with a small shop, and a token for everybody."""
    (folder / ".merit").mkdir(parents=True)
    with closing(sqlite3.connect(folder / "shop.sqlite")) as db:
        db.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, total REAL)")
        rows = [(number, random.choice(["open", "paid", "sent"]), 1.5 * number) for number in range(1000)]
        db.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
        db.commit()
    (folder / "merit.toml").write_text(
        '[database]\nname = "shop"\nurl = "sqlite:///shop.sqlite"\n\n[model]\nuri = "openai:bench"\n\n'
        f'[memory]\nurl = "{memory}"\n\n[asking]\ncandidates = 3\nleast = 2\n\n'
        "[serve]\nrequests_per_minute = 60000\nasks = 128\n"
    )
    tokens = TokenStore(folder / ".merit")
    return {name: tokens.add(name, [Right.ASK, Right.CONFIRM]) for name in names}


async def start(folder: Path, port: int, model: str) -> asyncio.subprocess.Process:
    """`merit serve` in a process of its own, once it is ready."""
    more = {"OPENAI_BASE_URL": model, "OPENAI_API_KEY": "none", "MERIT_CACHE": str(folder / "cache")}
    with (folder / "server.log").open("ab") as log:
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "merit", "serve", "--port", str(port), "--no-browser", "--json-log"),
            cwd=folder, env={**os.environ, **more}, stdout=log, stderr=log,
        )  # fmt: skip
    async with aiohttp.ClientSession() as session:
        until = time.monotonic() + 120
        while time.monotonic() < until and server.returncode is None:
            with suppress(aiohttp.ClientError):
                async with session.get(f"http://127.0.0.1:{port}/health/ready") as response:
                    if response.status == 200:
                        return server
            await asyncio.sleep(0.1)
    raise SystemExit(f"the server did not start: {(folder / 'server.log').read_text()[-2000:]}")


async def run(folder: Path, memory: str, given: argparse.Namespace) -> dict[str, Any]:
    """Everything, in a folder."""
    bench = Bench(given.think, given.latency)
    asking = [f"asker{number}" for number in range(given.askers)]
    judging = [f"judge{number}" for number in range(given.confirming)]
    application = web.Application(client_max_size=1 << 24)
    application.router.add_post("/v1/chat/completions", bench.complete)
    runner = web.AppRunner(application)
    await runner.setup()
    model_port, *ports = (_free_port() for _ in range(1 + _SERVERS))
    await web.TCPSite(runner, "127.0.0.1", model_port).start()
    folders = [folder / f"server{number}" for number in range(_SERVERS)]
    servers = []
    for place, port in zip(folders, ports, strict=True):
        bench.tokens.append(prepare(place, [*asking, *judging], memory))
        servers.append(await start(place, port, f"http://127.0.0.1:{model_port}/v1"))
        bench.bases.append(f"http://127.0.0.1:{port}")
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=120)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:
        bench.until = time.monotonic() + 60 * given.minutes
        people = [bench.asker(session, name, seed) for seed, name in enumerate(asking)]
        people += [bench.confirming(session, name, 1000 + seed) for seed, name in enumerate(judging)]
        await asyncio.gather(*people)
    for server in servers:
        server.terminate()
        await server.wait()
    await runner.cleanup()
    return summary(bench, folders, memory, given)


def summary(bench: Bench, folders: list[Path], memory: str, given: argparse.Namespace) -> dict[str, Any]:
    """What was seen, held against the memory's log and both histories."""
    with closing(open_store(memory, writable=False)) as store:
        there = {change.id for _, change in store.since(0)}
    found = [problem for folder in folders for problem in audit_live(folder / ".merit", memory).contradictions]
    return {
        "asks": len(bench.took),
        "confirmed": len(bench.confirmed),
        "errors": len(bench.errors),
        "lost": len([entry for entry in bench.confirmed if entry not in there]),
        "late": bench.late,
        **_quantiles("recalled_ms", bench.recalled),
        "recalled_ms_max": round(max(bench.recalled, default=0.0), 1),
        **_quantiles("ask_ms", bench.took),
        "contradictions": len(found),
        "minutes": given.minutes,
        "askers": given.askers,
        "confirming": given.confirming,
        "first_problems": [*bench.errors[:3], *found[:3]],
    }


def _quantiles(name: str, times: list[float]) -> dict[str, float]:
    points = statistics.quantiles(times, n=20) if len(times) > 1 else [0.0] * 19
    return {f"{name}_p50": round(points[9], 1), f"{name}_p95": round(points[18], 1)}


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def main() -> None:
    """Run, and print what was seen; exit 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--askers", type=int, default=50)
    parser.add_argument("--confirming", type=int, default=8)
    parser.add_argument("--think", type=float, default=5.0, help="seconds between two questions of a person")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds that the stand-in model takes")
    parser.add_argument("--postgres", default=_POSTGRES)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    schema = f"merit_bench_{os.getpid()}"
    memory = f"{given.postgres}{'&' if '?' in given.postgres else '?'}schema={schema}"
    try:
        with tempfile.TemporaryDirectory(prefix="merit-team-") as folder:
            seen = asyncio.run(run(Path(folder), memory, given))
    finally:
        with psycopg.connect(given.postgres, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())
    print(json.dumps(seen) if given.json else "\n".join(f"{name:<16} {value}" for name, value in seen.items()))
    wrong = seen["errors"] or seen["lost"] or seen["late"] or seen["contradictions"] or seen["recalled_ms_max"] > 1000
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
