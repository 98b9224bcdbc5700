"""`merit score` on files as people have them: never a wrong score in silence."""

import json
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import ITEMS, build
from making.commands import merit, refused


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return build(tmp_path / "data")


def summary(data: Path, file: Path) -> dict[str, Any]:
    result = merit("score", "spider", "--data", data, "--pred", file, "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_gold_file_in_spiders_layout_is_all_right(data: Path, tmp_path: Path) -> None:
    gold = tmp_path / "dev_gold.sql"
    gold.write_text("".join(f"{item.reference}\t{item.db_id}\n" for item in ITEMS))
    found = summary(data, gold)
    assert (found["correct"], found["questions"]) == (12, 12)
    assert found["warnings"] == []
    lines = gold.read_text().splitlines(keepends=True)
    gold.write_text("".join(lines[1:] + lines[:1]))
    said = refused("score", "spider", "--data", data, "--pred", gold)
    assert said == (
        f"{gold}, line 6: 'school' follows the tab, but question 5 is on 'shop'; write the SQL, a tab and the "
        "database, or an SQL without tabs"
    )


def test_spiders_own_gold_file_is_all_right(real_data: Path, tmp_path: Path) -> None:
    entries = json.loads((real_data / "spider/dev.json").read_text())
    gold = tmp_path / "dev_gold.sql"
    gold.write_text("".join(f"{entry['query']}\t{entry['db_id']}\n" for entry in entries))
    result = merit("score", "spider", "--data", real_data / "spider", "--pred", gold, "--protocol", "db", "--json")
    found = json.loads(result.stdout)
    assert found["questions"] == found["correct"] == len(entries) - sum(found["absent_databases"].values())
    assert found["questions"] > 900


@pytest.mark.parametrize("broken", [6, 7])
def test_mostly_syntax_errors_are_told(data: Path, tmp_path: Path, broken: int) -> None:
    """More than half: somebody should look at the file's layout."""
    file = tmp_path / "predictions.txt"
    file.write_text("".join(f"{i}: {item.reference}\n" if i < broken else "SELECT 1\n" for i, item in enumerate(ITEMS)))
    found = summary(data, file)
    assert found["syntax_errors"] == broken
    shown = " ".join(merit("score", "spider", "--data", data, "--pred", file).stdout.split())
    if broken == 6:
        assert found["warnings"] == []
        assert "layout" not in shown
        return
    (warning,) = found["warnings"]
    assert warning == (
        "7 of 12 answers are syntax errors: check that the file's layout is one that `merit score --help` names"
    )
    assert f"warning: {warning}" in shown


def test_no_answer_at_all_counts_with_them(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "predictions.txt"
    file.write_text("SELECT 1\n" * 5 + "\n" * 7)
    found = summary(data, file)
    assert found["syntax_errors"] == 7
    assert found["warnings"]


def test_mostly_unknown_names_are_told(data: Path, tmp_path: Path) -> None:
    """A file that answers other questions, or these in another order."""
    file = tmp_path / "predictions.txt"
    file.write_text("".join(f"{item.reference}\n" for item in ITEMS[6:] + ITEMS[:6]))
    (warning,) = summary(data, file)["warnings"]
    assert warning == (
        "12 of 12 answers name a table or column that their database does not have: check that the file answers these "
        "questions, in their order"
    )


def test_predictions_from_standard_input(data: Path, tmp_path: Path) -> None:
    text = "".join(f"{item.reference}\n" for item in ITEMS)
    score = ("score", "spider", "--data", data, "--pred", "-")
    assert json.loads(merit(*score, "--json", given=text).stdout)["correct"] == 12
    table = "id,sql\n" + "".join(f'{i},"{item.reference}"\n' for i, item in enumerate(ITEMS))
    assert json.loads(merit(*score, "--json", given=table).stdout)["correct"] == 12
    assert refused(*score, given="").startswith("standard input: the file is empty")
    assert refused(*score, given="id,sql\n99,x\n").startswith("standard input, line 2: the dataset has no question")
    assert refused(*score, given=b"\xff\xfe") == "standard input: not UTF-8 text (byte 0); save it as UTF-8"


def test_the_layouts_that_are_read_are_named_in_the_help() -> None:
    shown = " ".join(merit("score", "--help").stdout.split())
    for part in (
        '{"id": 17, "sql": "SELECT ..."}',
        '{"17": "SELECT ..."}',
        "id,sql",
        "SQL<TAB>db_id",
        "BIRD",
        "--pred -",
    ):
        assert part in shown
