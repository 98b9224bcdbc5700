"""Predictions in the shapes people have them."""

import json
from pathlib import Path

import pytest

from merit.data import Dataset, read_predictions
from merit.errors import InputError

SQL = "SELECT 1"


def read(library: Dataset, path: Path, text: str, absent: dict[str, int] | None = None) -> dict[int | str, str]:
    path.write_text(text)
    return read_predictions(path, library.questions, absent or {})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "predictions"


def test_json_lines(library: Dataset, file: Path) -> None:
    text = '{"id": 3, "sql": "SELECT 3"}\n\n{"id": "4", "sql": "SELECT 4", "more": 1}\n'
    assert read(library, file, text) == {3: "SELECT 3", 4: "SELECT 4"}


def test_plain_text_in_question_order(library: Dataset, file: Path) -> None:
    lines = [f"SELECT {i}" for i in range(10)]
    lines[4] = ""
    for text in ("\n".join(lines), "\n".join(lines) + "\n", "\r\n".join(lines) + "\r\n"):
        assert read(library, file, text) == dict(enumerate(lines))


def test_plain_text_without_the_absent_databases(library: Dataset, file: Path) -> None:
    with pytest.raises(InputError, match="0, without those whose database is absent"):
        read(library, file, "SELECT 1\nSELECT 2\n", {"library": 10})


def test_birds_own_format(library: Dataset, file: Path) -> None:
    text = json.dumps({"0": "SELECT 1\t----- bird -----\tlibrary", "1": 0}, indent=1)
    assert read(library, file, text) == {0: "SELECT 1", 1: " "}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("SELECT 1\nSELECT 2\n", "2 lines for 10 questions; write one SQL a line in question order"),
        ('{"id": 0, "sql": "x"}\n{"id": 1 "sql"}', "line 2: not valid JSON"),
        ('{"id": 0, "sql": "x"}\n{"id": 0, "sql": "y"}', "line 2: question 0 was predicted before"),
        ('{"id": 77, "sql": "x"}', "line 1: the dataset has no question with id 77"),
        ('{"id": true, "sql": "x"}', "line 1: the dataset has no question with id true"),
        ('{"id": [1], "sql": "x"}', "line 1: the dataset has no question with id"),
        ('{"sql": "x"}', "line 1: the field 'id' is missing"),
        ('{"id": 1}', "line 1: the field 'sql' is missing"),
        ('{"id": 1, "sql": null}', "line 1: the field 'sql' should be a text, not null"),
        ('{"99": "SELECT 1\\t----- bird -----\\tlibrary"}', "no question with id '99'"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(library: Dataset, file: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(library, file, text)
    assert str(file) in str(caught.value)
