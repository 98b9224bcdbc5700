"""How long reading a large schema of PostgreSQL takes, from the catalogue and from the cache.

    python bench/reflect.py --url postgresql://postgres@127.0.0.1/test --tables 2000

It makes a database of its own on that server, and drops it.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from merit.sql.connect import open_engine

COLUMNS = 10


def timed(url: str, cache: Path) -> float:
    """Seconds for one schema over a connection that is open."""
    with closing(open_engine(url, cache=cache)) as engine:
        started = time.perf_counter()
        engine.schema()
        return time.perf_counter() - started


def main() -> None:
    """Make the tables, read them, print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="postgresql://postgres@127.0.0.1:5432/test")
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    name = f"merit_bench_{os.getpid()}"
    url = urlsplit(given.url)._replace(path=f"/{name}").geturl()
    columns = ", ".join(f"column_{number} TEXT" for number in range(COLUMNS))
    with psycopg.connect(given.url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}".encode())
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                for number in range(given.tables):
                    connection.execute(f"CREATE TABLE table_{number} ({columns})".encode())
                    connection.execute(f"COMMENT ON TABLE table_{number} IS 'number {number}'".encode())
            read, cached = [], []
            for _ in range(given.runs):
                with tempfile.TemporaryDirectory() as folder:
                    read.append(timed(url, Path(folder)))
                    cached.append(timed(url, Path(folder)))
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
    result = {"tables": given.tables, "read_s": statistics.median(read), "cached_s": statistics.median(cached)}
    print(json.dumps(result) if given.json else "  ".join(f"{key} {value:.3g}" for key, value in result.items()))


if __name__ == "__main__":
    main()
