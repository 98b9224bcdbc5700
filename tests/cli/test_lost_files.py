"""Data that cannot be used, runs that lost a file, files that are replaced: one sentence each."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from making.benchmark import build
from making.runs import make_bench
from merit.cli.main import cli


def typed(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "data")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_bench(tmp_path / "bench").run(tmp_path / "runs" / "merit", limit=3).path


def test_data_check_names_an_entry_without_a_reference(root: Path) -> None:
    records = json.loads((root / "dev.json").read_text())
    del records[2]["query"]
    (root / "dev.json").write_text(json.dumps(records))
    found = typed("data", "check", "spider", "--data", root)
    assert found.exit_code == 1
    assert "dev.json, entry 2: the field 'query' is missing" in str(found.exception)


def test_data_check_refuses_data_that_cannot_be_judged(root: Path) -> None:
    shutil.rmtree(root / "database")
    found = typed("data", "check", "spider", "--data", root)
    assert (found.exit_code, "no question has its database" in str(found.exception)) == (1, True)
    (root / "dev.json").write_text("[]")
    found = typed("data", "check", "spider", "--data", root)
    assert (found.exit_code, "dev.json: holds no question" in str(found.exception)) == (1, True)


def test_a_missing_tables_file_is_named(root: Path) -> None:
    (root / "tables.json").unlink()
    found = typed("data", "check", root)
    assert found.exit_code == 1
    assert f"{root / 'tables.json'}: no such file; spider needs it beside dev.json" in str(found.exception)


def test_a_run_that_lost_its_trajectories_is_not_shown_as_empty(run: Path) -> None:
    (run / "trajectories.jsonl").unlink()
    found = typed("show", run)
    assert found.exit_code == 1
    assert "trajectories.jsonl: no such file, though the run is finished" in str(found.exception)


def test_an_empty_manifest_says_what_to_do(run: Path) -> None:
    (run / "manifest.json").write_text("")
    found = typed("show", run)
    assert found.exit_code == 1
    assert "manifest.json: is empty, so the run cannot be read; remove its folder" in str(found.exception)


def test_an_export_replaces_a_file_only_where_it_is_told_to(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "entries.jsonl"
    out.write_text("mine")
    found = typed("memory", "export", run, "--out", out)
    assert str(found.exception) == f"{out}: is there already; name a new file, or write over it with --replace"
    assert out.read_text() == "mine"
    assert typed("memory", "export", run, "--out", out, "--replace").exit_code == 0
    assert out.read_text() != "mine"
