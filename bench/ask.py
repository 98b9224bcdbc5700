"""What an answer costs besides the model and the database, beside a bare client that sends one prompt.

    python bench/ask.py [--tables FILE] [--questions FILE] [--entries 100000] [--asked 60] [--json]

--tables     every table by `database#sep#table`, as BEAVER's dev_tables.json (default: in MERIT_DATA/beaver)
--questions  objects with `question`, as BEAVER's dev_dw.json; nothing else of them is read

A SQLite database gets all the tables, with a few rows each; a memory gets so many entries about it (made up, seeded:
three of five are confirmed answers), a history as many questions. A script stands in for the model: every third first
candidate has a slip in a name, so that it is grounded. Each question is asked once, in one process, after five others.

overhead_ms_p50, overhead_ms_p95  an answer's wall-clock less the time in the model's and in the database's calls
cpu_ms_p50   of this process alone, the stand-in model's own part included: what it is on a machine that is not busy
bare_ms_p50  the same for a client that puts the whole schema and the question into one prompt, sends it and executes
find_ms      finding an answer in that history by its id
open_s       opening the agent, once a command or once a program; the first time an index of the values is made, too
"""

import argparse
import asyncio
import json
import os
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from merit.live import AnswerStatus, Asked, History, LiveAgent, open_live
from merit.live.record.events import event_record
from merit.memory import Entry, Grade, Memory, Precedent, Provenance, Repair
from merit.models import open_encoder
from merit.prompts.tables import create_tables
from merit.runs.text import to_json
from merit.settings import DatabaseSettings, ModelSettings, Settings
from merit.types import Completion, FailureSubtype, FailureType, Limits, Polarity, Result, Sampling, Status

RNG = random.Random(11)
NAME = "warehouse"
WARM_UP = 5
Tables = dict[str, list[str]]  # columns by table


class Timed:
    """What the model and the database took."""

    def __init__(self, agent: LiveAgent) -> None:
        self.seconds = 0.0
        completer, engine = agent._parts.completer, agent._parts.engine
        complete, execute = completer._completer.complete, engine.execute

        async def timed_complete(prompt: str, sampling: Sampling) -> Completion:
            started = time.perf_counter()
            try:
                return await complete(prompt, sampling)
            finally:
                self.seconds += time.perf_counter() - started

        def timed_execute(sql: str, limits: Limits) -> Result:
            started = time.perf_counter()
            try:
                return execute(sql, limits)
            finally:
                self.seconds += time.perf_counter() - started

        completer._completer.complete = timed_complete  # type: ignore[method-assign]
        engine.execute = timed_execute  # type: ignore[method-assign]


def make_database(tables: Path, path: Path) -> Tables:
    """All tables in one file, a few rows each."""
    made: Tables = {}
    with closing(sqlite3.connect(path)) as db:
        for key, entry in json.loads(tables.read_text()).items():
            own = key.partition("#sep#")[2]
            name = own if own.lower() not in map(str.lower, made) else key.replace("#sep#", "_")
            made[name] = list(dict.fromkeys(entry["column_names_original"]))
            quoted = ['"' + column.replace('"', '""') + '"' for column in made[name]]
            db.execute(f'CREATE TABLE "{name}" ({", ".join(f"{column} TEXT" for column in quoted)})')
            rows = [[f"{column.lower()} {RNG.randrange(1000)}" for column in made[name]] for _ in range(8)]
            db.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(quoted))})', rows)
        db.commit()
    return made


def a_query(tables: Tables) -> tuple[str, str]:
    """A question and its SQL, over one table or two."""
    names = list(tables)
    table, other = RNG.choice(names), RNG.choice(names)
    column, condition = RNG.choice(tables[table]), RNG.choice(tables[table])
    joined = f'JOIN "{other}" AS o ON t."{condition}" = o."{RNG.choice(tables[other])}"' if RNG.random() < 0.5 else ""
    value = f"{condition.lower()} {RNG.randrange(1000)}"
    question = (
        f"Which {column.replace('_', ' ')} of {table.replace('_', ' ')} has {condition.replace('_', ' ')} {value}?"
    )
    return question, f'SELECT t."{column}" FROM "{table}" AS t {joined} WHERE t."{condition}" = \'{value}\''


def make_entries(tables: Tables, count: int) -> Iterator[Entry]:
    """Entries as years of questions would leave them."""
    for number in range(count):
        question, sql = a_query(tables)
        source = Provenance("live", f"q{number}", NAME, number, 1, f"live:q{number}")
        if number % 5 < 3:
            yield Precedent("", question, NAME, sql, Status.CORRECT, Status.CORRECT, Grade.CONFIRMED, source)
            continue
        positive = number % 5 == 3
        yield Repair(
            id="",
            polarity=Polarity.POSITIVE if positive else Polarity.NEGATIVE,
            question=question,
            schema=NAME,
            before=a_query(tables)[1],
            status=Status.EXECUTION_ERROR,
            db_error="no such column: x",
            type=FailureType.SCHEMA_LINKING,
            subtype=FailureSubtype.MISSING_COLUMN,
            after=sql,
            outcome=Status.CORRECT if positive else Status.DENOTATION_MISMATCH,
            outcome_error=None,
            grade=Grade.CONFIRMED,
            provenance=source,
        )


