"""PostgreSQL dumps on four engines, and references by the plain driver and through merit's engines."""

import os
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest

from making.defog_load import FilePlace, MariaDBPlace, Place, PostgresPlace, read_dump
from making.engines import MARIADB, POSTGRES, absent
from merit.sql.connect import open_engine

# The benchmark's own functions; its folder has a module that must not be on the path.
_DEFOG: Any = runpy.run_path(str(Path(__file__).parents[2] / "bench" / "defog.py"))
DefogQuestion, bag, check, read_questions = (
    _DEFOG[name] for name in ("DefogQuestion", "bag", "check", "read_questions")
)

PREFIX = f"merit_context_{os.getpid()}_"
DUMP = """
CREATE SCHEMA IF NOT EXISTS shop;
CREATE TABLE public.notes (rank bigint UNIQUE CHECK (rank > 0), note text, made TIMESTAMP NOT NULL DEFAULT NOW());
CREATE INDEX by_note ON public.notes (note);
CREATE TABLE shop.people (id BIGINT PRIMARY KEY, "name" text DEFAULT ''::text NOT NULL, rank int);
CREATE TABLE shop.orders (
  oid SERIAL PRIMARY KEY,
  person INT, -- a key of another type
  friend BIGINT REFERENCES shop.people,
  total DECIMAL(10,2), paid boolean, day DATE, at TIMESTAMP, clock time, code char(2), share double precision,
  CONSTRAINT buyer FOREIGN KEY (person) REFERENCES shop.people (id)
);
INSERT INTO public.notes (rank, note) VALUES (1, NULL);
INSERT INTO shop.people (id, "name", rank) VALUES (1, 'Ann', 1), (2, 'Zoé; o''Hara', NULL);
INSERT INTO shop.orders (person, total, paid, day, at, clock, code, share) VALUES
  (1, 2.50, true, CURRENT_DATE - INTERVAL '1 day', '2024-02-29 12:30:00', '08:00:00', 'DE', 0.5),
  (2, NULL, false, '2024-01-31', DATE_TRUNC('month', TIMESTAMP '2024-05-17') - INTERVAL '15 min', NULL, NULL, 1e3);
"""
ROWS = (
    "SELECT p.name, o.oid, o.total, o.paid, o.at, o.code, o.share FROM {0}people p JOIN {0}orders o ON o.person = p.id"
)


def _file(dialect: str) -> Callable[[Path], Place]:
    return lambda folder: FilePlace(dialect, folder, PREFIX)


PLACES: dict[str, Callable[[Path], Place]] = {
    "sqlite": _file("sqlite"),
    "duckdb": _file("duckdb"),
    "postgresql": lambda _: PostgresPlace(POSTGRES, PREFIX),
    "mariadb": lambda _: MariaDBPlace(MARIADB, PREFIX),
}


@pytest.fixture(params=PLACES, scope="module")
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    tmp_path = tmp_path_factory.mktemp("defog")
    (path := tmp_path / "small.sql").write_text(DUMP)
    loaded = PLACES[request.param](tmp_path / "files")
    try:
        loaded.drop("small")
    except (psycopg.OperationalError, pymysql.OperationalError) as error:
        absent(f"no server: {error}")
    try:
        loaded.load(read_dump(path))
        yield loaded
    finally:
        loaded.drop("small")


def statement(place: Place) -> str:
    return ROWS.format("shop." if place.questions == "postgres" else "")


def test_every_engine_has_the_same_rows(place: Place) -> None:
    (answer,) = place.run("small", [statement(place)])
    assert not isinstance(answer, str), answer
    assert bag(answer) == bag(
        [
            ("Ann", 1, 2.5, 1, "2024-02-29 12:30:00", "DE", 0.5),
            ("Zoé; o'Hara", 2, None, 0, "2024-04-30 23:45:00", None, 1000),
        ]
    )


def test_references_agree_or_are_listed(place: Place) -> None:
    questions = [
        DefogQuestion("file:1", "small", "Who?", "", (statement(place), "SELECT nothing FROM notes")),
        DefogQuestion("file:2", "small", "When?", "", ("SELECT COUNT(*) FROM notes WHERE 1 = 0 GROUP BY rank",)),
    ]
    report = check(place, questions)
    assert (report.references, report.run, report.agree, report.questions, report.with_rows) == (3, 2, 2, 2, 1)
    assert [line.partition(": ")[0] for line in report.failing] == ["file:1.2"]
    assert report.differing == report.unsteady == []


def test_keys_are_kept(place: Place) -> None:
    engine = open_engine(place.url("small"))
    keys = {
        (
            table.name.removeprefix("shop."),
            column.name,
            column.primary_key,
            *(key.removeprefix("shop.") for key in column.foreign_keys),
        )
        for table in engine.schema().tables
        for column in table.columns
        if column.primary_key or column.foreign_keys
    }
    engine.close()
    assert keys == {
        ("people", "id", True),
        ("orders", "oid", True),
        ("orders", "person", False, "people.id"),
        ("orders", "friend", False, "people.id"),
    }


def test_questions_are_read_with_their_choices(tmp_path: Path) -> None:
    (tmp_path / "questions").mkdir()
    for name in ("questions_gen", "instruct_basic", "instruct_advanced"):
        text = "db_name,query_category,query,question\nbroker,join,\"SELECT {a, b} FROM broker.t;SELECT 'broker'\",Q?\n"
        (tmp_path / "questions" / f"{name}_mysql.csv").write_text(text)
    first, *_ = read_questions(tmp_path, "mysql")
    assert first.key == "questions_gen_mysql:1"
    assert first.references == ("SELECT a FROM t", "SELECT b FROM t", "SELECT a, b FROM t", "SELECT 'broker'")
