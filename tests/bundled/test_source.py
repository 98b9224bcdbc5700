"""The files that the benchmark is written in: what is wrong with one is said with its name and line."""

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from merit.bundled import DIFFICULTIES, read_sources, read_suites, write_suites
from merit.bundled.source import HERE
from merit.errors import InputError

SOURCES = read_sources()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A benchmark of one database with two questions."""
    folder = tmp_path / "databases" / "pond"
    folder.mkdir(parents=True)
    (tmp_path / "suite.json").write_text('{"pond": [1, 2]}')
    (folder / "schema.sql").write_text(
        "-- ponds and frogs\nCREATE TABLE pond (pond_id INTEGER PRIMARY KEY, name TEXT NOT NULL);\n\n"
        "CREATE TABLE frog (\n  frog_id INTEGER PRIMARY KEY,\n  pond_id INTEGER REFERENCES pond (pond_id)\n);\n"
    )
    (folder / "rows.sql").write_text(
        "INSERT INTO pond VALUES (1, 'Big;');\nINSERT INTO frog VALUES (1, 1), (2, NULL);\n"
    )
    write(folder, question(1), question(2, question="How many ponds?", sql="SELECT count(*) FROM pond", like="pond-01"))
    return tmp_path


def question(number: int, **changes: Any) -> dict[str, Any]:
    asked = {"question": "How many frogs?", "sql": "SELECT count(*) FROM frog", "difficulty": "easy", "like": None}
    return {"id": f"pond-{number:02}", **asked, **changes}


def write(folder: Path, *questions: dict[str, Any]) -> None:
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))


def test_the_benchmark_is_large_enough_and_its_questions_have_neighbours() -> None:
    questions = [written for source in SOURCES for written in source.questions]
    assert len(SOURCES) >= 9
    assert len(questions) >= 350
    assert sum(written.like is not None for written in questions) >= len(questions) / 2
    assert {written.difficulty for written in questions} == {*DIFFICULTIES}
    assert len({written.id for written in questions}) == len(questions)


@pytest.mark.parametrize("source", SOURCES, ids=[source.db_id for source in SOURCES])
def test_every_reference_finds_rows(source: Any) -> None:
    with closing(source.original()) as db:
        without = [written.id for written in source.questions if not db.execute(written.sql).fetchall()]
    assert without == []


def test_a_small_one_is_read(here: Path) -> None:
    (source,) = read_sources(here)
    assert (source.db_id, source.seeds) == ("pond", (1, 2))
    assert [written.like for written in source.questions] == [None, "pond-01"]
    with closing(source.original()) as db:
        assert db.execute("SELECT name FROM pond").fetchall() == [("Big;",)]
        assert db.execute("SELECT count(*) FROM frog").fetchone() == (2,)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (question(1), "line 2: the id 'pond-01' is there twice"),
        (question(2, id="lake-2"), "line 2: the id 'lake-2' should begin with 'pond-'"),
        (
            question(2, like="pond-07"),
            "line 2: the field 'like' should name an earlier question or be null, not 'pond-07'",
        ),
        (
            question(2, like="pond-02"),
            "line 2: the field 'like' should name an earlier question or be null, not 'pond-02'",
        ),
        (question(2, difficulty="vile"), "line 2: the field 'difficulty' should be easy, medium, hard"),
        (question(2, sql=" "), "line 2: the field 'sql' is empty"),
        (question(2, sql=7), "line 2: the field 'sql' should be a text, not 7"),
        (question(2, extra=1), "line 2: the field 'extra' means nothing here"),
        ({"id": "pond-02"}, "line 2: the field 'question' is missing"),
    ],
)
def test_a_bad_question_is_named_with_its_line(here: Path, second: dict[str, Any], said: str) -> None:
    path = here / "databases" / "pond" / "questions.jsonl"
    write(path.parent, question(1), second)
    with pytest.raises(InputError) as raised:
        read_sources(here)
    assert str(raised.value) == f"{path}, {said}"


def test_a_question_is_asked_once(here: Path) -> None:
    write(here / "databases" / "pond", question(1), question(2, question="how many  FROGS?"))
    with pytest.raises(InputError, match="the question pond-02 is asked before, as pond-01"):
        read_sources(here)


def test_no_questions_and_torn_lines(here: Path) -> None:
    path = here / "databases" / "pond" / "questions.jsonl"
    path.write_text("\n")
    with pytest.raises(InputError, match="questions.jsonl: there is no question in it"):
        read_sources(here)
    path.write_text('{"id": "pond-01",\n')
    with pytest.raises(InputError, match="questions.jsonl, line 1: not valid JSON"):
        read_sources(here)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "schema.sql",
            "CREATE TABLE a (x);\n\nCREATE TABEL b (y);\n",
            'schema.sql, line 3: near "TABEL": syntax error',
        ),
        (
            "rows.sql",
            "INSERT INTO pond VALUES (1, 'a');\n\n\nINSERT INTO pond VALUES\n (2, NULL);\n",
            "rows.sql, line 4: NOT NULL",
        ),
        ("rows.sql", "INSERT INTO pond VALUES (1, 'a", "rows.sql, line 1: "),
        (
            "rows.sql",
            "INSERT INTO frog VALUES (1, 9);\n",
            "rows.sql: row 1 of frog refers to a row of pond that is not there",
        ),
    ],
)
def test_a_bad_statement_is_named_with_its_line(here: Path, name: str, text: str, said: str) -> None:
    (here / "databases" / "pond" / name).write_text(text)
    (source,) = read_sources(here)
    with pytest.raises(InputError) as raised:
        source.original()
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "expected an object"),
        ('{"pond": [1, 1]}', "the field 'pond' should be a list of different numbers"),
        ('{"pond": ["1"]}', "the field 'pond' should be a list of different numbers"),
        ('{"pond": [1], "lake": [2]}', "there is no database 'lake'; take its line out"),
        ('{"pond": [1],}', "suite.json, line 1: not valid JSON"),
    ],
)
def test_a_bad_suite_file(here: Path, text: str, said: str) -> None:
    (here / "suite.json").write_text(text)
    with pytest.raises(InputError) as raised:
        read_sources(here)
    assert said in str(raised.value)


def test_suites_are_kept_as_they_were_chosen(tmp_path: Path) -> None:
    write_suites({"b": (3, 1), "a": ()}, tmp_path)
    assert read_suites(tmp_path) == {"a": (), "b": (3, 1)}
    shutil.copy(HERE / "suite.json", tmp_path / "suite.json")
    write_suites(read_suites(tmp_path), tmp_path)
    assert (tmp_path / "suite.json").read_bytes() == (HERE / "suite.json").read_bytes()
