"""The benchmark that comes with merit, as people use it: no folder to give, nothing of this machine in what is written."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from merit.bundled import read_sources
from merit.bundled.source import HERE

REFERENCES = {written.id: written.sql for source in read_sources() for written in source.questions}


def merit(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "merit", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300)


def script(path: Path) -> Path:
    """A model that always says the same, which is right for nothing."""
    path.write_text('{"reply": "<answer>SELECT 1</answer>"}\n')
    return path


def test_predict_run_score_and_audit_need_no_folder(tmp_path: Path) -> None:
    model = f"scripted:{script(tmp_path / 'script.jsonl')}"
    initial, out = tmp_path / "initial.jsonl", tmp_path / "run"
    done = merit("predict", "bundled", "--model", model, "--out", initial, "--limit", 4, "--seed", 0)
    assert done.returncode == 0, done.stderr
    common = ("--initial", initial, "--model", model, "--budget", 1, "--limit", 4)
    done = merit("run", "bundled", *common, "--method", "vanilla", "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["questions"] == 4
    identity = json.loads((out / "manifest.json").read_text())["identity"]
    assert identity["dataset"]["name"] == "bundled"
    assert identity["protocol"] == "suite"
    assert len(identity["demonstrations"]) == 4
    written = "".join(path.read_text() for path in out.rglob("*.json*"))
    for place in (tmp_path, os.environ["MERIT_CACHE"], HERE, Path.home()):
        assert str(place) not in written
    done = merit("audit", out)
    assert done.returncode == 0, done.stderr
    assert "judged again" in done.stdout


def test_scoring_its_own_references(tmp_path: Path) -> None:
    file = tmp_path / "pred.jsonl"
    file.write_text("".join(json.dumps({"id": id_, "sql": sql}) + "\n" for id_, sql in REFERENCES.items()))
    done = merit("score", "bundled", "--pred", file, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["dataset"], summary["protocol"], summary["accuracy"]) == ("bundled", "suite", 100.0)
    assert summary["questions"] == len(REFERENCES)


def test_a_grid_needs_no_folder_either(tmp_path: Path) -> None:
    script(tmp_path / "script.jsonl")
    text = f'out = "runs"\nmodel = "scripted:{tmp_path / "script.jsonl"}"\nmethods = ["iterative"]\nseeds = [0]\nbudget = 1\n'
    grid = tmp_path / "grid.toml"
    grid.write_text(f'{text}[[dataset]]\nname = "bundled"\ninitial = "initial.jsonl"\nlimit = 3\n')
    done = merit("grid", grid)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs" / "bundled-dev" / "iterative" / "seed0" / "manifest.json").is_file()
    grid.write_text(f'{text}[[dataset]]\nname = "spider"\ninitial = "initial.jsonl"\n')
    done = merit("grid", grid)
    assert done.stderr == f"merit: {grid}, dataset 1: the field 'data' is missing\n"


def test_other_benchmarks_still_need_theirs(tmp_path: Path) -> None:
    done = merit("score", "spider", "--pred", tmp_path / "none.jsonl")
    assert done.returncode == 1
    assert done.stderr == "merit: spider: give its folder with --data; only bundled comes with merit\n"


def test_the_quick_check_prints_statistics() -> None:
    done = merit("data", "check", "bundled", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["overall"]["questions"] == len(REFERENCES)
    assert len(found["databases"]) == 9
    assert "kill_rate" not in found["overall"]
    shown = merit("data", "check", "bundled", "--quick", COLUMNS="160").stdout
    assert "bike_share" in shown
    assert found["content_hash"] in shown


def test_the_schema_is_shown_as_a_model_reads_it() -> None:
    done = merit("data", "schema", "bundled", "bike_share")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Database: bike_share\nTable: ")
    assert "FOREIGN KEY -> " in done.stdout


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("questions.jsonl", '"difficulty": "easy"', '"difficulty": "mild"', "the field 'difficulty' should be easy"),
        ("rows.sql", "INSERT INTO", "INSERT INSIDE", "rows.sql, line 1: near"),
        ("questions.jsonl", '"sql": "SELECT', '"sql": "SELECT nothing,', "its reference does not run on the original"),
    ],
)
def test_what_is_wrong_with_it_is_one_sentence(tmp_path: Path, name: str, old: str, new: str, said: str) -> None:
    """In a copy of the package with one file changed."""
    copy = tmp_path / "src" / "merit"
    shutil.copytree(HERE.parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    path = copy / "bundled" / "databases" / "bike_share" / name
    path.write_text(path.read_text().replace(old, new, 1))
    done = merit("data", "check", "bundled", "--quick", PYTHONPATH=str(copy.parent))
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
