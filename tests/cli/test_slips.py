"""Slips of people who judge answers and look at schemas: told, and nothing is made of them."""

import json
from pathlib import Path

import pytest

from making.commands import good, refused
from merit.cli.prove import _agree
from merit.errors import InputError
from merit.live.proving import ProofCost


@pytest.mark.parametrize(
    "words", [("confirm", "a1"), ("reject", "a1"), ("correct", "a1", "SELECT 1"), ("withdraw", "a1")]
)
def test_a_mistyped_folder_is_not_made(tmp_path: Path, words: tuple[str, ...]) -> None:
    database = tmp_path / "shop.sqlite"
    database.touch()
    said = refused(*words, "--database", str(database), "--folder", str(tmp_path / ".merti"))
    assert "no such folder; give the --folder that the question was asked with" in said
    assert not (tmp_path / ".merti").exists()


def test_one_form_of_an_answer_is_printed_at_a_time(tmp_path: Path) -> None:
    said = refused("ask", "How many?", "--database", str(tmp_path / "x.sqlite"), "--json", "--sql-only")
    assert said == "--json and --sql-only exclude each other; choose one"


def test_schemas_of_a_benchmark_as_json() -> None:
    listed = json.loads(good("data", "schema", "bundled", "--json").stdout)
    assert "bike_share" in listed["databases"]
    shown = json.loads(good("data", "schema", "bundled", "bike_share", "--json").stdout)
    assert shown["database"] == "bike_share"
    assert "Table: stn" in shown["schema"]


def test_a_no_says_that_nothing_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda *_, **__: False)
    with pytest.raises(InputError, match="nothing was asked, and nothing was proven"):
        _agree(ProofCost(questions=1, calls=2, tokens=None, cost=None), yes=False)
