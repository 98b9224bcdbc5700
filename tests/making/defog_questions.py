"""The questions of MERIT_DATA/defog, and where its databases are made."""

import csv
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from making.defog_load import FilePlace, MariaDBPlace, Place, PostgresPlace
from merit.oracle import references_of

FILES = ("questions_gen", "instruct_basic", "instruct_advanced")


@dataclass(frozen=True, slots=True)
class DefogQuestion:
    """A question with its acceptable references, for one dialect."""

    key: str  # file and row
    db: str
    question: str
    category: str
    references: tuple[str, ...]


def read_questions(data: Path, dialect: str) -> list[DefogQuestion]:
    """All answerable questions of a dialect: postgres, mysql or sqlite."""
    questions = []
    for name in FILES:
        with (data / "questions" / f"{name}_{dialect}.csv").open(newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 1):
                # MySQL's name the database before a table, and ours have a prefix.
                query = re.sub(rf"\b{re.escape(row['db_name'])}\.(?=\w)", "", row["query"])
                key = f"{name}_{dialect}:{number}"
                references = tuple(references_of(query))
                questions.append(DefogQuestion(key, row["db_name"], row["question"], row["query_category"], references))
    return questions


def places(names: Iterable[str], folder: Path) -> dict[str, Place]:
    """Where databases are made, by the names of engines."""
    postgres = os.environ.get("MERIT_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")
    mariadb = os.environ.get("MERIT_TEST_MARIADB", "mysql://root@127.0.0.1:3306/test")
    places: dict[str, Place] = {"postgresql": PostgresPlace(postgres), "mariadb": MariaDBPlace(mariadb)}
    places |= {name: FilePlace(name, folder) for name in ("sqlite", "duckdb")}
    return {name: places[name] for name in names}
