"""How long grounding takes, beside sqlglot's own parsing and qualifying of the same queries.

    python bench/ground.py [--json]

recorded  answers of a real model that SQLite refused (MERIT_DATA/recordings, greedy, three prompts), on the schemas of
          Spider, BIRD and the bundled benchmark: at most 50 tables
463       queries with one wrong name each, made up (seeded) over the 463 tables of MERIT_DATA/beaver as one schema
parse     sqlglot.parse_one of the same text; what it cannot parse counts too
qualify   parse_one and sqlglot.optimizer.qualify with the same schema, which only says that a name is wrong

Times are in milliseconds, in one process, the median of five calls for each query after one that is not timed: a run
meets a database again and again, and other work on the machine should not count.
"""

import argparse
import gzip
import json
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

import merit
from merit.grounding import ground
from merit.sql import SQLiteEngine
from merit.types import Column, Error, Limits, Schema, Status, Table, Verdict

MOST_TABLES = 50
Refused = tuple[str, Schema, str]  # a query, its schema, the database's message
SETS = {"dev": "spider", "bird": "bird", "bundled": None}


def recorded(data: Path) -> list[Refused]:
    """The recorded first answers that their databases refuse."""
    lines = []
    for name in ("p0_paper", "p1_rich", "p2_values"):
        packed = (data / "recordings" / f"samples-{name}.jsonl.gz").read_bytes()
        lines += [json.loads(line) for line in gzip.decompress(packed).splitlines()]
    found: list[Refused] = []
    for name, folder in SETS.items():
        dataset = merit.load(folder, data / folder) if folder else merit.load("bundled")
        asked = sorted({(line["db"], line["greedy"]) for line in lines if line["set"] == name})
        for db_id in sorted({db for db, _ in asked}):
            engine = SQLiteEngine(dataset.databases[db_id][0], frozen=True)
            for sql in [sql for db, sql in asked if db == db_id]:
                result = engine.execute(sql, Limits(timeout_s=2))
                if isinstance(result, Error) and len(dataset.schemas[db_id].tables) <= MOST_TABLES:
                    found.append((sql, dataset.schemas[db_id], result.message))
            engine.close()
    return found


def large_schema(data: Path) -> Schema:
    """All tables of the large schema in one."""
    entries = json.loads((data / "beaver" / "dev_tables.json").read_text())
    taken: dict[str, str] = {}
    for key, entry in entries.items():
        name = entry["table_name_original"]
        taken[key] = name if name.lower() not in {n.lower() for n in taken.values()} else key.replace("#sep#", "_")
    tables = []
    for key, entry in entries.items():
        keys: dict[str, list[str]] = {}
        for link in entry.get("foreign_key", []):
            target = taken.get(link["referenced_table_name"])
            if target is not None:
                keys.setdefault(link["column_name"], []).append(f"{target}.{link['referenced_column_name']}")
        columns = tuple(
            Column(name, kind.split()[0], name in entry.get("primary_key", []), tuple(keys.get(name, ())))
            for name, kind in zip(entry["column_names_original"], entry["column_types"], strict=True)
        )
        tables.append(Table(taken[key], columns))
    return Schema("beaver", tuple(tables))


def misspelled(name: str, draw: random.Random) -> str:
    """A name with one letter doubled."""
    at = draw.randrange(len(name))
    return name[: at + 1] + name[at:]


