"""What an agent that stays open keeps in its process: memory after every so many questions, without HTTP.

    python bench/footprint.py [--questions 6000] [--at-a-time 20] [--latency 0.005] [--confirm-share 0.25]
        [--every 500] [--warm 2000] [--trace]

A stand-in for a language model answers each question after `--latency` seconds; `--confirm-share` of the answers are
confirmed. `merit serve` grows as this does, and asks slower. `--trace` also says which lines of code hold what was
kept since the warm-up (tracemalloc, which makes everything two to four times slower and larger).

rss      MB of the process that are its own (Private_Dirty in /proc/self/smaps_rollup)
used     MB that malloc gave out, and `free` MB that it holds back for later (mallinfo2)
objects  that the garbage collector knows, after a collection
slope    MB for each 1,000 questions after the warm-up, by a line through `rss`, and one through `used`
"""

import argparse
import asyncio
import ctypes
import gc
import os
import random
import sqlite3
import statistics
import tempfile
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from merit.live import LiveAgent, open_live, opening
from merit.settings import DatabaseSettings, ModelSettings, Settings
from merit.types import Completer, Completion, ModelIdentity, Sampling
from merit.web.running import share_one_heap

_THREADS = 64  # as `merit serve` has them
_SQL = "SELECT state, count(*) FROM orders GROUP BY state"
_WORDS = ("orders", "customers", "sold", "paid", "open", "state", "city", "total", "largest", "average", "newest")
_MB = 2**20


class StandIn:
    """Says the same statement to everything."""

    concurrency = 64
    recorded = False
    identity = ModelIdentity("bench")

    def __init__(self, latency: float) -> None:
        self._latency = latency

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:  # noqa: ARG002 - all the same
        """After a while."""
        await asyncio.sleep(self._latency)
        return Completion(f"<answer>{_SQL}</answer>", len(prompt) // 4, 12)

    async def close(self) -> None:
        """Nothing is open."""


class _Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks")
    ] + [("keepcost", ctypes.c_size_t)]


@dataclass(frozen=True, slots=True)
class Look:
    """The process at one moment."""

    questions: int
    rss: float
    used: float
    free: float
    objects: int


def look(questions: int) -> Look:
    """How large the process is now."""
    gc.collect()
    info = ctypes.CDLL(None).mallinfo2
    info.restype = _Mallinfo
    heap = info()
    kept = Path("/proc/self/smaps_rollup").read_text().partition("Private_Dirty:")[2].split()[0]
    used = (heap.uordblks + heap.hblkhd) / _MB
    return Look(questions, int(kept) / 1024, used, heap.fordblks / _MB, len(gc.get_objects()))


async def ask_all(agent: LiveAgent, given: argparse.Namespace) -> list[Look]:
    """All questions, so many at a time."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "merit"))
    looks, draw, before = [look(0)], random.Random(0), None
    for start in range(0, given.questions, given.every):
        numbers = iter(range(start + 1, start + given.every + 1))

        async def asker(numbers=numbers) -> None:  # type: ignore[no-untyped-def]
            for number in numbers:
                words = " ".join(draw.choices(_WORDS, k=4))
                answer = await agent.ask_async(f"How many {words}, asked as number {number}?", author="somebody")
                if int(number * given.confirm_share) > int((number - 1) * given.confirm_share):
                    await asyncio.to_thread(agent.confirm, answer.id, author="somebody")

        await asyncio.gather(*(asker() for _ in range(given.at_a_time)))
        looks.append(look(start + given.every))
        print("  ".join(f"{name} {getattr(looks[-1], name):,.6g}" for name in Look.__slots__), flush=True)
        if given.trace:
            before = trace(before, looks[-1].questions, given)
    return looks


def trace(
    before: tracemalloc.Snapshot | None, questions: int, given: argparse.Namespace
) -> tracemalloc.Snapshot | None:
    """Begin to look after the warm-up; at the end, say what was kept since."""
    if questions == given.warm:
        return tracemalloc.take_snapshot()
    if before is not None and questions == given.questions:
        kept = tracemalloc.take_snapshot().compare_to(before, "lineno")
        print(f"{sum(found.size_diff for found in kept) / (questions - given.warm):9.1f} bytes a question in all")
        for found in kept[:30]:
            frame = found.traceback[0]
            bytes_each = found.size_diff / (questions - given.warm)
            print(f"{bytes_each:9.1f} bytes a question  {'/'.join(Path(frame.filename).parts[-3:])}:{frame.lineno}")
    return before


def opened(folder: Path, latency: float) -> LiveAgent:
    """An agent over a small shop, with its answers in a file as a server has them."""
    with closing(sqlite3.connect(folder / "shop.sqlite")) as db, db:
        db.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, total REAL)")
        rows = [(number, ("paid", "open", "sent")[number % 3], number / 7) for number in range(5000)]
        db.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
        db.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
        people = [(number, f"name {number}", f"city {number % 40}") for number in range(1000)]
        db.executemany("INSERT INTO customers VALUES (?, ?, ?)", people)

    def stand_in(uri: str, **_: object) -> Completer:  # noqa: ARG001 - there is one
        return StandIn(latency)

    opening.open_completer = stand_in  # type: ignore[attr-defined]
    shop = DatabaseSettings("shop", f"sqlite:///{folder / 'shop.sqlite'}")
    return open_live(Settings(folder / "merit.toml", shop, ModelSettings("openai:bench")), folder / ".merit")


def main() -> None:
    """Run it, and print it."""
    parser = argparse.ArgumentParser(description="What an agent that stays open keeps in its process.")
    defaults = {"questions": 6000, "at-a-time": 20, "latency": 0.005, "confirm-share": 0.25, "every": 500, "warm": 2000}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    parser.add_argument("--trace", action="store_true")
    given = parser.parse_args()
    if given.questions < given.warm + given.every:
        parser.error("--questions must be more than --warm, by --every at least")
    share_one_heap()
    with tempfile.TemporaryDirectory(prefix="merit-footprint-") as folder:
        os.environ["MERIT_CACHE"] = str(Path(folder) / "cache")
        if given.trace:
            tracemalloc.start()
        agent = opened(Path(folder), given.latency)
        late = [one for one in asyncio.run(ask_all(agent, given)) if one.questions >= given.warm]
        agent.close()
    for name in ("rss", "used"):
        slope = statistics.linear_regression([one.questions for one in late], [getattr(one, name) for one in late])
        print(f"{name}: {1000 * slope.slope:.2f} MB for each 1,000 questions after {given.warm:,}")


if __name__ == "__main__":
    main()
