"""`merit schema select`."""

import json
from pathlib import Path

from making.benchmark import build
from making.commands import good, refused


def test_a_small_schema_is_shown_whole(tmp_path: Path) -> None:
    data = build(tmp_path / "data")
    tables = data / "tables.json"
    assert good("schema", "select", "Which items?", "--db", tables).stdout.startswith("The whole schema fits: ")
    database = next(data.glob("database/*/*.sqlite"))
    found = json.loads(good("schema", "select", "Which items?", "--db", database, "--json").stdout)
    assert found["whole"]
    assert found["tables"][0]["columns"][0]["reasons"] == ["the whole schema fits"]


def test_a_budget_cuts_it_and_reasons_are_given(tmp_path: Path) -> None:
    tables = build(tmp_path / "data") / "tables.json"
    shown = good("schema", "select", "Which items?", "--db", tables, "--budget", 60).stdout
    assert "are left out" in shown
    assert "-- Not shown: " in good("schema", "select", "Which items?", "--db", tables, "--budget", 60, "--text").stdout


def test_what_cannot_be_opened_is_said_in_a_sentence(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere.sqlite"
    said = refused("schema", "select", "q", "--db", nowhere)
    assert said == f"{nowhere}: no such file; give a SQLite file or a tables file (tables.json)"
    tables = build(tmp_path / "data") / "tables.json"
    assert "has no database nope" in refused("schema", "select", "q", "--db", tables, "--database", "nope")
