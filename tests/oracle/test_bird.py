"""BIRD's own rules, on a small benchmark in its layout."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from merit.data import load
from merit.oracle import Judge, open_judge
from merit.types import Cause, Question, Status


@pytest.fixture
def bird(tmp_path: Path) -> Iterator[tuple[Judge, Question]]:
    folder = tmp_path / "dev_databases" / "zoo"
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "zoo.sqlite")) as db:
        db.executescript(
            "CREATE TABLE animal (name TEXT, legs INT); INSERT INTO animal VALUES ('cat', 4), ('dog', 4), ('hen', 2);"
            "CREATE TABLE odd (word TEXT); INSERT INTO odd VALUES (CAST(x'fffe' AS TEXT));"
        )
    schema = {
        "db_id": "zoo",
        "table_names_original": ["animal"],
        "column_names_original": [[-1, "*"], [0, "name"], [0, "legs"]],
        "column_types": ["text", "text", "integer"],
        "primary_keys": [],
        "foreign_keys": [],
    }
    (tmp_path / "dev_tables.json").write_text(json.dumps([schema]))
    entry = {
        "question_id": 0,
        "db_id": "zoo",
        "question": "legs and names?",
        "evidence": "",
        "SQL": "SELECT legs, name FROM animal",
    }
    (tmp_path / "dev.json").write_text(json.dumps([entry]))
    dataset = load("bird", tmp_path)
    judge = open_judge(dataset, cache=None, timeout_s=60.0)
    yield judge, dataset.questions[0]
    judge.close()


@pytest.mark.parametrize(
    ("sql", "status"),
    [
        ("SELECT legs, name FROM animal ORDER BY name DESC", Status.CORRECT),  # order never counts
        ("SELECT legs, name FROM animal UNION ALL SELECT legs, name FROM animal", Status.CORRECT),  # nor repetition
        ("SELECT name, legs FROM animal", Status.DENOTATION_MISMATCH),  # columns are not turned
        ("SELECT legs + 0.0, name FROM animal", Status.CORRECT),  # 4 is 4.0
        ("SELECT CAST(legs AS TEXT), name FROM animal", Status.DENOTATION_MISMATCH),  # text is no number
        ("SELECT DISTINCT legs, name FROM animal", Status.CORRECT),
        ("SELECT legs, name FROM animal UNION SELECT NULL, NULL", Status.DENOTATION_MISMATCH),
        ("SELECT legs, name FROM animal WHERE legs > = 2", Status.EXECUTION_ERROR),  # nothing is repaired
        ("SELECT legs, name FROM animal; SELECT 1", Status.EXECUTION_ERROR),  # nor cut off
    ],
)
def test_bird_by_example(bird: tuple[Judge, Question], sql: str, status: Status) -> None:
    judge, question = bird
    assert judge.judge(question, sql).status is status


def test_a_million_repetitions_fit(bird: tuple[Judge, Question]) -> None:
    judge, question = bird
    many = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 500000) SELECT legs, name FROM animal, c"
    assert judge.judge(question, many).status is Status.CORRECT


def test_text_that_is_not_utf8_is_an_error(bird: tuple[Judge, Question]) -> None:
    judge, question = bird
    verdict = judge.judge(question, "SELECT 1, word FROM odd")
    assert (verdict.status, verdict.cause) == (Status.EXECUTION_ERROR, Cause.DBMS)
