"""How long 10,000 pairs of another tool take to come in, besides their execution, and to leave again.

    python bench/imports.py [--pairs 10000] [--formats csv,wren] [--json]

For every format a file or folder is written with so many pairs (made up, seeded; each statement is another one, and one
question in fifty has two answers), recognised, read, and imported into an empty memory over a SQLite file.

write_s, read_s  the format alone
import_s         everything from the file on disk to the commit, with the agent open
execute_s        the same statements by the same engine, several at a time, and nothing else
besides_s        import_s less execute_s: what the import itself takes
again_s          the same file once more, when all of it is there already
"""

import argparse
import json
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from merit.formats import FORMATS, Pair, read_pairs, write_pairs
from merit.live import connect
from merit.live.results import StatementResults
from merit.sql import SQLiteEngine
from merit.types import Grade, Limits

_Made = TypeVar("_Made")


def timed(work: Callable[[], _Made]) -> tuple[_Made, float]:
    """What some work makes, and the seconds that it takes."""
    started = time.perf_counter()
    made = work()
    return made, round(time.perf_counter() - started, 2)


def make_database(path: Path) -> None:
    """A shop with a few hundred orders."""
    draw = random.Random(3)
    rows = [(number, draw.choice(["paid", "open"]), draw.randrange(100_000)) for number in range(400)]
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, total INTEGER)")
        db.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
        db.commit()


def make_pairs(count: int) -> list[Pair]:
    """Questions and statements, all of which run."""
    pairs = []
    for number in range(count):
        asked = number - 1 if number % 50 == 1 else number  # the question before, with another answer
        sql = f"SELECT id, total\nFROM orders\nWHERE total > {number} AND state = 'paid'\nORDER BY total DESC"
        pairs.append(Pair(f"Which paid orders are above {asked} cents?", sql, author="ada"))
    return pairs


def measure(name: str, pairs: list[Pair], folder: Path) -> dict[str, Any]:
    """One format, there and back."""
    database, place = folder / "shop.sqlite", folder / f"{name}{'' if FORMATS[name].folder else '.' + name}"
    _, written = timed(lambda: write_pairs(pairs, place, name))
    (found_name, found), read = timed(lambda: read_pairs(place))
    assert (found_name, len(found.pairs)) == (name, len(pairs))
    with closing(SQLiteEngine(database)) as engine:
        alone = StatementResults(engine, Limits(rows=10_000), "shop")
        _, executed = timed(lambda: alone.run(pair.sql for pair in pairs))
    with connect(str(database), model=None, folder=folder / f"own-{name}", name="shop") as agent:

        def bring_in() -> int:
            pairs_there = read_pairs(place)[1]
            return len(agent.import_pairs(pairs_there, grade=Grade.CONFIRMED, author="ada", source=name).entries)

        entries, whole = timed(bring_in)
        none, again = timed(bring_in)
    assert (entries, none) == (len(pairs), 0)
    times = {"write_s": written, "read_s": read, "import_s": whole, "execute_s": executed}
    return {"format": name, "pairs": entries, **times, "besides_s": round(whole - executed, 2), "again_s": again}


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--formats", default=",".join(FORMATS), help="with commas between them (default: all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object a format")
    given = parser.parse_args()
    pairs = make_pairs(given.pairs)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        os.environ["MERIT_CACHE"] = str(folder / "cache")
        make_database(folder / "shop.sqlite")
        for name in given.formats.split(","):
            row = measure(name, pairs, folder)
            print(json.dumps(row) if given.json else "  ".join(f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
