"""How good confidences are: every number by hand, and what the report says of voted answers."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from making.outcomes import NO_COLUMN, Course, Tried, write_run
from making.reports import questions
from making.runs import make_bench
from merit.agent.confidence import Calibration, Knot
from merit.report import Report, ReportTable, build, write_report
from merit.report.calibrate import calibrate, outcomes_of
from merit.report.calibration_quality import brier, calibration_error, confidence_bins, kept_accuracy
from merit.report.statistics import wilson
from merit.runs import RunView
from merit.types import ModelIdentity, Status, Verdict

# Four questions, `r` is the right result and `-` failed: shares 4/4, 2/4, 2/4 and 1/4, of which 1, 1, 0 and 0 right
VOTES = ("rrrr", "rr-w", "wwrx", "w---")
STATED = [(1.0, True), (0.5, True), (0.5, False), (0.25, False)]
CALIBRATION = Calibration(
    ModelIdentity("qwen", "r1"), "v3", "resample", "some questions", ("e" * 64,), 9, 9, (Knot(0.5, 0.4), Knot(1.0, 0.8))
)


def course(question: int, letters: str) -> Course:
    """A candidate for each letter."""
    verdicts = [NO_COLUMN if letter == "-" else Verdict(Status.EXECUTED, result=letter) for letter in letters]
    return [Tried(f"SELECT {question if i == 0 else i}", verdict) for i, verdict in enumerate(verdicts)]


def voted(folder: Path, words: tuple[str, ...] = VOTES, method: str = "resample", **identity: Any) -> RunView:
    """A run in dbms_only in which candidates voted so."""
    asked = questions(len(words))
    courses = {one.id: course(i, word) for i, (one, word) in enumerate(zip(asked, words, strict=True))}
    settings: dict[str, Any] = {"regime": "dbms_only", **identity}
    return write_run(folder, asked, method, courses, right=lambda _, attempt: attempt.verdict.result == "r", **settings)


def table(report: Report, name: str) -> ReportTable:
    return next(one for one in report.tables if one.id == name)


# Numbers by hand


def test_the_brier_score_is_the_mean_squared_difference() -> None:
    assert brier(STATED) == pytest.approx((0 + 0.25 + 0.25 + 0.0625) / 4)
    assert brier([(1.0, True), (0.0, False)]) == 0.0
    assert brier([(0.5, True), (0.5, False)]) == 0.25


def test_bins_have_equal_width_and_edges_belong_to_the_one_above() -> None:
    found = confidence_bins([(0.0, False), (0.05, True), (0.1, True), (0.95, True), (1.0, False)])
    assert [(one.low, one.high, one.answers, one.right) for one in found] == [
        (0.0, 0.1, 2, 1),
        (0.1, 0.2, 1, 1),
        (0.9, 1.0, 2, 1),
    ]
    assert [one.stated for one in found] == pytest.approx([0.025, 0.1, 0.975])
    assert found[0].accuracy == 0.5


def test_the_calibration_error_is_the_mean_gap_over_bins() -> None:
    assert calibration_error(STATED) == pytest.approx((1 * 0 + 2 * 0 + 1 * 0.25) / 4)
    assert calibration_error([(0.9, False), (0.9, True), (0.2, True)]) == pytest.approx((2 * 0.4 + 0.8) / 3)


@pytest.mark.parametrize(
    ("coverage", "right"),
    [(1.0, 2 / 4), (0.75, 2 / 3), (0.5, (1 + 0.5) / 2), (0.25, 1.0), (0.9, 2 / 3.6), (0.1, 1.0)],
)
def test_the_least_sure_are_left_out_and_ties_count_in_part(coverage: float, right: float) -> None:
    for _ in range(5):
        random.Random(coverage).shuffle(shuffled := list(STATED))
        assert kept_accuracy(shuffled, coverage) == pytest.approx(right)


def test_wilsons_interval_by_its_formula() -> None:
    hits, size, z = 7, 10, 1.959964
    middle = (hits / size + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * (0.7 * 0.3 / size + z**2 / (4 * size**2)) ** 0.5
    assert wilson(hits, size) == pytest.approx((middle - half, middle + half))
    assert wilson(0, 3)[0] == 0.0


# The report


def test_the_table_of_confidences(tmp_path: Path) -> None:
    view = voted(tmp_path / "run")
    assert sorted(outcomes_of(view)) == sorted(STATED)
    report = build([view], calibration=CALIBRATION)
    (row,) = table(report, "confidence").rows
    assert {key: cell.value for key, cell in row.items()} == {
        "dataset": "Spider",
        "method": "Resample",
        "share": 56.25,
        "without_0": 50.0,
        "without_10": pytest.approx(100 * 2 / 3.6),
        "without_25": pytest.approx(100 * 2 / 3),
        "without_50": 75.0,
        "brier_share": pytest.approx(0.140625),
        "brier_calibrated": pytest.approx((0.2**2 + 0.6**2 + 0.4**2 + 0.4**2) / 4),
        "error_share": pytest.approx(6.25),
        "error_calibrated": pytest.approx(100 * (0.2 + 3 * (0.4 - 1 / 3)) / 4),
        "seeds": 1,
    }
    note = table(report, "confidence").note
    assert "Spider: calibrated on some questions, model qwen (r1), prompts v3, method resample." in note
    assert all("same data" not in sentence for sentence in report.notes)


def test_the_bins_and_their_figures(tmp_path: Path) -> None:
    report = build([voted(tmp_path / "run")], calibration=CALIBRATION)
    rows = [
        tuple(row[key].value for key in ("kind", "bin", "answers", "stated", "right"))
        for row in table(report, "reliability").rows
    ]
    assert rows == [
        ("share of votes", "20-30", 1, 25.0, 0.0),
        ("share of votes", "50-60", 2, 50.0, 50.0),
        ("share of votes", "90-100", 1, 100.0, 100.0),
        ("calibrated", "40-50", 3, 40.0, pytest.approx(33.333333)),
        ("calibrated", "80-90", 1, 80.0, 100.0),
    ]
    figures = {figure.id: figure for figure in report.figures}
    reliability, coverage = figures["reliability-spider"], figures["coverage-spider"]
    guide, share, calibrated = reliability.series
    assert guide.guide
    assert (share.name, share.x, share.y, share.counts) == (
        "Resample",
        (25.0, 50.0, 100.0),
        (0.0, 50.0, 100.0),
        (1, 2, 1),
    )
    assert (calibrated.name, calibrated.counts) == ("Resample, calibrated", (3, 1))
    assert (reliability.beside, coverage.beside) == ("reliability", "confidence")
    (curve,) = coverage.series
    assert dict(zip(curve.x, curve.y, strict=True))[50.0] == 75.0
    assert (curve.x[-1], curve.y[-1]) == (100.0, 50.0)


def test_everything_is_in_every_format(tmp_path: Path) -> None:
    report = build([voted(tmp_path / "run")])
    figures = tuple(one for one in report.figures if one.id.startswith(("reliability", "coverage")))
    write_report(replace(report, figures=figures), tmp_path / "report")
    names = {path.name for path in (tmp_path / "report").rglob("*")}
    for table_id in ("confidence", "reliability"):
        assert {f"{table_id}.{kind}" for kind in ("md", "tex", "csv", "json")} <= names
    for figure in ("reliability-spider", "coverage-spider"):
        assert {f"{figure}.svg", f"{figure}.png"} <= names
    assert "As sure as right" in (tmp_path / "report" / "figures" / "reliability-spider.svg").read_text()
    recorded = json.loads((tmp_path / "report" / "report.json").read_text())["figures"]
    assert next(one for one in recorded if one["id"] == "reliability-spider")["series"][1]["counts"] == [1, 2, 1]


@pytest.mark.parametrize(
    ("calibration", "said"),
    [
        (None, "Spider: not calibrated; there is no calibration of qwen with v3."),
        (
            replace(CALIBRATION, prompts="v4"),
            "Spider: not calibrated; the given calibration is of the model qwen with prompts v4, and these runs are of "
            "qwen with v3.",
        ),
    ],
)
def test_without_a_calibration_that_applies_it_says_so(
    tmp_path: Path, calibration: Calibration | None, said: str
) -> None:
    report = build([voted(tmp_path / "run")], calibration=calibration)
    found = table(report, "confidence")
    assert said in found.note
    assert found.rows[0]["brier_calibrated"].value is None
    assert not any(column.shown for column in found.columns if column.key.endswith("_calibrated"))
    assert {row["kind"].value for row in table(report, "reliability").rows} == {"share of votes"}


def test_a_calibration_of_another_method_is_used_and_named(tmp_path: Path) -> None:
    runs = [voted(tmp_path / method, method=method) for method in ("resample", "precedent")]
    found = table(build(runs, calibration=CALIBRATION), "confidence")
    assert "It was not fitted on Precedent, whose shares may be worth something else." in found.note
    assert all(row["brier_calibrated"].value is not None for row in found.rows)
    assert "not fitted on" not in table(build(runs[:1], calibration=CALIBRATION), "confidence").note


def test_a_calibration_is_not_judged_on_its_own_questions_in_silence(tmp_path: Path) -> None:
    runs = [voted(tmp_path / "run")]
    (note,) = [one for one in build(runs, calibration=calibrate(runs)).notes if "calibration" in one]
    assert note == (
        "Spider: the calibration was fitted on this same data, so its scores are better than they would be on other "
        "questions"
    )


def test_where_nobody_votes_there_is_no_such_table(tmp_path: Path) -> None:
    ends = ("r", "r", "w", "w")
    told = voted(tmp_path / "told", ends, "resample", regime="denotation_confirmed")
    silent = voted(tmp_path / "silent", ends, "zero_shot")
    for report in (build([told]), build([silent])):
        assert {"confidence", "reliability"} & {one.id for one in report.tables} == set()
        assert [one.id for one in report.figures if one.id.startswith(("reliability", "coverage"))] == []


@pytest.mark.parametrize("method", ["resample", "precedent_grounded"])
def test_a_real_run_without_references_is_calibrated_and_reported(tmp_path: Path, method: str) -> None:
    view = make_bench(tmp_path).run(tmp_path / "run", method, regime="dbms_only")
    calibration = calibrate([view])
    assert (calibration.questions, calibration.answers) == (12, 12)
    assert calibration.data == "12 questions of spider dev (protocol db, DISTINCT kept)"
    assert calibration.applies("fickle", "merit-prompts-v3")
    (row,) = table(build([view], calibration=calibration), "confidence").rows
    assert row["without_0"].value == pytest.approx(100 * sum(turn.final_correct for turn in view.answers) / 12)
    assert row["brier_calibrated"].value is not None
