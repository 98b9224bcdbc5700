"""How long a large memory takes to open, in a folder and on PostgreSQL, beside building its index anew.

    python bench/opening.py [--entries 100000] [--postgres URL] [--json]

--postgres   where the second memory is kept, in a schema that is dropped afterwards (default: MERIT_TEST_POSTGRES)

Entries are made up and seeded. Both memories get them in appends of 5,000.

built_s      opening without an index: every entry is read and encoded
opened_s     opening from the index on disk, the median of five
recalled_ms  a recall in a memory that is open, the median of fifty; the log's last number is asked for each time
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from merit.memory import Cue, Entry, Grade, Precedent, Provenance, RecallPolicy, open_at, open_store, with_id
from merit.models import open_encoder
from merit.types import FailureType, Status

_POSTGRES = os.environ.get("MERIT_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")
_NOUNS = ("orders", "customers", "invoices", "visits", "products", "refunds", "regions", "shipments")
_APPEND = 5000


def made(count: int) -> Iterator[Entry]:
    """Confirmed answers about one database."""
    draw = random.Random(7)
    for number in range(count):
        noun, other = draw.choice(_NOUNS), draw.choice(_NOUNS)
        question = f"How many {noun} with {other} above {draw.randrange(10_000)} were there in week {number % 52}?"
        sql = f"SELECT count(*) FROM {noun} WHERE {other} > {draw.randrange(10_000)} AND week = {number % 52}"
        source = Provenance("live", f"q{number}", "shop", number, 0, f"live:q{number}", author="ada")
        right = Status.CORRECT
        yield with_id(Precedent("", question, "Database: shop", sql, right, right, Grade.CONFIRMED, source))


def fill(place: str | Path, count: int) -> None:
    """Append the entries."""
    entries = list(made(count))
    with closing(open_store(place)) as store:
        for start in range(0, count, _APPEND):
            store.append(entries[start : start + _APPEND])


def measure(place: str | Path, cache: Path) -> dict[str, float]:
    """Open it without an index, then with one, and recall."""
    encoder = open_encoder("wordllama")
    started = time.perf_counter()
    open_at(place, encoder, cache).close()  # and keeps its index
    built, opened = time.perf_counter() - started, []
    for _ in range(5):
        started = time.perf_counter()
        memory = open_at(place, encoder, cache)
        opened.append(time.perf_counter() - started)
        memory.close()
    policy, times = RecallPolicy(precedents=3), []
    with open_at(place, encoder, cache) as memory:
        for number in range(50):
            cue = Cue(f"How many orders in week {number}?", "now", "shop", 10**9, 0, "", "", FailureType.UNKNOWN)
            started = time.perf_counter()
            memory.recall(cue, policy)
            times.append(1000 * (time.perf_counter() - started))
    return {
        "built_s": round(built, 1),
        "opened_s": round(statistics.median(opened), 2),
        "recalled_ms": round(statistics.median(times), 1),
    }


def main() -> None:
    """Measure both, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--postgres", default=_POSTGRES)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    schema = f"merit_bench_{os.getpid()}"
    url = f"{given.postgres}{'&' if '?' in given.postgres else '?'}schema={schema}"
    seen: dict[str, Any] = {"entries": given.entries}
    try:
        with tempfile.TemporaryDirectory(prefix="merit-") as name:
            folder = Path(name)
            for kind, place in (("folder", folder / "memory"), ("postgres", url)):
                fill(place, given.entries)
                seen |= {f"{kind}_{measured}": value for measured, value in measure(place, folder / "cache").items()}
    finally:
        with psycopg.connect(given.postgres, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())
    print(json.dumps(seen) if given.json else "\n".join(f"{name:<22} {value}" for name, value in seen.items()))


if __name__ == "__main__":
    main()
