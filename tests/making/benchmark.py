"""A small real benchmark of two databases in Spider's or BIRD's layout, and models that answer its questions."""

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.types import Completion, ModelIdentity, Sampling

SCHEMAS = {
    "shop": {
        "item": ["item_id number", "name text", "price number", "maker_id number"],
        "maker": ["maker_id number", "name text", "country text"],
    },
    "school": {
        "pupil": ["pupil_id number", "name text", "age number", "class_id number"],
        "class": ["class_id number", "title text", "teacher text"],
    },
}
ROWS = {
    "shop": """
        INSERT INTO maker VALUES (1, 'Acme', 'Peru'), (2, 'Bolt', 'Chad'), (3, 'Cog', 'Peru');
        INSERT INTO item VALUES (1, 'pen', 2, 1), (2, 'cup', 5, 1), (3, 'lamp', 20, 2), (4, 'desk', 90, 3);
    """,
    "school": """
        INSERT INTO class VALUES (1, 'red', 'Ada'), (2, 'blue', 'Bea');
        INSERT INTO pupil VALUES (1, 'Cid', 8, 1), (2, 'Dan', 9, 1), (3, 'Eve', 8, 2), (4, 'Fay', 10, 2);
    """,
}


@dataclass(frozen=True)
class Item:
    """A question, its reference, and answers a model might give."""

    db_id: str
    text: str
    reference: str
    wrong: str
    broken: str


ITEMS = [
    Item(
        "shop",
        "How many items are there?",
        "SELECT count(*) FROM item",
        "SELECT count(*) FROM maker",
        "SELECT count(*) FROM items",
    ),
    Item(
        "shop",
        "Which items cost more than 10?",
        "SELECT name FROM item WHERE price > 10",
        "SELECT name FROM item WHERE price < 10",
        "SELECT name FROM item WHERE cost > 10",
    ),
    Item(
        "shop",
        "What is the highest price?",
        "SELECT max(price) FROM item",
        "SELECT min(price) FROM item",
        "SELECT highest(price) FROM item",
    ),
    Item(
        "shop",
        "List makers from Peru.",
        "SELECT name FROM maker WHERE country = 'Peru'",
        "SELECT name FROM maker",
        "SELECT name FROM maker WHERE land = 'Peru'",
    ),
    Item(
        "shop",
        "Which items are made by Acme?",
        "SELECT item.name FROM item JOIN maker ON item.maker_id = maker.maker_id WHERE maker.name = 'Acme'",
        "SELECT name FROM item",
        "SELECT name FROM item JOIN maker ON item.maker_id = maker.maker_id WHERE maker.name = 'Acme'",
    ),
    Item(
        "shop",
        "How many items does each maker have?",
        "SELECT maker_id, count(*) FROM item GROUP BY maker_id",
        "SELECT maker_id, sum(price) FROM item GROUP BY maker_id",
        "SELECT maker_id, count(*) FROM item GROUP maker_id",
    ),
    Item(
        "school",
        "How many pupils are there?",
        "SELECT count(*) FROM pupil",
        "SELECT count(*) FROM class",
        "SELECT count(*) FROM pupils",
    ),
    Item(
        "school",
        "Who is older than 8?",
        "SELECT name FROM pupil WHERE age > 8",
        "SELECT name FROM pupil WHERE age < 9",
        "SELECT name FROM pupil WHERE years > 8",
    ),
    Item(
        "school",
        "What is the average age?",
        "SELECT avg(age) FROM pupil",
        "SELECT sum(age) FROM pupil",
        "SELECT mean(age) FROM pupil",
    ),
    Item(
        "school",
        "Who teaches the red class?",
        "SELECT teacher FROM class WHERE title = 'red'",
        "SELECT teacher FROM class",
        "SELECT teacher FROM class WHERE title =",
    ),
    Item(
        "school",
        "Which pupils are in the blue class?",
        "SELECT pupil.name FROM pupil JOIN class ON pupil.class_id = class.class_id WHERE class.title = 'blue'",
        "SELECT name FROM pupil",
        "SELECT name FROM pupil WHERE title = 'blue'",
    ),
    Item(
        "school",
        "How many pupils does each class have?",
        "SELECT class_id, count(*) FROM pupil GROUP BY class_id",
        "SELECT class_id, max(age) FROM pupil GROUP BY class_id",
        "SELECT class_id, count(*) FROM pupil WHERE count(*) > 0",
    ),
]
TRAIN = [
    Item("shop", f"A training question about the number {number}?", f"SELECT {number} FROM item", "", "")
    for number in (11, 22, 33, 44)
]


