"""Which wording of a prompt for live use is best, measured on Spider's training split.

python tune.py prompts DATA OUT.jsonl.gz           the variants' prompts for a dataset in Spider's layout
python tune.py draw PROMPTS OUT.jsonl.gz           a greedy answer and eight draws for each, from OPENAI_BASE_URL
python tune.py judge DATA DRAWS OUT.json           every answer executed, grounded and judged
python tune.py votes JUDGED.json                   accuracy by variant, and of votes over mixtures of them
"""

import asyncio
import gzip
import json
import os
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import aiohttp

from merit.benchmark import Benchmark, DataSpec
from merit.grounding import ground
from merit.prompts import family_named, initial, parse_sql
from merit.prompts.tables import create_tables, literal, quoted
from merit.sql import SQLiteEngine, content_hash
from merit.types import Distinct, Question, Schema, Status
from merit.values import ValueIndex, open_values

MODEL = "qwen2.5-coder-1.5b-instruct"
DRAWS, TEMPERATURE, AT_ONCE = 8, 0.8, 400
HEAD = "You are an expert SQLite developer. Produce one SQL query for the question.\n\nDATABASE SCHEMA:\n"
LONG_RULES = (
    (Path(__file__).parents[2] / "src/merit/prompts/templates/live/initial.txt").read_text().split("RULES:\n")[1]
)
SHORT_RULES = """- Use only tables and columns of the schema.
- Return only the columns that the question asks for.
- Return exactly one query, between <answer> and </answer> tags."""
ALONE = (
    "Use only tables and columns above, each column with the table that lists it. Return only what is asked for. "
    "Answer with the query alone, in a ```sql block."
)
Judged = tuple[bool, str | None, bool]  # right, the rows it gave (None: it failed), whether it was grounded


def variants(question: Question, tables: Schema, values: ValueIndex) -> Iterator[tuple[str, str]]:
    """A letter for each wording.

    With examples and mentions: A, B. As comments: C. Without examples: D. Without mentions: E. In other words: F.
    Not drawn yet: C without examples (G), and mentioned values behind their columns, worded as D (H) and as C (I).
    """
    rich = create_tables(tables, "sqlite", lambda table, column: values.examples(table, column, 3))
    bare, text = create_tables(tables), question.text
    found = [f"{quoted(t, 'sqlite')}.{quoted(c, 'sqlite')} = {literal(v)}" for t, c, v in values.mentioned(text)]
    shown = "\n".join(["VALUES IN THE DATABASE THAT THE QUESTION MENTIONS:", *found, "", ""]) if found else ""
    asked = f"QUESTION:\n{text}\n\nRULES:\n"
    yield "A", f"{HEAD}{rich}\n\n{shown}{asked}{LONG_RULES}"
    yield "B", f"{HEAD}{rich}\n\n{shown}{asked}{SHORT_RULES}"
    comments = "".join(f"-- {line}\n" for line in found)
    order = "-- Using valid SQLite, answer the following question for the tables provided above with one query."
    yield "C", f"{rich}\n\n{comments}{order}\n-- {text}"
    yield "D", f"{HEAD}{bare}\n\n{shown}{asked}{LONG_RULES}"
    yield "E", f"{HEAD}{rich}\n\n{asked}{LONG_RULES}"
    told = f"{shown}Write one SQLite query that answers this question: {text}\n\n{ALONE}"
    yield "F", f"Given this SQLite database:\n\n```sql\n{rich}\n```\n\n{told}"
    yield "G", f"{bare}\n\n{comments}{order}\n-- {text}"
    behind: dict[tuple[str, str], list[str]] = {}
    for table, column, value in values.mentioned(text):
        behind.setdefault((table.lower(), column.lower()), []).append(value)
    inline = create_tables(tables, "sqlite", lambda table, column: behind.get((table.lower(), column.lower()), []))
    yield "H", f"{HEAD}{inline}\n\n{asked}{LONG_RULES}"
    yield "I", f"{inline}\n\n{order}\n-- {text}"


def opened(data: str) -> Benchmark:
    """A dataset in Spider's layout, judged with DISTINCT dropped."""
    return DataSpec("spider", Path(data), timeout_s=5, distinct=Distinct.DROPPED).open()


def write_prompts(data: str, out: str) -> None:
    """Every question in every wording, and in the paper's (P)."""
    with opened(data) as benchmark, gzip.open(out, "wt") as file:
        indexes: dict[str, ValueIndex] = {}
        for question in benchmark.usable_questions():
            tables, database = benchmark.dataset.schemas[question.db_id], benchmark.dataset.databases[question.db_id][0]
            if question.db_id not in indexes:
                with closing(SQLiteEngine(database)) as engine:
                    indexes[question.db_id] = open_values(engine, tables, content_hash(database))
            paper = initial(family_named("spider"), question, tables.text()).text
            for letter, prompt in [*variants(question, tables, indexes[question.db_id]), ("P", paper)]:
                file.write(json.dumps({"id": question.id, "v": letter, "prompt": prompt}) + "\n")


