"""Runs as they lie on a disk: in folders of folders, damaged, not finished."""

import json
from pathlib import Path

import pytest

from making.reports import letters, questions, write_all
from merit.report import open_runs

KNOWN = {key: words for key, words in letters(6, 2, ("iterative", "merit")).items() if key[1] < 2}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    write_all(tmp_path / "runs", KNOWN, questions(6))
    return tmp_path / "runs"


def test_a_folder_of_runs_is_all_of_them_each_once(runs: Path) -> None:
    found, refused = open_runs([runs, runs / "merit", runs / "merit" / "seed0"])
    assert [view.path.relative_to(runs).as_posix() for view in found] == [
        "iterative/seed0", "iterative/seed1", "merit/seed0", "merit/seed1",
    ]  # fmt: skip
    assert refused == []


@pytest.mark.parametrize("place", ["nowhere", "empty"])
def test_a_place_without_runs_is_said(place: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert open_runs([tmp_path / place]) == (
        [], [f"{tmp_path / place}: there is no run here, nor in a folder below (no manifest.json)"]
    )  # fmt: skip


@pytest.mark.parametrize("name", ["manifest.json", "stream.json", "trajectories.jsonl", "metrics.json"])
def test_a_link_that_leads_nowhere_takes_no_other_run_down(runs: Path, name: str) -> None:
    bad = runs / "merit" / "seed0" / name
    bad.unlink()
    bad.symlink_to("a" * 300)
    for given in ([runs], [runs / "iterative", runs / "merit" / "seed0", runs / "merit" / "seed1"]):
        found, refused = open_runs(given)
        assert len(found) == 3
        (why,) = refused
        assert str(bad) in why


def test_a_run_that_is_not_finished_is_left_out_unless_wanted(runs: Path) -> None:
    one = runs / "merit" / "seed0"
    (one / "metrics.json").unlink()
    lines = (one / "trajectories.jsonl").read_text().splitlines(keepends=True)
    (one / "trajectories.jsonl").write_text("".join(lines[:4]) + lines[4][:30])
    found, refused = open_runs([runs])
    assert len(found) == 3
    assert refused == [
        f"{one}: not finished (4 turns so far); finish it first (a report can show what is there, with --unfinished)"
    ]
    found, refused = open_runs([one], unfinished=True)
    assert (len(found[0].turns), refused) == (4, [])


def test_metrics_that_do_not_follow_from_the_turns_are_not_believed(runs: Path) -> None:
    path = runs / "merit" / "seed1" / "metrics.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "correct": 6}))
    found, refused = open_runs([runs])
    assert len(found) == 3
    assert refused == [f"{path}: does not follow from the turns; `merit audit` says more"]


def test_a_finished_run_without_its_turns_is_said(runs: Path) -> None:
    path = runs / "merit" / "seed1" / "trajectories.jsonl"
    path.unlink()
    found, refused = open_runs([runs])
    assert len(found) == 3
    assert refused == [f"{path}: no such file, though the run is finished; put it back, or run it again"]


DAMAGE = {
    "manifest.json": "{",
    "stream.json": "{}",
    "trajectories.jsonl": '{"format": 1}\n',
    "metrics.json": "[1]",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_one_sentence_and_the_others_are_read(name: str, runs: Path) -> None:
    (runs / "iterative" / "seed0" / name).write_text(DAMAGE[name])
    found, refused = open_runs([runs])
    assert len(found) == 3
    (said,) = refused
    assert said.startswith(str(runs / "iterative" / "seed0"))
    assert "\n" not in said


def test_a_file_that_is_no_text_is_one_sentence(runs: Path) -> None:
    (runs / "iterative" / "seed0" / "trajectories.jsonl").write_bytes(b"\xff\xfe\n")
    found, (said,) = open_runs([runs])
    assert len(found) == 3
    assert "not UTF-8" in said