def build(folder: Path, *, layout: str = "spider", canary: str = "") -> Path:
    """Write the benchmark; a canary goes into every reference and into every row that references return."""
    reference, databases = ("query", "database") if layout == "spider" else ("SQL", "dev_databases")
    tables = "tables.json" if layout == "spider" else "dev_tables.json"
    folder.mkdir(parents=True, exist_ok=True)
    for name, items in (("dev.json", ITEMS), ("train.json", TRAIN)):
        mark = canary if name == "dev.json" else ""
        records: list[dict[str, Any]] = [
            {"db_id": item.db_id, "question": item.text, reference: _marked(item.reference, mark)} for item in items
        ]
        for number, record in enumerate(records):
            if layout == "bird":
                record.update(question_id=number, evidence="" if number % 3 else f"hint {number}", difficulty="simple")
        (folder / name).write_text(json.dumps(records))
    (folder / tables).write_text(json.dumps([_schema(db_id) for db_id in SCHEMAS]))
    for db_id, content in SCHEMAS.items():
        path = folder / databases / db_id / f"{db_id}.sqlite"
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as db:
            for table, columns in content.items():
                db.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            db.executescript(ROWS[db_id])
            if canary:
                for table, column in (("item", "name"), ("maker", "name"), ("pupil", "name"), ("class", "teacher")):
                    if table in content:
                        db.execute(f"UPDATE {table} SET {column} = {column} || '{canary}'")
            db.commit()
    return folder


def _marked(sql: str, canary: str) -> str:
    return f"SELECT * FROM ({sql}) WHERE '{canary}' = '{canary}'" if canary else sql


def _schema(db_id: str) -> dict[str, Any]:
    tables = SCHEMAS[db_id]
    columns = [[-1, "*"], *([t, c.split()[0]] for t, name in enumerate(tables) for c in tables[name])]
    types = ["text", *(c.split()[1] for name in tables for c in tables[name])]
    return {
        "db_id": db_id,
        "table_names_original": list(tables),
        "column_names_original": columns,
        "column_types": types,
        "primary_keys": [1],
        "foreign_keys": [],
    }


def write_initial(path: Path, choices: Sequence[str] = ("wrong", "broken", "reference")) -> Path:
    """First answers as a plain prediction file: for question i, the i-th of the choices, round and round."""
    lines = [json.dumps({"id": i, "sql": getattr(item, choices[i % len(choices)])}) for i, item in enumerate(ITEMS)]
    path.write_text("".join(line + "\n" for line in lines))
    return path


class FickleModel:
    """A model whose answer is one of its question's answers, chosen by the hash of prompt and seed alone."""

    concurrency = 1
    recorded = False

    def __init__(self, luck: int = 6, salt: str = "") -> None:
        """One answer in `luck` is right."""
        self.identity = ModelIdentity("fickle", f"{luck}{salt}")
        self.prompts: list[str] = []
        self.samplings: list[Sampling] = []
        self._luck = luck
        self._salt = salt

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        self.prompts.append(prompt)
        self.samplings.append(sampling)
        asked = ("QUESTION:\n", "answers this question: ")
        item = next(item for item in ITEMS if any(f"{before}{item.text}\n" in prompt for before in asked))
        seed = "" if sampling.seed is None else f"{sampling.seed}:"
        draw = int.from_bytes(hashlib.sha256((self._salt + seed + prompt).encode()).digest()[:4], "big")
        if "-reflection-v3" in prompt:
            text = f"<reflection>Thought {draw % 97}\nabout it.</reflection>"
        elif draw % self._luck == 0:
            text = f"<answer>{item.reference}</answer>"
        else:
            replies = [
                f"<answer>{item.wrong}</answer>",
                f"```sql\n{item.broken}\n```",
                "I do not know.",
                f"<answer>{item.wrong};",
            ]
            text = replies[draw // 7 % len(replies)]
        return Completion(text, len(prompt.split()), len(text.split()))

    async def close(self) -> None:
        pass


class Failing(FickleModel):
    """Fails after so many answers."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self.left = answers

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        if not self.left:
            raise InputError("the model is gone")
        self.left -= 1
        return await super().complete(prompt, sampling)
