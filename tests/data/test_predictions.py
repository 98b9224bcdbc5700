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


def test_spiders_own_layout_is_read_as_its_evaluator_reads_it(library: Dataset, file: Path) -> None:
    """Stripped, and cut at the first tab."""
    lines = [f"  SELECT {i} \tlibrary\tmore " for i in range(10)]
    lines[3] = "SELECT 3"  # the database may be left out
    found = read(library, file, "\n".join(lines) + "\n")
    assert {question: sql.strip() for question, sql in found.items()} == {i: f"SELECT {i}" for i in range(10)}


@pytest.mark.parametrize("column", ["shop", "name FROM book", ""])
def test_a_second_column_that_is_not_the_questions_database_is_refused(
    library: Dataset, file: Path, column: str
) -> None:
    lines = [f"SELECT {i}\tlibrary" for i in range(10)]
    lines[3] = f"SELECT\t{column}\tlibrary"
    with pytest.raises(InputError, match=r"predictions, line 4: .*question 3 is on 'library'"):
        read(library, file, "\n".join(lines))


def test_csv_with_the_columns_id_and_sql(library: Dataset, tmp_path: Path) -> None:
    text = 'ID, sql ,model\n3,"SELECT a,\n  b",m\n"4",SELECT 4,m\n\n'
    for name in ("predictions.csv", "standard input"):  # known by its first line
        assert read(library, tmp_path / name, text) == {3: "SELECT a,\n  b", 4: "SELECT 4"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,SELECT 1\n1,SELECT 2\n", "the first line of a CSV file names its columns; write id,sql"),
        ("id,sql,sql\n0,SELECT 1,SELECT 2\n", "line 1: the column 'sql' is there twice; rename one"),
        ("\nid,ID ,sql\n0,1,SELECT 1\n", "line 2: the column 'id' is there twice; rename one"),
        ("id;sql\n0;SELECT 1\n", "the first line of a CSV file names its columns; write id,sql"),
        ("id,sql\n0,SELECT a, b FROM t\n", "line 2: 3 columns where the first line names 2; .*double quotes"),
        ("id,sql\n0,SELECT 1\n00,SELECT 2\n", "line 3: question 0 was predicted before"),
        ("id,sql\n77,SELECT 1\n", "line 2: the dataset has no question with id '77'; .* 0 .* 9"),
        ('id,sql\n0,"SELECT 1"x\n', "line 2: not valid CSV"),
        ('id,sql\n0,SELECT 1\n1,"SELECT 2\n\n', "line 3: not valid CSV"),  # where the row begins
        ('\nid,"sql\n', "line 2: not valid CSV"),
        ("id,sql,db_id\n0,SELECT 1,shop\n", "line 2: .*'shop'.*question 0 is on 'library'"),
        ("id,sql\n", "holds no prediction"),
    ],
)
def test_what_is_wrong_with_a_csv_file_is_said(library: Dataset, tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(library, tmp_path / "predictions.csv", text)


@pytest.mark.parametrize("indent", [None, 1])
def test_one_object_by_id(library: Dataset, file: Path, indent: int | None) -> None:
    assert read(library, file, json.dumps({"0": "SELECT 1", "1": ""}, indent=indent)) == {0: "SELECT 1", 1: ""}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"0": "SELECT 1", "00": "SELECT 2"}', "question 0 was predicted before"),
        ('{"0": {"sql": "SELECT 1"}}', "'0': expected the SQL as a text"),
        ('{\n"0": "SELECT 1",\n"1" "SELECT 2"}', "line 3: not valid JSON"),
        ('{\n"id": 0,\n"sql": "SELECT 1"}', "write each object on one line"),
        ('{"0": "SELECT 1\\t----- bird -----\\tshop"}', "'0': .*'shop'.*question 0 is on 'library'"),
        ('{"id": 0, "sql": "x", "db_id": "shop"}', "line 1: .*'shop'.*question 0 is on 'library'"),
        (f'{{"{"9" * 5000}": "SELECT 1"}}', "the dataset has no question with id"),
        (f'{{"id": "{"9" * 5000}", "sql": "SELECT 1"}}', "the dataset has no question with id"),
        ('["SELECT 1"]', "a JSON list; .*one object a line"),
    ],
)
def test_nothing_is_guessed_about_json(library: Dataset, file: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(library, file, text)
    assert len(str(caught.value)) < 600


def test_a_first_line_that_is_longer_than_a_document_is_not_taken_apart(
    library: Dataset, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    loads = json.loads

    def counted(text: str) -> object:
        taken.append(len(text))
        return loads(text)

    monkeypatch.setattr(json, "loads", counted)
    read(library, file, '{"id": 0, "sql": "SELECT 1"}\n')
    with pytest.raises(InputError, match="line 1: more than 64 MiB of JSON"):
        read(library, file, '{"0": [' + "{}," * (22 << 20) + "1]}")
    assert max(taken) < 100


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
