"""`merit schema select`."""

import json
from pathlib import Path

import pytest

from making.benchmark import build
from making.commands import good, refused
from making.databases import DIALECTS, shop


def test_a_small_schema_is_shown_whole(tmp_path: Path) -> None:
    tables = build(tmp_path / "data") / "tables.json"
    assert good("schema", "select", "Which items?", "--tables", tables).stdout.startswith("The whole schema fits: ")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_schema_of_any_database_is_chosen_from(
    dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    with shop(dialect, tmp_path) as place:
        options = ("--database", place.url, "--json")
        whole = json.loads(good("schema", "select", "Which customers?", *options).stdout)
        cut = json.loads(good("schema", "select", "Which city has a customer?", *options, "--budget", 70).stdout)
    assert whole["whole"]
    assert whole["tables"][0]["columns"][0]["reasons"] == ["the whole schema fits"]
    assert cut["tables"][0]["name"] == "customer"
    assert "its name has city" in {column["name"]: column for column in cut["tables"][0]["columns"]}["city"]["reasons"]


def test_the_database_of_merit_toml_is_chosen_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    assert "no database was named" in refused("schema", "select", "q")
    with shop("sqlite", tmp_path) as place:
        Path("merit.toml").write_text(f'[database]\nname = "shop"\nurl = "{place.url}"\n[budget]\nschema_tokens = 70\n')
        assert "are left out" in good("schema", "select", "Which city has a customer?").stdout


def test_a_budget_cuts_it_and_reasons_are_given(tmp_path: Path) -> None:
    tables = build(tmp_path / "data") / "tables.json"
    options = ("--tables", tables, "--budget", 60)
    assert "are left out" in good("schema", "select", "Which items?", *options).stdout
    assert "-- Not shown: " in good("schema", "select", "Which items?", *options, "--text").stdout


def test_what_cannot_be_opened_is_said_in_a_sentence(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere.json"
    assert refused("schema", "select", "q", "--tables", nowhere) == (
        f"{nowhere}: no such file; give a tables file (tables.json)"
    )
    tables = build(tmp_path / "data") / "tables.json"
    assert "has no database nope" in refused("schema", "select", "q", "--tables", tables, "--only", "nope")
    assert "--only is for --tables" in refused("schema", "select", "q", "--database", "x.sqlite", "--only", "nope")