async def draw(prompts: str, out: str) -> None:
    """Ask a model server for a greedy answer and the draws to every prompt."""
    records = list(lines(prompts))
    address = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    free, drawn = asyncio.Semaphore(AT_ONCE), []
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:

        async def ask(record: dict[str, Any], temperature: float, number: int) -> None:
            message = {"role": "user", "content": record["prompt"]}
            body = {"model": MODEL, "messages": [message], "temperature": temperature, "n": number, "max_tokens": 512}
            async with free, session.post(address, json=body | ({"seed": 1} if temperature else {})) as reply:
                replies = [choice["message"]["content"] for choice in (await reply.json())["choices"]]
            drawn.append({"id": record["id"], "v": record["v"], "t": temperature, "replies": replies})

        kinds = ((0.0, 1), (TEMPERATURE, DRAWS))
        await asyncio.gather(*(ask(record, *kind) for record in records for kind in kinds))
    with gzip.open(out, "wt") as file:
        file.writelines(json.dumps(record) + "\n" for record in drawn)


def lines(path: str) -> Iterator[dict[str, Any]]:
    """The records of a packed file of JSON lines."""
    with gzip.open(path, "rt") as file:
        for line in file:
            yield json.loads(line)


def judge(data: str, draws: str, out: str) -> None:
    """Execute, ground and judge every answer."""
    judged: dict[str, list[Judged]] = {}
    with opened(data) as benchmark:
        questions = {question.id: question for question in benchmark.dataset.questions}
        for record in lines(draws):
            question = questions[record["id"]]
            answers = [outcome(benchmark, question, parse_sql(reply)) for reply in record["replies"]]
            judged[f"{record['id']} {record['v']} {'draws' if record['t'] else 'greedy'}"] = answers
    Path(out).write_text(json.dumps(judged))


def outcome(benchmark: Benchmark, question: Question, sql: str) -> Judged:
    """What became of one answer."""
    ran, is_grounded = benchmark.judge.execute(question, sql), False
    if ran.status is not Status.EXECUTED:
        grounded = ground(sql, benchmark.dataset.schemas[question.db_id], "sqlite", ran)
        if grounded is not None:
            sql, is_grounded = grounded.sql, True
            ran = benchmark.judge.execute(question, sql)
    if ran.status is not Status.EXECUTED:
        return False, None, is_grounded
    return benchmark.judge.judge(question, sql).correct, ran.result or "", is_grounded


def stands(candidates: list[Judged], weight: float) -> bool:
    """Whether the answer with most votes is right; a grounded one counts `weight`, empty ones only among themselves."""
    groups, right = defaultdict[str, float](float), {}
    for is_right, result, is_grounded in candidates:
        if result is not None:
            groups[result] += (weight if is_grounded else 1.0) * (1.0 if result else 1e-6)
            right.setdefault(result, is_right)
    return bool(groups) and right[max(groups, key=lambda result: groups[result])]


def votes(judged: str) -> None:
    """Print how often the answer with most votes is right, for one wording and for mixtures, over twelve orders."""
    answers: dict[str, list[Judged]] = json.loads(Path(judged).read_text())
    ids = sorted({name.split()[0] for name in answers})
    mixtures = {"EEEEEEE": "E", "AAAAAAA": "A", "DDDDDDD": "D", "FFFFFFF": "F", "EFEFEFE": "D", "EEEEEEE from D": "D"}
    for letters, first in mixtures.items():
        for weight in (0.2, 0.3, 0.4, 0.6, 1.0):
            right = sum(
                stands(mixed(answers, name, first, letters.split()[0], random.Random(seed).sample), weight)
                for seed in range(12)
                for name in ids
            )
            print(f"first {first}, then {letters:14} grounded votes count {weight}: {100 * right / 12 / len(ids):.2f}")


def mixed(
    answers: dict[str, list[Judged]], name: str, first: str, letters: str, sample: Callable[[range, int], list[int]]
) -> list[Judged]:
    """A greedy answer of one wording and draws of others, drawn anew for each seed."""
    order = {letter: iter(sample(range(DRAWS), DRAWS)) for letter in sorted(set(letters))}
    return [
        *answers[f"{name} {first} greedy"],
        *(answers[f"{name} {letter} draws"][next(order[letter])] for letter in letters),
    ]


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "draw":
        asyncio.run(draw(*arguments))
    else:
        {"prompts": write_prompts, "judge": judge, "votes": votes}[command](*arguments)
