"""How long a memory takes to follow a change of its database's schema, and whether exactly what it concerns goes stale.

    python bench/drift.py [--engines postgresql,mariadb] [--entries 10000] [--tables 200] [--json]

A database gets so many tables of six columns, a memory so many confirmed answers about them, each over two columns of
one table. Then a column is renamed, dropped, given another type, and one is added; each change is undone before the
next. After every step the agent is opened anew, as a new process would.

look_s   the look at all entries, longest of all steps: lineages compared, statements run again, states committed
cpu_s    the same by this process's own time alone: what it is on a machine that is not busy
open_s   opening the agent with everything, longest of all steps
stale    how many entries a renamed, dropped, retyped and added column made stale; wrong: entries in a wrong state
learn_s  computing all lineages once, as `import` and `confirm` do when they commit entries

Servers are found through MERIT_TEST_POSTGRES and MERIT_TEST_MARIADB; each engine gets a database of its own.
"""

import argparse
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # databases are made as the tests make them
from making.databases import Place, empty
from merit.live import LiveAgent, connect, following
from merit.live.schema.staleness import follow_schema
from merit.memory import Entry, Grade, Precedent, Provenance, entries_in
from merit.types import Status

NAME, COLUMNS = "warehouse", 6
TABLE = "fact_7"  # the one that changes
RETYPE = {"postgresql": "ALTER COLUMN c2 TYPE {0} USING c2::{0}", "mariadb": "MODIFY c2 {0}"}
Step = tuple[str, str, Callable[[str], bool]]  # what changes, what undoes it, and whether it concerns a statement


def steps(dialect: str) -> dict[str, Step]:
    """The changes, by name."""
    retype = RETYPE.get(dialect, "ALTER c2 TYPE {0}")
    return {
        "rename": ("RENAME COLUMN c0 TO c0_now", "RENAME COLUMN c0_now TO c0", lambda sql: "c0" in sql),
        "drop": ("DROP COLUMN c1", "ADD COLUMN c1 INTEGER", lambda sql: "c1" in sql),
        "retype": (retype.format("VARCHAR(40)"), retype.format("INTEGER"), lambda sql: "c2" in sql),
        "add": ("ADD COLUMN more INTEGER", "DROP COLUMN more", lambda _: False),
    }


def answers(tables: int, count: int, template: Provenance) -> list[Entry]:
    """Confirmed answers, each over two neighbouring columns of one table."""
    made: list[Entry] = []
    for number in range(count):
        table, column = f"fact_{number % tables}", number // tables % COLUMNS
        sql = f"SELECT c{column} FROM {table} WHERE c{(column + 1) % COLUMNS} > {number}"
        source = Provenance(
            "live", f"q{number}", NAME, number, 1, f"live:q{number}",
            schema_fingerprint=template.schema_fingerprint, dialect=template.dialect,
        )  # fmt: skip
        question = f"Which c{column} of {table} are beyond {number}?"
        made.append(Precedent("", question, "", sql, Status.EXECUTED, Status.CORRECT, Grade.CONFIRMED, source))
    return made


class Watch:
    """Opens the agent, and times the look at the schema apart."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place, self.folder = place, folder
        self.looks: list[float] = []
        self.worked: list[float] = []
        self.opens: list[float] = []

    def opened(self) -> LiveAgent:
        """The agent, as a new process would have it."""

        def timed(*given: Any) -> Any:
            started, worked = time.perf_counter(), time.process_time()
            found = follow_schema(*given)
            self.looks.append(time.perf_counter() - started)
            self.worked.append(time.process_time() - worked)
            return found

        started = time.perf_counter()
        with patch.object(following, "follow_schema", timed):
            agent = connect(self.place.url, model=None, name=NAME, folder=self.folder, rows=False)
        self.opens.append(time.perf_counter() - started)
        return agent

    def stale(self) -> set[str]:
        """The statements that are stale after another look."""
        self.opened().close()
        return {str(item.entry.delta) for item in entries_in(self.folder / "memory") if item.stale is not None}


def measure(dialect: str, tables: int, count: int, folder: Path) -> dict[str, Any]:
    """All changes on one engine."""
    with empty(dialect, folder) as place:
        columns = ", ".join(f"c{number} INTEGER" for number in range(COLUMNS))
        for number in range(tables):
            place.run(f"CREATE TABLE fact_{number} ({columns})")
        watch = Watch(place, folder / "own")
        with watch.opened() as agent:
            parts = agent._parts
            template = Provenance("", "", "", 0, 0, "", schema_fingerprint=parts.fingerprint, dialect=dialect)
            entries = parts.memory.commit_all(answers(tables, count, template))
            started, known = time.perf_counter(), parts.schemas
            assert known is not None
            for entry in entries:
                known.lineage_of(entry)
            learned = time.perf_counter() - started
        statements = {str(entry.delta) for entry in entries}
        stale, wrong = {}, 0
        watch.opened().close()
        for times in (watch.looks, watch.worked, watch.opens):
            times.clear()
        for name, (change, undo, concerns) in steps(dialect).items():
            place.run(f"ALTER TABLE {TABLE} {change}")
            expected = {sql for sql in statements if f" {TABLE} " in sql and concerns(sql)}
            found = watch.stale()
            place.run(f"ALTER TABLE {TABLE} {undo}")
            stale[name], wrong = len(found), wrong + len(found ^ expected) + len(watch.stale())
    took = {"look_s": max(watch.looks), "cpu_s": max(watch.worked), "open_s": max(watch.opens), "learn_s": learned}
    return {
        "engine": dialect,
        "entries": count,
        **{name: round(value, 2) for name, value in took.items()},
        "stale": stale,
        "wrong": wrong,
    }


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="postgresql,mariadb", help="with commas between them")
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print one JSON object an engine")
    given = parser.parse_args()
    logging.getLogger("merit").setLevel(logging.ERROR)  # every step says that the schema changed
    for dialect in given.engines.split(","):
        with tempfile.TemporaryDirectory() as made:
            os.environ["MERIT_CACHE"] = str(Path(made) / "cache")
            row = measure(dialect, given.tables, given.entries, Path(made))
        print(json.dumps(row) if given.json else "  ".join(f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