def made_up(schema: Schema, count: int) -> list[Refused]:
    """Queries over one or two tables with one wrong name each: of a table, a column, a qualifier, or a missing join."""
    draw = random.Random(7)
    known = {table.name: table for table in schema.tables}
    links = [
        (table, column, target.rsplit(".", 1)[0], target.rsplit(".", 1)[1])
        for table in schema.tables
        for column in table.columns
        for target in column.foreign_keys
        if target.rsplit(".", 1)[0] in known and target.rsplit(".", 1)[0] != table.name
    ]
    found: list[Refused] = []
    for i in range(count):
        table, column, other, key = draw.choice(links)
        one, two = draw.choice(table.columns).name, draw.choice(known[other].columns).name
        tables = f"{table.name} AS T1 JOIN {other} AS T2 ON T1.{column.name} = T2.{key}"
        queries = (
            (f"SELECT T1.{misspelled(one, draw)}, T2.{two} FROM {tables}", "no such column: T1.x"),
            (f"SELECT T2.{one}, T1.{two} FROM {tables} WHERE T1.{column.name} > 3", "no such column: T2.x"),
            (f"SELECT COUNT(*) FROM {misspelled(table.name, draw)} WHERE {one} IS NULL", "no such table: x"),
            (f"SELECT T1.{one} FROM {table.name} AS T1 WHERE {two} = 'a' ORDER BY 1", "no such column: x"),
        )
        sql, message = queries[i % len(queries)]
        found.append((sql, schema, message))
    return found


def times_ms(queries: list[Refused], call: Callable[[Refused], object]) -> list[float]:
    """How long a call takes for each query."""
    medians = []
    for query in queries:
        call(query)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            call(query)
            times.append((time.perf_counter() - start) * 1000)
        medians.append(statistics.median(times))
    return medians


def grounded(query: Refused) -> bool:
    """Grounding itself; whether it found something."""
    sql, schema, message = query
    return ground(sql, schema, "sqlite", Verdict(Status.EXECUTION_ERROR, message)) is not None


def parsed(query: Refused) -> None:
    """The rival that only parses."""
    try:
        sqlglot.parse_one(query[0], read="sqlite")
    except (SqlglotError, RecursionError):
        return


def qualifier(queries: list[Refused]) -> Callable[[Refused], None]:
    """The rival that also looks names up, with its schemas prepared."""
    prepared: dict[int, MappingSchema] = {}
    for _, schema, _ in queries:
        if id(schema) not in prepared:
            names: dict[str, object] = {t.name: {c.name: "text" for c in t.columns} for t in schema.tables if t.columns}
            prepared[id(schema)] = MappingSchema(names, dialect="sqlite")

    def call(query: Refused) -> None:
        try:
            qualify(sqlglot.parse_one(query[0], read="sqlite"), schema=prepared[id(query[1])], dialect="sqlite")
        except (SqlglotError, RecursionError):
            return

    return call


def measured(queries: list[Refused], suffix: str) -> dict[str, float | int]:
    """Medians and 95th percentiles of grounding and its rivals."""
    figures: dict[str, float | int] = {f"queries{suffix}": len(queries)}
    figures[f"grounded{suffix}"] = sum(grounded(query) for query in queries)
    for name, call in (("", grounded), ("parse_", parsed), ("qualify_", qualifier(queries))):
        times = times_ms(queries, call)
        figures[f"{name}p50_ms{suffix}"] = round(statistics.median(times), 3)
        figures[f"{name}p95_ms{suffix}"] = round(statistics.quantiles(times, n=20)[-1], 3)
    return figures


def main() -> None:
    """Measure what is there, and say what is not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--queries", type=int, default=400, help="made-up queries over the large schema")
    arguments = parser.parse_args()
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    data = Path(os.environ.get("MERIT_DATA", default))
    figures: dict[str, float | int | str] = {}
    if (data / "recordings" / "samples-p0_paper.jsonl.gz").is_file():
        figures |= measured(recorded(data), "")
    else:
        figures["skipped"] = f"{data}: no recordings/samples-p0_paper.jsonl.gz here; set MERIT_DATA"
    if (data / "beaver" / "dev_tables.json").is_file():
        figures |= measured(made_up(large_schema(data), arguments.queries), "_463")
    else:
        figures["skipped_463"] = f"{data}: no beaver/dev_tables.json here; set MERIT_DATA"
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:<22}{value}")


if __name__ == "__main__":
    main()
