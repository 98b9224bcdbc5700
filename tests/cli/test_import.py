"""`merit import`, `merit export` and `merit memory conflicts`: pairs of other tools, in and out."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from making.commands import good, merit, refused
from making.live import make_shop
from making.pairs import ASKED, COUNT, PAID, VANNA_CSV, as_lines
from merit.formats import FORMATS
from merit.memory import entries_in
from merit.models import open_encoder

OWN = ("--database", "shop.sqlite")
_encoder_opened_once = cache(open_encoder)  # which takes as long as everything else together


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a database and a CSV file of pairs, one of which does not run."""
    make_shop(tmp_path / "shop.sqlite")
    (tmp_path / "pairs.csv").write_text(f"question,sql\nHow many?,{COUNT}\nBroken?,SELECT nope\nHow many,SELECT 2\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("merit.live.opening.open_encoder", _encoder_opened_once)
    return tmp_path


def test_an_import_says_what_became_of_every_pair(shop: Path) -> None:
    trial = good("import", "pairs.csv", *OWN, "--dry-run")
    assert "pairs.csv (csv): 2 pairs would be imported as executed, 0 known already, 1 left out" in trial.stdout
    assert entries_in(shop / ".merit" / "memory") == []
    done = good("import", "pairs.csv", *OWN, "--author", "ada")
    first, second, *contradiction = done.stdout.splitlines()
    assert first == "pairs.csv (csv): 2 pairs imported as executed, 0 known already, 1 left out"
    assert "not shown to later questions until `merit memory confirm .merit ID` confirms them" in second
    assert done.stderr == "left out: pairs.csv, line 3: does not run: no such column: nope\n"
    assert contradiction[0] == "contradiction (2 answers differ) How many"
    assert re.fullmatch(r"  pre-[0-9a-f]{16} executed by ada, .*: result [0-9a-f]{8}", contradiction[1])
    assert contradiction[2] == "    SELECT 2"
    assert contradiction[-1] == "delete what is wrong: merit memory delete .merit ID --reason WHY"
    again = json.loads(good("import", "pairs.csv", *OWN, "--json").stdout)
    assert (again["format"], again["imported"], again["known"], again["contradictions"]) == ("csv", [], 2, [])
    assert again["left_out"] == [{"where": "pairs.csv, line 3", "reason": "does not run: no such column: nope"}]


def test_conflicts_are_listed_until_one_side_is_deleted(shop: Path) -> None:
    good("import", "pairs.csv", *OWN, "--as", "confirmed", "--author", "ada")
    listed = json.loads(good("memory", "conflicts", *OWN, "--json").stdout)["contradictions"]
    (newest, oldest) = listed[0]["answers"]
    assert (newest["sql"], oldest["sql"], newest["author"], newest["grade"]) == ("SELECT 2", COUNT, "ada", "confirmed")
    assert newest["result"] != oldest["result"]
    good("memory", "delete", ".merit", newest["id"], "--reason", "wrong")
    assert good("memory", "conflicts", *OWN).stdout == "no two answers to one question give different results\n"


def test_confirm_and_correct_say_what_they_contradict(shop: Path) -> None:
    (shop / "pairs.jsonl").write_text(as_lines([{"question": "how many", "sql": PAID}]))
    good("import", "pairs.jsonl", *OWN, "--as", "confirmed", "--author", "grace")
    (shop / "script.jsonl").write_text(json.dumps({"reply": f"<answer>{COUNT}</answer>"}) + "\n")
    ask = ("ask", "How many?", *OWN, "--model", "scripted:script.jsonl", "--json")
    first, second = (json.loads(good(*ask).stdout)["id"] for _ in range(2))
    said = good("confirm", first, *OWN, "--author", "ada").stdout
    assert "contradiction (2 answers differ) How many?" in said
    assert said.index("confirmed by ada") < said.index("confirmed by grace")
    said = good("correct", second, "SELECT 7", *OWN, "--author", "bob").stdout
    assert said.index("confirmed by bob") < said.index("confirmed by grace")
    third = json.loads(good(*ask[:1], "Something else?", *ask[2:]).stdout)["id"]
    assert "contradiction" not in good("confirm", third, *OWN).stdout


def test_export_writes_what_import_reads(shop: Path) -> None:
    good("import", "pairs.csv", *OWN, "--as", "confirmed", "--author", "ada")
    for name in FORMATS:
        done = json.loads(good("export", "--format", name, "--out", f"out.{name}", "--json").stdout)
        assert (done["format"], done["exported"], done["less_sure"]) == (name, 2, 0)
    back = json.loads(good("import", "out.wren", *OWN, "--as", "confirmed", "--json").stdout)
    assert (back["format"], back["known"], back["imported"]) == ("wren", 2, [])
    assert "out.csv: is there already" in refused("export", "--format", "csv", "--out", "out.csv")
    good("export", "--format", "csv", "--out", "out.csv", "--replace")
    assert "out.dbt: is there already; name a new folder" in refused("export", "--format", "dbt", "--out", "out.dbt")


def test_an_export_of_nothing_is_refused(shop: Path) -> None:
    good("import", "pairs.csv", *OWN)
    said = refused("export", "--format", "csv", "--out", "out.csv")
    assert said == "the memory has no answer about shop that is tested or better; nothing was written"
    assert not (shop / "out.csv").exists()
    good("export", "--format", "csv", "--out", "out.csv", "--least", "executed")


def test_vannas_other_rows_are_counted_by_their_reason(shop: Path) -> None:
    (shop / "vanna.csv").write_text(VANNA_CSV + "1,8-doc,,More words,documentation\n")
    done = good("import", "vanna.csv", *OWN)
    assert "vanna.csv (vanna): 2 pairs imported as executed" in done.stdout
    assert "left out: vanna.csv, line 7 and 1 more: documentation; write it under" in done.stderr


def test_an_import_with_nothing_in_it_is_exit_1(shop: Path) -> None:
    (shop / "pairs.jsonl").write_text(as_lines([{"question": "Broken?", "sql": "SELECT nope"}]))
    done = merit("import", "pairs.jsonl", *OWN)
    assert done.exit_code == 1
    assert "0 pairs imported" in done.stdout


def test_a_wrong_file_is_refused_before_a_database_is_opened(shop: Path) -> None:
    (shop / "names.csv").write_text("name\nx\n")
    assert "call one 'question' (it has name)" in refused("import", "names.csv", "--database", "nowhere.sqlite")
    good("import", "pairs.csv", *OWN, "--as", "confirmed")
    good("memory", "export", ".merit", "--out", "entries.jsonl")
    said = refused("import", "entries.jsonl", *OWN)
    assert "is a memory's own export; `merit memory import FOLDER entries.jsonl` adds its entries" in said


def test_hostile_text_reaches_no_terminal(shop: Path) -> None:
    records = [{"question": "How\u001b[2J many?", "sql": sql} for sql in (COUNT, PAID)]
    (shop / "pairs.jsonl").write_text(as_lines([*records, {"question": ASKED[0], "sql": "SELECT '\u001b[2J"}]))
    done = good("import", "pairs.jsonl", *OWN)
    assert "\\x1b[2J many?" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert len(entries_in(shop / ".merit" / "memory")) == 2