def make_history(tables: Tables, folder: Path, count: int) -> None:
    """As many questions that were asked, on other days."""
    with (folder / "history.jsonl").open("w") as file:
        for number in range(count):
            question, sql = a_query(tables)
            asked = Asked(
                f"{number:012x}", "2020-01-01T00:00:00+00:00", question, NAME, "sqlite", "0" * 16, number,
                "precedent_grounded", "scripted", "0" * 64, sql, AnswerStatus.ANSWERED, 1.0, None, (), (), "", 4,
                4000, 40, 1.0,
            )  # fmt: skip
            file.write(to_json(event_record(asked)) + "\n")


def make_memory(tables: Tables, folder: Path, count: int) -> None:
    """Commit the entries, and keep their index."""
    with Memory(folder, open_encoder("wordllama")) as memory:
        batch: list[Entry] = []
        for entry in make_entries(tables, count):
            batch.append(entry)
            if len(batch) == 5000:
                memory.commit_all(batch)
                batch = []
        memory.commit_all(batch)


def make_script(tables: Tables, questions: list[str], path: Path) -> None:
    """The model's answers: a statement for each question, in every third first prompt with a slip in its column."""
    lines = []
    for number, question in enumerate(questions):
        table = RNG.choice(list(tables))
        column = tables[table][0]
        sql = f'SELECT t."{column}" FROM "{table}" AS t LIMIT 3'
        if number % 3 == 0:
            slip = {
                "contains": [question, "DATABASE SCHEMA"],
                "reply": f"<answer>{sql.replace(column, column + 's', 1)}</answer>",
            }
            lines.append(slip)
        lines.append({"contains": question, "reply": f"<answer>{sql}</answer>"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def bare(agent: LiveAgent, question: str) -> None:
    """The whole schema and the question in one prompt, one call, one execution."""
    parts = agent._parts
    prompt = f"DATABASE SCHEMA\n{create_tables(parts.schema)}\n\nWrite one SQLite query that answers: {question}"
    reply = asyncio.run(parts.completer._completer.complete(prompt, Sampling()))
    parts.engine.execute(reply.text.removeprefix("<answer>").removesuffix("</answer>"), Limits())


def measure(agent: LiveAgent, questions: list[str], folder: Path, entries: int) -> dict[str, Any]:
    """Overheads over all questions but the first few."""
    timed = Timed(agent)
    own: list[float] = []
    bares: list[float] = []
    cpu: list[float] = []
    for question in questions:
        for work, times in ((agent.ask, own), (lambda text: bare(agent, text), bares)):
            timed.seconds = 0.0
            started, worked = time.perf_counter(), time.process_time()
            work(question)
            times.append(1000 * (time.perf_counter() - started - timed.seconds))
            if times is own:
                cpu.append(1000 * (time.process_time() - worked))
    own, bares, cpu = own[WARM_UP:], bares[WARM_UP:], cpu[WARM_UP:]
    history = History(folder)
    started = time.perf_counter()
    history.find(f"{entries // 2:012x}")
    return {
        "overhead_ms_p50": round(statistics.median(own), 1),
        "overhead_ms_p95": round(statistics.quantiles(own, n=20)[-1], 1),
        "cpu_ms_p50": round(statistics.median(cpu), 1),
        "bare_ms_p50": round(statistics.median(bares), 1),
        "find_ms": round(1000 * (time.perf_counter() - started), 1),
        "asked": len(own),
    }


def run(tables_file: Path, questions_file: Path, entries: int, asked: int, folder: Path) -> dict[str, Any]:
    """Make everything, open twice, measure."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["MERIT_CACHE"] = str(folder / "cache")
    tables = make_database(tables_file, folder / "warehouse.sqlite")
    questions = [record["question"] for record in json.loads(questions_file.read_text())][: asked + WARM_UP]
    make_script(tables, questions, folder / "script.jsonl")
    make_memory(tables, folder / "memory", entries)
    make_history(tables, folder, entries)
    database = DatabaseSettings(NAME, f"sqlite:///{folder / 'warehouse.sqlite'}")
    settings = Settings(folder / "merit.toml", database, ModelSettings(f"scripted:{folder / 'script.jsonl'}"))
    opened = []
    for _ in range(2):
        started = time.perf_counter()
        agent = open_live(settings, folder)
        opened.append(round(time.perf_counter() - started, 2))
        if len(opened) == 1:
            agent.close()
    with agent:
        measured = measure(agent, questions, folder, entries)
    return {"entries": entries, "tables": len(tables), **measured, "first_open_s": opened[0], "open_s": opened[1]}


def main() -> None:
    """Parse, measure, print."""
    beaver = Path(os.environ.get("MERIT_DATA", "../shared/data")) / "beaver"
    parser = argparse.ArgumentParser(description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, default=beaver / "dev_tables.json")
    parser.add_argument("--questions", type=Path, default=beaver / "dev_dw.json")
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--asked", type=int, default=60)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--keep", type=Path, help="a folder in which everything that was made stays")
    arguments = parser.parse_args()
    for file in (arguments.tables, arguments.questions):
        if not file.is_file():
            print(f"{file}: no such file; set MERIT_DATA, or give --tables and --questions")
            return
    with tempfile.TemporaryDirectory() as folder:
        place = arguments.keep or Path(folder)
        row = run(arguments.tables, arguments.questions, arguments.entries, arguments.asked, place)
    if arguments.json:
        print(json.dumps(row))
        return
    for name, value in row.items():
        print(f"{name:<16} {value:>10}")


if __name__ == "__main__":
    main()
