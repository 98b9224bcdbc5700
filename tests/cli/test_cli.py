"""The command line as people use it, from the door on; what a process adds to it is tried in one of its own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from making.clock import COMES_S
from making.commands import entered as merit


def merit_process(*arguments: object, given: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "merit", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, input=given, timeout=COMES_S)


@pytest.mark.timed
def test_scoring_a_file(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.jsonl"
    score = ("score", "spider", "--data", root, "--pred", root / "predictions.jsonl", "--timeout", "0.5")
    done = merit_process(*score, "--protocol", "suite", "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["questions"], summary["correct"], summary["accuracy"]) == (10, 4, 40.0)
    assert summary["by_status"] == {"CORRECT": 4, "DENOTATION_MISMATCH": 3, "EXECUTION_ERROR": 2, "TIMEOUT": 1}
    assert summary["by_database"]["library"] == {"questions": 10, "correct": 4, "accuracy": 40.0}
    verdicts = [json.loads(line) for line in out.read_text().splitlines()]
    assert [verdict["id"] for verdict in verdicts] == list(range(10))
    assert verdicts[2] == {"id": 2, "status": "EXECUTION_ERROR", "error": "no such column: nationality"}
    assert {frozenset(verdict) for verdict in verdicts} == {frozenset({"id", "status", "error"})}


@pytest.mark.timed
@pytest.mark.parametrize("jobs", [1, 4])
def test_the_table_names_what_was_left_out(root: Path, jobs: int) -> None:
    text = (root / "dev.json").read_text().replace("SELECT count(*) FROM loan", "SELECT count(*) FROM gone")
    (root / "dev.json").write_text(text)
    done = merit(
        "score", "spider", "--data", root, "--pred", root / "predictions.jsonl", "--timeout", "0.5", "--jobs", jobs
    )
    assert done.returncode == 0, done.stderr
    assert "overall" in done.stdout
    assert "left out: question 9: its reference SQL fails" in done.stdout
    assert "gone" not in done.stdout + done.stderr


@pytest.mark.timed
def test_questions_on_absent_databases_are_left_out(root: Path) -> None:
    entries = json.loads((root / "dev.json").read_text())
    entries.append({"db_id": "moon", "question": "?", "query": "SELECT 1"})
    (root / "dev.json").write_text(json.dumps(entries))
    tables = json.loads((root / "tables.json").read_text())
    tables.append({**tables[0], "db_id": "moon"})
    (root / "tables.json").write_text(json.dumps(tables))
    score = ("score", "spider", "--data", root, "--pred", root / "predictions.jsonl", "--timeout", "0.5")
    done = merit(*score, "--json")
    summary = json.loads(done.stdout)
    assert summary["questions"] == 10
    assert summary["absent_databases"] == {"moon": 1}


def test_missing_predictions_need_to_be_meant(root: Path) -> None:
    file = root / "some.jsonl"
    file.write_text('{"id": 0, "sql": "SELECT 7"}\n')
    score = ("score", "spider", "--data", root, "--pred", file)
    refused = merit(*score)
    assert refused.returncode == 1
    assert refused.stderr.strip() == (
        "merit: 9 of 10 questions have no prediction (the first is 1); complete them, score only what is "
        "there (--partial, or partial=True in Python), or, if they are for another split than dev, name that one "
        "(--split)"
    )
    done = merit(*score, "--partial", "--protocol", "db", "--json")
    assert json.loads(done.stdout)["correct"] == 1


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1, done
    assert done.stdout == ""
    assert done.stderr.startswith("merit: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_bad_input_is_one_sentence(root: Path, tmp_path: Path) -> None:
    good = root / "predictions.jsonl"
    assert "no such folder" in sentence(merit_process("score", "spider", "--data", tmp_path / "x", "--pred", good))
    assert "no such file" in sentence(merit("score", "spider", "--data", root, "--pred", tmp_path / "x"))
    assert "there is no folder" in sentence(
        merit("score", "spider", "--data", root, "--pred", good, "--out", tmp_path / "no" / "out")
    )
    shutil.rmtree(root / "test_suite")
    assert "use the protocol db" in sentence(
        merit("score", "spider", "--data", root, "--pred", good, "--protocol", "suite")
    )
    (root / "database/library/library.sqlite").write_bytes(b"junk" * 4000)
    assert "library.sqlite" in sentence(merit("score", "spider", "--data", root, "--pred", good))
    blocked = tmp_path / "file"
    blocked.touch()
    assert "choose another folder with MERIT_CACHE, or --cache in a command" in sentence(
        merit("score", "spider", "--data", root, "--pred", good, MERIT_CACHE=str(blocked / "cache"))
    )


def test_nothing_is_overwritten_by_accident(root: Path, tmp_path: Path) -> None:
    good = root / "predictions.jsonl"
    score = ("score", "spider", "--data", root, "--pred", good, "--timeout", "0.5")
    before = good.read_text()
    assert "is the prediction file itself" in sentence(merit(*score, "--out", good))
    assert good.read_text() == before
    assert "is a folder" in sentence(merit(*score, "--out", tmp_path))
    assert "is a folder" in sentence(merit(*score, "--out", "/"))
    assert merit(*score, "--out", "/dev/null").returncode == 0
    assert Path("/dev/null").is_char_device()


def test_odd_inputs_are_one_sentence_too(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "odd"
    score = ("score", "spider", "--data", root, "--pred", file, "--timeout", "0.5")
    file.write_text('[{"id": 0, "sql": "SELECT 1"}]')
    assert "a JSON list" in sentence(merit(*score))
    file.write_text(f'{{"id": {"9" * 5000}, "sql": "x"}}')
    assert "line 1" in sentence(merit(*score))
    file.write_text('{"id": 1, "id": 2, "sql": "x"}')
    assert "the key 'id' is there twice" in sentence(merit(*score))
    for field, value in (("question_id", "[1]"), ("difficulty", "3"), ("db_id", '"\\ud800"')):
        text = (root / "dev.json").read_text()
        (root / "dev.json").write_text(
            text.replace("{", f'{{"{field}": {value}, ', 1) if field != "db_id" else text.replace('"library"', value, 1)
        )
        assert field in sentence(merit(*score))
        (root / "dev.json").write_text(text)
    assert merit(*score[:-1], "nan").returncode == 2
    assert merit(*score[:-1], "inf").returncode == 2


def test_a_score_of_nothing_is_no_score(root: Path) -> None:
    score = ("score", "spider", "--data", root, "--pred", root / "predictions.jsonl", "--protocol", "db")
    (root / "database/library/library.sqlite").write_bytes(b"")
    assert "nothing could be judged" in sentence(merit(*score))
    assert merit("data", "check", root).returncode == 1
    shutil.rmtree(root / "database")
    assert "nothing to score" in sentence(merit(*score))


@pytest.mark.timed
def test_predictions_from_a_pipe(root: Path) -> None:
    score = ("score", "spider", "--data", root, "--pred", "/dev/stdin", "--timeout", "0.5", "--json")
    done = merit_process(*score, given=(root / "predictions.jsonl").read_text())
    assert json.loads(done.stdout)["questions"] == 10


def test_an_unknown_dataset_is_a_usage_error(root: Path) -> None:
    done = merit_process("score", "spidr", "--data", root, "--pred", root / "predictions.jsonl")
    assert done.returncode == 2
    assert "'spidr'" in done.stderr


def test_data_check_says_what_is_there(root: Path) -> None:
    done = merit("data", "check", root)
    assert done.returncode == 0, done.stderr
    assert "10, of which 10 have their database" in done.stdout
    (found,) = json.loads(merit("data", "check", root, "--json").stdout)["datasets"]
    assert found["suite_files"] == 2
    assert found["content_hash"] in done.stdout


def test_data_check_finds_damage_and_gaps(root: Path) -> None:
    path = root / "test_suite/library/library_other.sqlite"
    path.write_bytes(path.read_bytes()[:4096])
    shutil.rmtree(root / "database")
    done = merit("data", "check", root)
    assert done.returncode == 1
    assert "missing       library, 10 questions" in done.stdout
    assert "library_other.sqlite: damaged" in done.stderr


def test_data_schema_prints_what_a_model_reads(root: Path) -> None:
    assert merit("data", "schema", root, "library").stdout.startswith("Database: library\nTable: author\n")
    assert "no database 'moon'" in sentence(merit("data", "schema", root, "moon"))
