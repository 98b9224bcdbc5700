"""The benchmark's source files: a folder for each database, with its schema, its rows and its questions."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.reading import check_fields, parse_json, read_json_lines, read_text

HERE = Path(__file__).parent
DIFFICULTIES = ("easy", "medium", "hard")
PAGE_BYTES = 4096
_SUITE = "suite.json"


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question with its reference, and the earlier question it rewords or neighbours."""

    id: str
    question: str
    sql: str
    difficulty: str
    like: str | None


@dataclass(frozen=True, slots=True)
class DatabaseSource:
    """One database of the benchmark: where its files are, its questions, and the seeds of its test suite."""

    folder: Path
    questions: tuple[WrittenQuestion, ...]
    seeds: tuple[int, ...]

    @property
    def db_id(self) -> str:
        """The database's name."""
        return self.folder.name

    def original(self) -> sqlite3.Connection:
        """The database with the rows that people wrote, in memory."""
        db = self.empty()
        _execute(db, self.folder / "rows.sql")
        for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
            raise InputError(
                f"{self.folder / 'rows.sql'}: row {row} of {table} refers to a row of {parent} that is not there"
            )
        return db

    def empty(self) -> sqlite3.Connection:
        """The database without rows."""
        db = sqlite3.connect(":memory:", isolation_level=None)
        for setting in (
            f"page_size={PAGE_BYTES}",
            "encoding='UTF-8'",
            "auto_vacuum=0",
        ):  # set, since builds of SQLite have different defaults
            db.execute(f"PRAGMA {setting}")
        _execute(db, self.folder / "schema.sql")
        return db


def read_sources(here: Path = HERE) -> tuple[DatabaseSource, ...]:
    """All databases of the benchmark in the order of their names; raises with file and line of the first fault."""
    folders = sorted(folder for folder in (here / "databases").iterdir() if folder.is_dir())
    suites = read_suites(here)
    if stray := suites.keys() - {folder.name for folder in folders}:
        raise InputError(f"{here / _SUITE}: there is no database {min(stray)!r}; take its line out")
    sources = tuple(
        DatabaseSource(folder, tuple(_questions(folder)), suites.get(folder.name, ())) for folder in folders
    )
    seen: dict[str, str] = {}
    for source in sources:
        for written in source.questions:
            text = " ".join(written.question.lower().split())
            if text in seen:
                raise InputError(f"{source.folder}: the question {written.id} is asked before, as {seen[text]}")
            seen[text] = written.id
    return sources


def read_suites(here: Path = HERE) -> Mapping[str, tuple[int, ...]]:
    """The seeds of every database's test suite."""
    path = here / _SUITE
    suites = parse_json(read_text(path), path)
    if not isinstance(suites, dict):
        raise InputError(f"{path}: expected an object with a list of seeds for each database")
    for db_id, seeds in suites.items():
        if not isinstance(seeds, list) or not all(type(seed) is int for seed in seeds) or len({*seeds}) < len(seeds):
            raise InputError(f"{path}: the field {db_id!r} should be a list of different numbers, not {seeds!r}")
    return {db_id: tuple(seeds) for db_id, seeds in suites.items()}


def write_suites(suites: Mapping[str, tuple[int, ...]], here: Path = HERE) -> None:
    """Keep the seeds of every database's test suite, one database a line."""
    lines = [f"  {json.dumps(db_id)}: {json.dumps(list(seeds))}" for db_id, seeds in sorted(suites.items())]
    (here / _SUITE).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _questions(folder: Path) -> Iterator[WrittenQuestion]:
    path = folder / "questions.jsonl"
    seen: set[str] = set()
    for number, record in read_json_lines(read_text(path), path):
        where = f"{path}, line {number}"
        check_fields(record, {"id": str, "question": str, "sql": str, "difficulty": str, "like": object}, where)
        _check(record, folder.name, seen, where)
        seen.add(record["id"])
        yield WrittenQuestion(**record)
    if not seen:
        raise InputError(f"{path}: there is no question in it")


def _check(record: dict[str, Any], db_id: str, seen: set[str], where: str) -> None:
    unknown = sorted(record.keys() - {"id", "question", "sql", "difficulty", "like"})
    if unknown:
        raise InputError(f"{where}: the field {unknown[0]!r} means nothing here")
    if not record["id"].startswith(f"{db_id}-"):
        raise InputError(f"{where}: the id {record['id']!r} should begin with '{db_id}-'")
    if record["id"] in seen:
        raise InputError(f"{where}: the id {record['id']!r} is there twice")
    if record["like"] is not None and record["like"] not in seen:
        raise InputError(
            f"{where}: the field 'like' should name an earlier question or be null, not {record['like']!r}"
        )
    if record["difficulty"] not in DIFFICULTIES:
        raise InputError(f"{where}: the field 'difficulty' should be {', '.join(DIFFICULTIES)}")
    for name in ("question", "sql"):
        if not record[name].strip():
            raise InputError(f"{where}: the field {name!r} is empty")


def _execute(db: sqlite3.Connection, path: Path) -> None:
    """Run a file's statements one by one, to know the line of one that fails."""
    start, statement = 1, ""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not statement.strip():
            start, statement = number, ""
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            _run(db, statement, f"{path}, line {start}")
            statement = ""
    if statement.strip():
        _run(db, statement, f"{path}, line {start}")


def _run(db: sqlite3.Connection, statement: str, where: str) -> None:
    try:
        db.executescript(statement)
    except sqlite3.Error as error:
        raise InputError(f"{where}: {error}") from None
