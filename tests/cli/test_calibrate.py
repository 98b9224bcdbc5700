"""`merit calibrate`, and where its file is used."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from making.commands import good, merit, refused
from making.runs import make_bench
from making.tampering import reidentify
from merit.agent.confidence import read_calibration
from merit.cli import voted
from merit.errors import counted
from merit.report import writing
from merit.report.calibrate import outcomes_of
from merit.runs import read_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs over the small benchmark: two that vote, and some that do not belong to them."""
    folder = tmp_path_factory.mktemp("voting")
    bench = make_bench(folder)
    for seed in (0, 1):
        bench.run(folder / "votes" / f"seed{seed}", "resample", regime="dbms_only", seed=seed)
    bench.run(folder / "grounded", "resample:grounds=true", regime="dbms_only")
    bench.run(folder / "shorter", "resample", regime="dbms_only", budget=3)
    bench.run(folder / "told", "resample")
    bench.run(folder / "silent", "iterative", regime="dbms_only")
    return folder


def test_it_writes_a_calibration_and_says_what_it_is(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "calibration.json"
    result = good("calibrate", runs / "votes", "--out", out)
    fitted = read_calibration(out)
    assert (fitted.questions, fitted.answers, fitted.method) == (12, 24, "resample")
    outcomes = [one for seed in (0, 1) for one in outcomes_of(read_run(runs / "votes" / f"seed{seed}"))]
    before = sum((share - right) ** 2 for share, right in outcomes) / 24
    after = sum((fitted.confidence(share) - right) ** 2 for share, right in outcomes) / 24
    assert result.stdout == (
        f"{out}: calibrated on 12 questions of spider dev (protocol db, DISTINCT kept), model fickle (6), prompts "
        f"merit-prompts-v3, method resample; 2 runs, 24 answers, {counted(len(fitted.knots), 'knot')}; Brier score {before:.4f} "
        f"before and {after:.4f} after\n"
    )
    assert "12 questions are few; 200 or more make it reliable" in result.stderr
    assert "do not judge it by them" in result.stderr


def test_as_json(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "calibration.json"
    found: dict[str, Any] = json.loads(good("calibrate", runs / "votes" / "seed0", "--out", out, "--json").stdout)
    assert list(found) == ["file", "questions", "answers", "brier_before", "brier_after", "calibration"]
    assert found["calibration"] == json.loads(out.read_text()) == read_calibration(out).record()
    again = out.read_bytes()
    good("calibrate", runs / "votes" / "seed0", "--out", out)  # over an earlier calibration
    assert out.read_bytes() == again


@pytest.mark.parametrize(
    ("others", "why"),
    [
        (["silent"], "{0}: the method 'iterative' does not vote; give runs of resample or precedent made with"),
        (["told"], "{0}: its regime is denotation_confirmed, where candidates do not vote; give runs of resample"),
        (["votes", "grounded"], "{1}: cannot share a calibration with {0}/seed0: the method is"),
        (["votes", "shorter"], "{1}: cannot share a calibration with {0}/seed0: the budget is 7 there and 3 here"),
        (["none"], "{0}: there is no run here"),
    ],
)
def test_runs_that_do_not_fit_are_refused(runs: Path, tmp_path: Path, others: list[str], why: str) -> None:
    folders = [runs / name for name in others]
    said = refused("calibrate", *folders, "--out", tmp_path / "calibration.json")
    assert said.startswith(why.format(*folders))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("part", "field", "differs"),
    [
        ("model", "name", "the model is"),
        ("model", "revision", "the model's revision is"),
        ("prompts", "family", "prompts family is"),
    ],
)
def test_other_models_and_prompts_are_refused(runs: Path, tmp_path: Path, part: str, field: str, differs: str) -> None:
    other = tmp_path / "other"
    shutil.copytree(runs / "votes" / "seed1", other)
    reidentify(other, lambda identity: identity[part].update({field: "another"}))
    said = refused("calibrate", runs / "votes" / "seed0", other, "--out", tmp_path / "calibration.json")
    assert said.startswith(f"{other}: cannot share a calibration with {runs / 'votes' / 'seed0'}: {differs}")


def test_a_run_is_given_once_and_finished(runs: Path, tmp_path: Path) -> None:
    first, copy = runs / "votes" / "seed0", tmp_path / "copy"
    shutil.copytree(first, copy)
    said = refused("calibrate", first, copy, "--out", tmp_path / "calibration.json")
    assert said == f"{copy}: is the same run as {first}; give each run once"
    (copy / "metrics.json").unlink()
    assert refused("calibrate", copy, "--out", tmp_path / "c.json").startswith(f"{copy}: not finished (12 turns of 12)")


def test_nothing_else_is_written_over(runs: Path, tmp_path: Path) -> None:
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("years of work")
    said = refused("calibrate", runs / "votes", "--out", thesis)
    assert said == f"{thesis}: is there already, and is not a calibration; choose another --out"
    assert thesis.read_text() == "years of work"
    assert "choose another --out" in refused("calibrate", runs / "votes", "--out", tmp_path / "none" / "c.json")


def test_a_report_takes_it(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "draw", lambda _: {})  # pictures take seconds
    out = tmp_path / "calibration.json"
    good("calibrate", runs / "votes", "--out", out)
    result = good("report", runs / "votes", "--out", tmp_path / "report", "--calibration", out)
    assert "the calibration was fitted on this same data" in result.stderr
    written = (tmp_path / "report" / "report.md").read_text()
    assert "calibrated on 12 questions of spider dev" in written
    assert "figures/reliability-spider.svg" in written
    out.write_text("{}")
    said = refused("report", runs / "votes", "--out", tmp_path / "report", "--calibration", out)
    assert said == f"{out}: not a calibration; give a file that `merit calibrate` wrote"


def test_show_says_how_many_votes_an_answer_got(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs / "votes" / "seed0"
    turn = next(turn for turn in read_run(run).answers if turn.episode.final.verdict.satisfied)
    question, attempts = turn.episode.task.question.id, turn.episode.attempts
    own = sum(attempt.verdict.result == turn.episode.final.verdict.result for attempt in attempts)
    shown = good("show", run, question).stdout
    assert f"\n{own} of {len(attempts)} votes (not calibrated)\n" in shown
    record = json.loads(good("show", run, question, "--json").stdout)["confidence"]
    assert record == {"share": own / len(attempts), "calibrated": None, "calibrated_on": None}
    good("calibrate", runs / "votes", "--out", tmp_path / "calibration.json")
    fitted = read_calibration(tmp_path / "calibration.json")
    monkeypatch.setattr(voted, "find_calibration", lambda *_: fitted)
    worth = f"confidence {fitted.confidence(own / len(attempts)):.0%}, calibrated on 12 questions of spider dev"
    assert f"{own} of {len(attempts)} votes ({worth}" in good("show", run, question).stdout.replace("\n", " ")
    assert "votes (" not in good("show", runs / "silent", question).stdout
    assert "confidence" not in json.loads(good("show", runs / "told", question, "--json").stdout)


def test_it_needs_a_run_and_a_place() -> None:
    assert merit("calibrate").exit_code == 2
