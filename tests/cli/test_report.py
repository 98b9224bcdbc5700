"""`merit report` and `merit label`, as a person uses them."""

import base64
import csv
import fcntl
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from making.benchmark import ITEMS
from making.commands import merit, refused
from making.endpoint import ChatServer
from making.grids import answering, run_grid, write_grid
from making.reports import letters, questions, write_all
from making.runs import make_bench
from merit.report.names import FAILURES


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    known = letters(12, 4, ("iterative", "merit"))
    write_all(tmp_path / "runs", known, questions(12))
    return tmp_path / "runs"


def test_a_grid_is_reported_as_it_lies_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bench(tmp_path)
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert run_grid(write_grid(tmp_path, seeds=[0, 1])).exit_code == 0
    result = merit("report", tmp_path / "runs", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "8 runs, " in result.stdout
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["refused"] == []
    main = next(table for table in report["tables"] if table["id"] == "main")
    metrics = {
        path.parent.parent.name: json.loads(path.read_text())
        for path in (tmp_path / "runs").rglob("seed0/metrics.json")
    }
    assert len(main["rows"]) == len(metrics) == 4
    assert main["rows"][0]["initial"]["value"] == pytest.approx(metrics["iterative"]["initial_accuracy"], abs=0.01)
    text = (tmp_path / "out" / "report.md").read_text() + (tmp_path / "out" / "report.json").read_text()
    assert not any(item.reference in text for item in ITEMS)
    cost = next(table for table in report["tables"] if table["id"] == "cost")
    assert all(row["wall_s"]["value"] is not None for row in cost["rows"])
    assert "money" not in cost["rows"][0]


def test_prices_make_money(runs: Path, tmp_path: Path) -> None:
    prices = ["--prices", "0.15", "0.6"]
    assert merit("report", runs, "--out", tmp_path / "out", *prices).exit_code == 0
    assert "money_extra" in (tmp_path / "out" / "tables" / "cost.csv").read_text()
    old = merit("report", runs, "--out", tmp_path / "out", "--price-prompt", "1")
    assert old.exit_code == 2
    assert "Did you mean '--prices'?" in old.output
    for wrong in ("nan", "-1", "x"):
        assert merit("report", runs, "--out", tmp_path / "out", "--prices", "1", wrong).exit_code == 2


def test_a_run_that_another_process_makes_is_to_be_waited_for(runs: Path, tmp_path: Path) -> None:
    run = runs / "merit" / "seed1"
    (run / "metrics.json").unlink()
    with (run / "run.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = merit("report", runs, "--out", tmp_path / "out").stderr
    assert said.startswith(f"merit: {run}: not finished (12 turns so far); another process is at it: wait for it (")


def test_a_damaged_run_is_said_and_the_rest_reported(runs: Path, tmp_path: Path) -> None:
    (runs / "merit" / "seed0" / "stream.json").write_text("{}")
    (runs / "merit" / "seed1" / "metrics.json").unlink()
    result = merit("report", runs, tmp_path / "nowhere", "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        f"merit: {tmp_path / 'nowhere'}: there is no run here, nor in a folder below (no manifest.json)",
        f"merit: {runs / 'merit' / 'seed0' / 'stream.json'}: is not the stream that the manifest names; it was edited",
        f"merit: {runs / 'merit' / 'seed1'}: not finished (12 turns so far); finish it first (a report can show what is "
        "there, with --unfinished)",
    ]
    assert result.stdout.startswith("4 runs, ")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [f"merit: {said}" for said in report["refused"]] == result.stderr.splitlines()
    assert "it was edited" in (tmp_path / "out" / "report.md").read_text()
    again = merit("report", runs, "--out", tmp_path / "out", "--unfinished")
    assert again.stdout.startswith("5 runs, ")


def test_a_folder_whose_name_is_not_utf8_takes_no_report_down(runs: Path, tmp_path: Path) -> None:
    (runs / "merit" / "seed0").rename(runs / "merit" / os.fsdecode(b"seed\xff"))
    for more in ((), ("--json",)):
        result = merit("report", runs, "--out", tmp_path / "out", *more)
        assert result.exit_code == 0, result.exception
    (overview,) = re.findall(r'data-chunk="overview">([^<]*)<', (tmp_path / "out" / "report.html").read_text())
    assert "seed?" in gzip.decompress(base64.b64decode(overview)).decode()


def test_a_run_whose_recalls_are_damaged_is_said_and_left_out(tmp_path: Path) -> None:
    bench = make_bench(tmp_path / "bench")
    for seed in (0, 1):
        bench.run(tmp_path / "runs" / f"{seed}", "precedent", seed=seed)
    log = tmp_path / "runs" / "0" / "retrievals.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([*lines[:3], "{}\n", *lines[4:]]))
    result = merit("report", tmp_path / "runs", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert f"left out, {log}, line 4: is not a recall of question" in result.stderr
    assert result.stdout.startswith("1 run, ")
    assert (tmp_path / "out" / "report.html").is_file()


def test_a_similarity_that_is_no_number_does_not_end_the_report(tmp_path: Path) -> None:
    bench = make_bench(tmp_path / "bench")
    for seed in (0, 1):
        bench.run(tmp_path / "runs" / f"{seed}", "precedent", seed=seed)
    log = tmp_path / "runs" / "0" / "retrievals.jsonl"
    text, times = re.subn(r'"dense":-?[0-9][^,]*', '"dense":NaN', log.read_text(), count=1)
    assert times == 1
    log.write_text(text)
    result = merit("report", tmp_path / "runs", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert f"{tmp_path / 'runs' / '0'}: left out, {log}, line " in result.stderr
    assert "NaN is not a finite number" in result.stderr
    assert result.stdout.startswith("1 run, ")


def test_nothing_to_report_is_exit_1(tmp_path: Path) -> None:
    result = merit("report", tmp_path, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "there is no run here" in result.stderr
    assert not (tmp_path / "out").exists()
    assert "nothing to report" in refused("report", "--out", tmp_path / "out")


def test_a_method_that_is_none_is_said_before_anything_is_read(runs: Path, tmp_path: Path) -> None:
    assert "did you mean 'iterative'" in refused("report", runs, "--out", tmp_path / "out", "--against", "iterativ")


def test_a_place_that_cannot_be_written_is_said(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refused("report", runs, "--out", tmp_path / "file")


def test_help_does_not_wait_for_what_only_reports_need() -> None:
    code = "import sys, merit.cli.main; print([name for name in ('scipy', 'matplotlib') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def labelled(path: Path) -> list[str]:
    with path.open(newline="") as file:
        return [row["human"] for row in csv.DictReader(file)]


def test_labels_are_written_filled_and_reported(runs: Path, tmp_path: Path) -> None:
    run, out = runs / "merit" / "seed0", tmp_path / "labels.csv"
    result = merit("label", run, "--out", out, "--n", 4, "--write-only")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{out}: written, with 4 rows; 0 of 4 failures are labelled. ")
    assert labelled(out) == [""] * 4
    assert "nothing is labelled yet" in refused("report", "--labels", out, "--out", tmp_path / "out")
    # The first is named, the second skipped, the third named wrongly, gone back to, looked up and named again; then a
    # key that means nothing, and the end.
    result = merit("label", run, "--out", out, "--fill", given="1s2bd3xq")
    assert result.exit_code == 0, result.output
    assert "schema of " in result.stdout
    types = list(FAILURES)
    assert labelled(out) == [types[0], "", types[2], ""]
    assert result.stdout.endswith("2 of 4 failures are labelled\n")
    result = merit("label", run, "--out", out, "--fill", given="6")  # goes on with the first that is missing
    assert labelled(out) == [types[0], types[5], types[2], ""]
    result = merit("report", "--labels", out, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    with (tmp_path / "out" / "tables" / "classifier.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["dataset"], row["labels"]) == ("Spider", "3")


def test_labels_are_never_overwritten(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels.csv"
    merit("label", runs / "merit" / "seed0", "--out", out, "--n", 4, "--fill", given="1")
    before = out.read_bytes()
    assert "labels of another run" in refused("label", runs / "merit" / "seed1", "--out", out)
    assert "holds another sample" in refused("label", runs / "merit" / "seed0", "--out", out, "--n", 3)
    assert merit("label", runs / "merit" / "seed0", "--out", out, "--n", 4, "--write-only").exit_code == 0
    assert out.read_bytes() == before


def test_references_need_the_runs_own_data(tmp_path: Path) -> None:
    view = make_bench(tmp_path / "one").run(tmp_path / "runs" / "one", "iterative")
    other = make_bench(tmp_path / "two", canary="other").root
    out = ("--out", tmp_path / "out")
    for command in (("report", view.path, *out), ("show", view.path, "1")):
        assert "give --data its folder" in refused(*command, "--with-references")
        assert f"{other} holds another spider dev: its content hash is " in refused(
            *command, "--with-references", "--data", other
        )
        assert "give both, or neither" in refused(*command, "--data", other)
        assert "nowhere" in refused(*command, "--with-references", "--data", tmp_path / "nowhere")
    assert not (tmp_path / "out" / "report.html").exists()
    found = merit("show", view.path, "0", "--with-references", "--data", other, "--data", tmp_path / "one" / "data")
    assert found.exit_code == 0, found.output
    assert ITEMS[0].reference in found.output
    assert "first rows on shop.sqlite; where they differ" in found.output
    assert merit("show", view.path, "0").output.count(ITEMS[0].reference) < found.output.count(ITEMS[0].reference)
