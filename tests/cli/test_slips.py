"""Slips of people who judge answers and look at schemas: told, and nothing is made of them."""

import json
from pathlib import Path

import pytest

from making.commands import good, merit, refused
from making.live import make_shop
from merit.agent.confidence import read_calibration
from merit.cli.prove import _agree
from merit.errors import InputError
from merit.live.measuring.proof import ProofCost
from merit.memory import FileStore
from merit.report.labels import read_labels


@pytest.mark.parametrize(
    "words", [("confirm", "a1"), ("reject", "a1"), ("correct", "a1", "SELECT 1"), ("withdraw", "a1")]
)
def test_a_mistyped_folder_is_not_made(tmp_path: Path, words: tuple[str, ...]) -> None:
    database = tmp_path / "shop.sqlite"
    database.touch()
    said = refused(*words, "--database", str(database), "--folder", str(tmp_path / ".merti"))
    assert "no such folder; give the --folder that the question was asked with" in said
    assert not (tmp_path / ".merti").exists()


@pytest.mark.parametrize(
    "words",
    [("check",), ("prove",), ("memory", "check"), ("memory", "conflicts"), ("memory", "review"), ("history",)]
    + [("why", "a1"), ("schema", "select", "How many?")],
)
def test_commands_that_only_read_make_no_folder(
    tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_shop(tmp_path / "shop.sqlite")
    monkeypatch.setenv("MERIT_DATABASE", str(tmp_path / "shop.sqlite"))
    said = refused(*words, "--folder", tmp_path / "nope")
    assert said == f"{tmp_path / 'nope'}: there is no history here; ask something first, or name another --folder"
    assert not (tmp_path / "nope").exists()


def test_what_a_prompt_would_show_is_chosen_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_shop(tmp_path / "shop.sqlite")
    monkeypatch.chdir(tmp_path)
    good("schema", "select", "How many?", "--database", "shop.sqlite")
    assert not (tmp_path / ".merit").exists()


def test_a_token_that_is_not_there_makes_no_folder(tmp_path: Path) -> None:
    assert "there is no token 'ann'" in refused("token", "revoke", "ann", "--folder", tmp_path / "nope")
    assert not (tmp_path / "nope").exists()


def test_a_folder_in_which_nothing_was_learned_is_not_backed_up(tmp_path: Path) -> None:
    FileStore(tmp_path / "nope" / "memory").close()
    said = refused("backup", tmp_path / "z.zip", "--folder", tmp_path / "nope")
    assert "nope: has neither a history nor a memory; name the folder that `merit ask` keeps them in" in said
    assert not (tmp_path / "z.zip").exists()


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


def test_a_proof_without_a_model_is_refused_before_its_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_shop(tmp_path / "shop.sqlite")
    monkeypatch.chdir(tmp_path)
    own = ("--database", "shop.sqlite")
    FileStore(tmp_path / ".merit" / "memory").close()
    result = merit("prove", *own)
    assert str(result.exception).startswith("no model was named; give --model openai:MODEL")
    assert result.stderr == ""
    assert good("prove", "--switch-on", *own).stdout == "the memory is in use\n"


def test_a_folder_is_not_called_a_file_that_is_missing(tmp_path: Path) -> None:
    for words in (("init", tmp_path), ("ask", "How many?", "--model", "scripted:x", "--database", tmp_path)):
        assert f"sqlite:///{tmp_path}: is a folder; name the database file" in refused(*words)


def test_a_method_is_offered_only_where_it_is_near(tmp_path: Path) -> None:
    options = (tmp_path, "--out", tmp_path / "report", "--against")
    assert refused("report", *options, "nope") == "there is no method 'nope'; `merit methods` lists them"
    assert refused("report", *options, "itertive").endswith("did you mean 'iterative'?")


def test_one_is_one() -> None:
    done = merit("score", "bundled", "--pred", "-", given="SELECT 1\n")
    assert "standard input: 1 line for 360 questions" in str(done.exception)


def test_choices_follow_one_full_stop() -> None:
    assert "Missing option '--format'. For which tool. Choose from:" in merit("export", "--out", "x").output


def test_data_that_is_not_there_is_refused_before_a_model_is_said_to_be_asked(tmp_path: Path) -> None:
    words = ("--data", tmp_path / "nope", "--initial", tmp_path / "initial.jsonl", "--method", "iterative")
    result = merit("run", "spider", *words, "--model", "scripted:x", "--out", tmp_path / "run")
    assert "nope: no such folder" in str(result.exception)
    assert result.stderr == ""


def test_a_day_that_no_calendar_has_is_refused(tmp_path: Path) -> None:
    for day in ("2026-13-01", "2026-02-30", "2026-11-16T99", "yesterday"):
        said = refused("history", "--folder", tmp_path, "--since", day)
        assert said == f"--since {day}: not a day; write it as 2026-11-16"


def test_of_a_groups_commands_the_nearest_is_offered() -> None:
    assert "Did you mean 'conflicts'?" in merit("memory", "conflict").output


def test_the_memory_of_a_project_is_named(tmp_path: Path) -> None:
    (tmp_path / ".merit" / "memory").mkdir(parents=True)
    (tmp_path / ".merit" / "memory" / "memory.jsonl").touch()
    said = refused("memory", "stats", tmp_path)
    assert said == f"{tmp_path}: there is no memory here; the one of this project is {tmp_path / '.merit'}"


def test_one_line_of_other_fields_is_no_object_of_all_answers(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"question_id": "bike_share-01", "prediction": "SELECT 1"}\n')
    said = refused("score", "bundled", "--pred", tmp_path / "p.jsonl", "--partial")
    assert said == f"{tmp_path / 'p.jsonl'}, line 1: the field 'id' is missing"


def test_files_of_another_kind_are_told_from_calibrations_and_labels(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id,sql\n1,SELECT 1\n")
    with pytest.raises(InputError, match="p.csv: the column 'human' is missing, which `merit label` writes"):
        read_labels(tmp_path / "p.csv")
    for text in ('{"id": 1}', "[]", "{}"):
        (tmp_path / "p.json").write_text(text)
        with pytest.raises(InputError, match="p.json: not a calibration; give a file that `merit calibrate` wrote"):
            read_calibration(tmp_path / "p.json")
