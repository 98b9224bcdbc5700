"""The benchmark that comes with merit, as people use it: no folder to give, nothing of this machine in what is written."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from making.commands import good, refused
from making.tampering import reidentify
from making.terminal import plain
from merit import mutation
from merit.bundled import read_sources
from merit.bundled.source import HERE, DatabaseSource
from merit.cli.data_bundled import show_check
from merit.cli.main import cli
from merit.cli.terminal import Console

REFERENCES = {written.id: written.sql for source in read_sources() for written in source.questions}


pytestmark = pytest.mark.usefixtures("bundled_benchmark")


def at_width(columns: int, *arguments: object) -> str:
    """What a command shows in a terminal of this width."""
    done = CliRunner(env={"COLUMNS": str(columns)}).invoke(cli, [str(argument) for argument in arguments])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def merit_process(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "merit", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300)


def script(path: Path) -> Path:
    """A model that always says the same, which is right for nothing."""
    path.write_text('{"reply": "<answer>SELECT 1</answer>"}\n')
    return path


def test_predict_run_score_and_audit_need_no_folder(tmp_path: Path) -> None:
    model = f"scripted:{script(tmp_path / 'script.jsonl')}"
    initial, out = tmp_path / "initial.jsonl", tmp_path / "run"
    good("predict", "bundled", "--model", model, "--out", initial, "--limit", 4, "--seed", 0)
    common = ("--initial", initial, "--model", model, "--budget", 1, "--limit", 4)
    done = good("run", "bundled", *common, "--method", "vanilla", "--out", out, "--json")
    assert json.loads(done.stdout)["questions"] == 4
    identity = json.loads((out / "manifest.json").read_text())["identity"]
    assert identity["dataset"]["name"] == "bundled"
    assert identity["protocol"] == "suite"
    assert len(identity["demonstrations"]) == 4
    written = "".join(path.read_text() for path in out.rglob("*.json*"))
    for place in (tmp_path, os.environ["MERIT_CACHE"], HERE, Path.home()):
        assert str(place) not in written
    assert "judged again" in good("audit", out).stdout
    for folder in (tmp_path, tmp_path / "nowhere"):
        told = refused("audit", out, "--data", folder)
        assert told == "--data: a bundled run takes none, its data comes with merit; leave --data out"
    reidentify(out, lambda identity: identity["dataset"].update(sha256="0" * 64))
    told = refused("audit", out)
    assert f"{out / 'manifest.json'}: is not of the benchmark that comes with this merit" in told


def test_scoring_its_own_references(tmp_path: Path) -> None:
    """In a process of its own, with a cache that is empty."""
    file = tmp_path / "pred.jsonl"
    file.write_text("".join(json.dumps({"id": id_, "sql": sql}) + "\n" for id_, sql in REFERENCES.items()))
    done = merit_process("score", "bundled", "--pred", file, "--json", MERIT_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["dataset"], summary["protocol"], summary["accuracy"]) == ("bundled", "suite", 100.0)
    assert summary["questions"] == len(REFERENCES)


def test_a_grid_needs_no_folder_either(tmp_path: Path) -> None:
    script(tmp_path / "script.jsonl")
    text = f'out = "runs"\nmodel = "scripted:{tmp_path / "script.jsonl"}"\nmethods = ["merit_type_reliability", "iterative"]\nseeds = [0]\nbudget = 1\n'
    grid = tmp_path / "grid.toml"
    grid.write_text(f'{text}[[dataset]]\nname = "bundled"\ninitial = "initial.jsonl"\nlimit = 3\n')
    shown = at_width(80, "grid", grid)
    assert "merit_type_reliability/seed0 " in shown  # no name is cut
    assert f"runs are in {tmp_path / 'runs' / 'bundled-dev'}\n" in shown
    assert (tmp_path / "runs" / "bundled-dev" / "iterative" / "seed0" / "manifest.json").is_file()
    grid.write_text(f'{text}[[dataset]]\nname = "spider"\ninitial = "initial.jsonl"\n')
    assert refused("grid", grid) == f"{grid}, dataset 1: the field 'data' is missing"


def test_other_benchmarks_still_need_theirs(tmp_path: Path) -> None:
    told = refused("score", "spider", "--pred", tmp_path / "none.jsonl")
    assert told == "spider: give its folder (--data, or root in Python); only bundled comes with merit"


Check = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def check_once() -> Check:
    """The quick check, whose result is kept: it takes seconds."""
    results: list[dict[str, Any]] = []
    full = mutation.check

    def check(sources: Sequence[DatabaseSource], **options: Any) -> dict[str, Any]:
        if not results:
            results.append(full(sources, **options))
        return deepcopy(results[0])

    return check


def test_the_quick_check_prints_statistics(check_once: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with an error where a reference of any question is not sound."""
    monkeypatch.setattr(mutation, "check", check_once)
    found = json.loads(at_width(80, "data", "check", "bundled", "--quick", "--json"))
    assert found["overall"]["questions"] == len(REFERENCES)
    assert len(found["databases"]) == 9
    assert "kill_rate" not in found["overall"]
    shown = at_width(160, "data", "check", "bundled", "--quick")
    assert "bike_share" in shown
    assert found["content_hash"] in shown
    narrow = at_width(40, "data", "check", "bundled", "--quick").splitlines()
    total = found["overall"]
    assert narrow[-1].strip() == (
        f"in all        9 databases, {total['tables']} tables, {total['rows']} rows, {total['questions']} questions"
    )


def test_what_the_suites_tell_is_said_at_any_width(check_once: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """With made-up counts of mutants, since real ones take a minute."""

    def counted(sources: Sequence[DatabaseSource], **options: Any) -> dict[str, Any]:
        found = check_once(sources, quick=True, on_progress=options["on_progress"])
        counts = {
            "mutants": 13392,
            "differing": 11802,
            "killed_by_original": 9938,
            "killed": 11787,
            "kill_rate": 0.9987,
        }
        return {
            "databases": [{**one, **counts} for one in found["databases"]],
            "overall": {**found["overall"], **counts},
        }

    monkeypatch.setattr(mutation, "check", counted)
    done = good("data", "check", "bundled")
    assert done.stderr == (
        "merit: trying wrong answers (mutants) to 360 questions on their test suites, which takes minutes; --quick "
        "leaves that out\n"
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()[:11]]
    assert {len(cells) for cells in lines} == {11}  # in a pipe, a line is a database, however wide it is
    assert (lines[0][0], lines[1][0], lines[-1][0]) == ("database", "bike_share", "overall")
    total = " 360 questions; suites tell 11787 of 11802 differing mutants, 99.87%"
    assert done.stdout.splitlines()[-1].endswith(total)
    terminal = StringIO()
    show_check(counted((), on_progress=print), "0" * 64, False, Console(file=terminal, force_terminal=True, width=80))
    shown = plain(terminal.getvalue())
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert all(name in shown for name in ("language_school", "overall"))
    assert "".join(shown.split()).endswith("".join(total.split()))


def test_the_schema_is_shown_as_a_model_reads_it() -> None:
    shown = good("data", "schema", "bundled", "bike_share").stdout
    assert shown.startswith("Database: bike_share\nTable: ")
    assert "FOREIGN KEY -> " in shown


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
    done = merit_process("data", "check", "bundled", "--quick", PYTHONPATH=str(copy.parent))
    assert done.returncode == 1
    (*slow, sentence) = done.stderr.splitlines()
    assert said in sentence
    assert all(line.startswith("merit: building the databases") for line in slow)
