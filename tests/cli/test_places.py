"""Places to write to: nobody else's files are touched, and a full disk leaves no half file."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from making.clock import COMES_S
from making.commands import merit, refused
from making.disks import no_file_larger_than
from making.reports import letters, questions, write_all
from making.runs import files_of
from merit.cli.main import cli
from merit.cli.options import this_command
from merit.errors import MeritError


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    write_all(tmp_path / "runs", letters(12, 4, ("iterative", "merit")), questions(12))
    return tmp_path / "runs"


def test_a_report_does_not_write_into_what_is_not_merits(runs: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "tables").mkdir(parents=True)
    (mine / "report.md").write_text("My own report.")
    (mine / "tables" / "main.csv").write_text("mine")
    before = files_of(mine)
    said = refused("report", runs, "--out", mine)
    assert said == f"{mine}: holds report.md and no report of merit's; choose another --out, such as {mine / 'report'}"
    (mine / "report.json").write_text('{"results": []}')
    assert "and no report of merit's" in refused("report", runs, "--out", mine)
    (mine / "report.json").unlink()
    assert files_of(mine) == before
    assert merit("report", runs, "--out", mine / "report").exit_code == 0  # what it suggests works


@pytest.mark.parametrize("place", ["file", "file/report", "locked/report"])
def test_a_report_refuses_its_folder_before_any_work(
    place: str, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "locked").mkdir()
    usual = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: path != tmp_path / "locked" and usual(path, mode)
    )  # root may all
    monkeypatch.setattr("merit.cli.report.open_runs", lambda *_, **__: pytest.fail("runs were read first"))
    said = refused("report", runs, "--out", tmp_path / place)
    there = tmp_path / place.partition("/")[0]
    why = f"{'it' if '/' not in place else there} is {'read-only' if there.is_dir() else 'not a folder'}"
    assert said == f"{tmp_path / place}: cannot be written ({why}); choose another --out"


def test_a_report_refuses_an_unknown_method_before_any_work(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.cli.report.open_runs", lambda *_, **__: pytest.fail("runs were read first"))
    assert "there is no method 'nope'" in refused("report", runs, "--out", runs.parent / "out", "--against", "nope")


def test_a_report_replaces_an_earlier_one_and_leaves_what_lies_beside_it(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()  # an empty folder will do
    assert merit("report", runs, "--out", out).exit_code == 0
    (out / "notes.txt").write_text("Mine.")
    before = files_of(out)
    assert merit("report", runs, "--out", out).exit_code == 0
    assert files_of(out) == before


def test_a_report_that_was_cut_off_is_known_and_written_again(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, whole = tmp_path / "out", tmp_path / "whole"
    assert merit("report", runs, "--out", whole).exit_code == 0
    for size in (100, 3_000, 40_000):
        with no_file_larger_than(size):
            said = refused("report", runs, "--out", out)
        assert said.startswith(f"{out}{os.sep}")
        assert "cannot be written (File too large)" in said
        assert list(out.rglob("*.part")) == []
    assert merit("report", runs, "--out", out).exit_code == 0
    assert files_of(out) == files_of(whole)


def test_a_folder_that_cannot_be_made_is_named(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert refused("report", runs, "--out", tmp_path / "file" / "x").startswith(f"{tmp_path / 'file' / 'x'}: ")


def test_verdicts_on_a_full_disk_name_their_file(root: Path, tmp_path: Path) -> None:
    score = ["score", "spider", "--data", root, "--pred", root / "predictions.jsonl", "--timeout", "0.5", "--out"]
    out = tmp_path / "verdicts.jsonl"
    out.write_text("earlier\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    begin = "import resource, signal; from merit.cli import main; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); import merit.cli.score as s; old = s.write_verdicts; s.write_verdicts = lambda *a: (resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50)), old(*a)); main()"
    command = [sys.executable, "-c", begin, *map(str, [*score, out])]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=COMES_S)
    assert done.stderr == f"merit: {out}: cannot be written (File too large); choose another place\n"
    assert done.returncode == 1
    assert out.read_text() == "earlier\n"
    assert list(tmp_path.glob("*.part")) == []
    if Path("/dev/full").exists():
        said = refused(*score, "/dev/full")
        assert said == "/dev/full: cannot be written (No space left on device); choose another place"


def test_labels_and_answers_on_a_full_disk_leave_no_half_file(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels.csv"
    assert merit("label", runs / "merit" / "seed0", "--out", out, "--write-only").exit_code == 0
    whole = out.read_bytes()
    with no_file_larger_than(100):
        result = CliRunner().invoke(
            cli, ["label", str(runs / "merit" / "seed0"), "--out", str(out), "--fill"], input="1"
        )
        assert isinstance(result.exception, MeritError)
        assert str(result.exception).startswith(f"{out}: cannot be written")
        assert f"{tmp_path / 'new.csv'}: cannot be written" in refused(
            "label", runs / "merit" / "seed0", "--out", tmp_path / "new.csv", "--write-only"
        )
    assert out.read_bytes() == whole
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name or path.name == "new.csv"] == []


def test_a_seed_below_zero_draws_no_sample(runs: Path, tmp_path: Path) -> None:
    result = merit("label", runs / "merit" / "seed0", "--out", tmp_path / "labels.csv", "--seed", -1, "--write-only")
    assert result.exit_code == 2
    assert "'-1' cannot be used; give a whole number, 0 or more" in result.output


# How merit is called


@pytest.mark.parametrize("options", [["-V"], ["--version"]])
def test_the_version(options: list[str]) -> None:
    result = merit(*options)
    assert (result.exit_code, result.output.split()[0]) == (0, "merit,")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell: str) -> None:
    """As README says it: `_MERIT_COMPLETE=bash_source merit`."""
    begin = "import sys; sys.argv = ['merit']; from merit.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "_MERIT_COMPLETE": f"{shell}_source"}
    done = subprocess.run(
        [sys.executable, "-c", begin], capture_output=True, text=True, env=environment, timeout=COMES_S
    )
    assert "_MERIT_COMPLETE=" in done.stdout
    assert "Traceback" not in done.stderr
    if shell != "zsh":
        return
    environment |= {"_MERIT_COMPLETE": "zsh_complete", "COMP_WORDS": "merit me", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", begin], capture_output=True, text=True, env=environment, timeout=COMES_S
    )
    assert "methods" in done.stdout
    assert "memory" in done.stdout


def test_a_command_that_is_proposed_works_where_merit_was_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "my venv" / "bin" / "merit"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!{sys.executable}\nfrom merit.cli import main\nmain()\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["my venv/bin/merit"])
    assert this_command() == "'my venv/bin/merit'"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(f"{this_command()} -V", shell=True, capture_output=True, text=True, env=environment)
    assert done.stdout.startswith("merit, version")
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(sys, "argv", [str(script)])
    assert this_command() == "merit"
    monkeypatch.setattr(sys, "argv", ["/somewhere/merit/__main__.py"])
    assert shlex.split(this_command()) == [sys.executable, "-m", "merit"]


# Results for programs


def test_results_can_be_read_by_programs(runs: Path, tmp_path: Path) -> None:
    result = merit("report", runs, "--out", tmp_path / "out", "--json")
    found = json.loads(result.stdout)
    assert found["runs"] == 6
    assert "main" in found["tables"]
    assert Path(found["report"]).is_file()
    assert Path(found["page"]).is_file()
    assert found["refused"] == []
    found = json.loads(
        merit("label", runs / "merit" / "seed0", "--out", tmp_path / "l.csv", "--write-only", "--json").output
    )
    assert found == {"file": str(tmp_path / "l.csv"), "failures": found["failures"], "labelled": 0, "written": True}
    assert found["failures"] > 0
    shutil.rmtree(tmp_path / "out")
