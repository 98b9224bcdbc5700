"""What a person who is new to it types wrongly about a database of their own: one sentence that says what to do."""

import errno
import json
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from making.commands import good, merit, refused
from making.shop import make_shop
from merit.files import what_to_do
from merit.live.judging.review import waiting

TOML = '[database]\nname = "shop"\nurl = "sqlite:///shop.sqlite"\n[model]\nuri = "scripted:script.jsonl"\n'


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_shop(tmp_path / "shop.sqlite")
    (tmp_path / "script.jsonl").write_text(json.dumps({"reply": "<answer>SELECT count(*) FROM orders</answer>"}) + "\n")
    (tmp_path / "merit.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MERIT_DATABASE", raising=False)


def asked() -> str:
    """The id of a new answer."""
    return str(json.loads(good("ask", "How many orders?", "--json").output)["id"])


def test_a_question_without_quotes() -> None:
    done = merit("ask", "How", "many", "orders?")
    assert done.exit_code == 2
    assert "the question has to be in quotes: merit ask 'How many orders?'" in done.output


def test_no_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "merit.toml").unlink()
    assert 'ask "..." --model URI' in good("init", "shop.sqlite").output
    assert refused("ask", "How many orders?") == (
        "no model was named; give --model openai:MODEL, or 'uri' under [model] in merit.toml"
    )


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///shpo.sqlite", "sqlite:///shpo.sqlite: there is no such database file; check the path"),
        ("sqlite:///empty.sqlite", "sqlite:///empty.sqlite: no table is in it"),
        ("duckdb:///shop.sqlite", "duckdb:///shop.sqlite: is a SQLite file; write sqlite:/// before it"),
    ],
)
def test_init_with_a_wrong_file_leaves_nothing(tmp_path: Path, url: str, said: str) -> None:
    (tmp_path / "merit.toml").unlink()
    (tmp_path / "empty.sqlite").touch()
    assert refused("init", url) == (
        f"{said}; merit.toml was not written: mend that and try again, or write it with --no-check"
    )
    assert not (tmp_path / "merit.toml").exists()


def test_a_port_that_is_no_number() -> None:
    assert "and a port as a number" in refused("doctor", "postgresql://ann@127.0.0.1:abc/shop")


def test_doctor_takes_the_database_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "sqlite:///shop.sqlite  SQLite" in good("doctor").output
    with closing(duckdb.connect(str(tmp_path / "other.duckdb"))) as db:
        db.execute("CREATE TABLE a (b int)")
    monkeypatch.setenv("MERIT_DATABASE", "duckdb:///other.duckdb")
    assert "duckdb:///other.duckdb  DuckDB" in good("doctor").output
    (tmp_path / "merit.toml").unlink()
    monkeypatch.delenv("MERIT_DATABASE")
    assert "no database was named" in refused("doctor")


def test_a_second_word_about_an_answer() -> None:
    answer = asked()
    good("reject", answer)
    assert refused("confirm", answer).endswith(f"; `merit withdraw {answer}` takes that back")


def test_a_file_of_the_context_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "merit.toml").write_text(TOML + '[context]\ndbt = "target"\n')
    assert refused("ask", "How many orders?") == f"merit.toml, [context]: {tmp_path / 'target'}: no such file"


def test_everything_is_excluded(tmp_path: Path) -> None:
    (tmp_path / "merit.toml").write_text(TOML.replace("[model]", 'exclude = ["*"]\n[model]'))
    assert "include and exclude in merit.toml" in refused("ask", "How many orders?")


def test_a_spreadsheet_and_a_table_given_for_a_dbt_project(tmp_path: Path) -> None:
    (tmp_path / "pairs.xlsx").write_bytes(b"PK\x03\x04\x14\x00")
    (tmp_path / "pairs.csv").write_text("question,sql\nHow many?,SELECT 1\n")
    assert refused("import", "pairs.xlsx") == (
        "pairs.xlsx: is a spreadsheet or an archive; save it as CSV, or unpack it"
    )
    assert refused("import", "pairs.csv", "--format", "dbt") == (
        "pairs.csv: has no analysis; give a dbt project's folder, or its target/manifest.json"
    )


def test_a_dash_is_no_file_to_write(tmp_path: Path) -> None:
    good("confirm", asked())
    assert "name a file" in refused("export", "--format", "csv", "--out", "-")
    assert not (tmp_path / "-").exists()


def test_a_damaged_history_says_what_to_do() -> None:
    asked()
    with Path(".merit/history.jsonl").open("a") as file:
        file.write('{"half\n')
    assert refused("history").endswith("; restore the file from a copy, or remove that line")


def test_a_full_disk_is_not_called_a_folder_without_rights() -> None:
    assert what_to_do(OSError(errno.ENOSPC, "No space left on device")) == "make room, or choose another one"
    assert "writable" in what_to_do(OSError(errno.EACCES, "Permission denied"))


def test_a_question_that_failed_shows_why_and_one_without_any_candidate_does_not_wait(tmp_path: Path) -> None:
    (tmp_path / "script.jsonl").write_text(json.dumps({"reply": "<answer>SELECT nope FROM orders</answer>"}) + "\n")
    failed = json.loads(merit("ask", "Which nope?", "--json").stdout)["id"]
    assert "failed, 0% of the votes; no such column: nope" in good("why", failed).output
    assert [item.id for item in waiting(Path(".merit"))] == [failed]
    lines = Path(".merit/history.jsonl").read_text().splitlines()
    stopped = {**json.loads(lines[0]), "id": "0123456789ab", "question": "Stopped?", "tried": [], "sql": ""}
    stopped["error"] = "it was stopped"
    Path(".merit/history.jsonl").write_text("\n".join([*lines, json.dumps(stopped)]) + "\n")
    assert "failed, 0% of the votes; it was stopped" in good("why", "0123").output
    assert [item.id for item in waiting(Path(".merit"))] == [failed]


def test_what_was_said_as_json() -> None:
    first, second, third = asked(), asked(), asked()
    confirmed = json.loads(good("confirm", first, "--json").stdout)
    assert (confirmed["answer"], confirmed["kind"], len(confirmed["entries"])) == (first, "confirmed", 1)
    rejected = json.loads(good("reject", second, "--json").stdout)
    assert (rejected["kind"], rejected["contradictions"]) == ("rejected", [])
    corrected = json.loads(good("correct", third, "SELECT 7", "--json").stdout)
    assert corrected["kind"] == "corrected"
    assert corrected["contradictions"] == []  # the rejected SQL is no answer any more
