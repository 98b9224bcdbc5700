"""Reviewed runs in a report: shares side by side, accuracy before feedback by part, pairs with no reviews."""

import shutil
from pathlib import Path

import pytest

from making.benchmark import FickleModel
from making.runs import make_bench
from merit.report import build
from merit.report.names import as_reviewed, method_label, method_order
from merit.report.page.follow import follow
from merit.report.page.pack import pack
from merit.report.report import Report
from merit.report.table import ReportTable
from merit.runs import ReviewPolicy, RunView
from merit.types import ReviewKind

SHARES = (0.0, 0.5, 1.0)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[float, int], RunView]:
    folder = tmp_path_factory.mktemp("runs")
    bench = make_bench(folder)
    return {
        (share, seed): bench.run(
            folder / f"{share}-{seed}",
            "precedent",
            model=FickleModel(luck=3),
            seed=seed,
            regime="reviewed",
            review=ReviewPolicy(share),
        )
        for share in SHARES
        for seed in (0, 1)
    }


@pytest.fixture(scope="module")
def report(runs: dict[tuple[float, int], RunView]) -> Report:
    return build(list(runs.values()))


def table(report: Report, name: str) -> ReportTable:
    return next(table for table in report.tables if table.id == name)


def test_shares_of_one_method_are_compared_in_one_group_by_increasing_share(report: Report) -> None:
    (group,) = report.groups
    assert [method_label(method) for method in group.methods] == [
        "Precedent (review 0%)",
        "Precedent (review 50% corrections)",
        "Precedent (review 100% corrections)",
    ]
    assert [note for note in report.notes if "difficulty" not in note] == [
        "Spider: runs with corrections hold reference answers, and so does the page: keep both from models and prompts "
        "that are scored on these questions"
    ]
    assert [row["method"].text for row in table(report, "main").rows] == [
        method_label(method) for method in group.methods
    ]


def test_shares_and_kinds_have_names_that_tell_them_apart(report: Report) -> None:
    (group,) = report.groups
    base = group.of("precedent:review 0%")[0].view.method
    policies = [
        ReviewPolicy(share, kind) for share in (0.05, 0.1, 1) for kind in (ReviewKind.CORRECTIONS, ReviewKind.THUMBS)
    ]
    methods = [as_reviewed(base, policy) for policy in policies]
    assert len({method.name for method in methods}) == 6
    assert sorted(methods, key=method_order) == methods
    assert as_reviewed(base, None) is base


def test_accuracy_is_that_before_feedback_in_every_part(report: Report, runs: dict[tuple[float, int], RunView]) -> None:
    for row, share in zip(table(report, "reviewed").rows, SHARES, strict=True):
        turns = [runs[share, seed].answers for seed in (0, 1)]
        second = [100 * sum(turn.final_correct for turn in answers[6:]) / 6 for answers in turns]
        assert row["second half"].value == pytest.approx(sum(second) / 2, abs=1e-5)
        seen = [[turn.final_correct for turn in answers if turn.review] for answers in turns]
        if share:
            expected = sum(100 * sum(rights) / len(rights) for rights in seen) / 2
            assert row["reviewed"].value == pytest.approx(expected, abs=1e-5)
            assert row["confirmed"].value == sum(map(sum, seen)) / 2
        else:
            assert row["reviewed"].text == "--"
        assert (row["not reviewed"].text == "--") == (share == 1)


def test_every_part_is_paired_with_the_same_questions_without_reviews(
    report: Report, runs: dict[tuple[float, int], RunView]
) -> None:
    rows = table(report, "reviewed_paired").rows
    parts = ["all", "first half", "second half", "reviewed", "not reviewed"]
    assert [row["part"].text for row in rows] == [*parts, *parts[:-1]]  # with all reviewed, nothing is left over
    for row, share in zip(rows, [0.5] * 5 + [1.0] * 4, strict=True):
        part = row["part"].text
        pairs = []
        for seed in (0, 1):
            base = {turn.episode.task.question.id: turn.final_correct for turn in runs[0.0, seed].answers}
            for place, turn in enumerate(runs[share, seed].answers):
                inside = {
                    "all": True,
                    "first half": place < 6,
                    "second half": place >= 6,
                    "reviewed": turn.review is not None,
                    "not reviewed": turn.review is None,
                }
                if inside[part]:
                    pairs.append((turn.final_correct, base[turn.episode.task.question.id]))
        ours, theirs = (100 * sum(side) / len(pairs) for side in zip(*pairs, strict=True))
        assert row["accuracy"].value == pytest.approx(ours, abs=1e-5)
        assert row["base"].value == pytest.approx(theirs, abs=1e-5)
        assert row["delta"].value == pytest.approx(ours - theirs, abs=1e-5)
        assert row["answers"].value == len(pairs)
        low, high = row["low"].value, row["high"].value
        assert isinstance(low, float)
        assert isinstance(high, float)
        assert low <= ours - theirs <= high


def test_without_a_run_that_nobody_reviewed_a_note_says_so(runs: dict[tuple[float, int], RunView]) -> None:
    made = build([runs[0.5, 0]])
    assert not any(table.id == "reviewed_paired" for table in made.tables)
    assert made.notes[0] == (
        "Spider: Precedent (review 50% corrections) is paired with nothing: there is no run with a share of 0"
    )


def test_other_regimes_have_no_such_table(tmp_path: Path) -> None:
    view = make_bench(tmp_path).run(tmp_path / "run", "precedent", regime="dbms_only")
    assert not [table.id for table in build([view]).tables if table.id.startswith("reviewed")]


def test_a_run_that_goes_on_is_followed_up_to_its_last_reviewed_answer(
    runs: dict[tuple[float, int], RunView], tmp_path: Path
) -> None:
    """An answer that is drawn for review is shown with what is said of it, and not before."""
    shutil.copytree(runs[1.0, 0].path, tmp_path / "run")
    reviews = tmp_path / "run" / "reviews.jsonl"
    lines = reviews.read_text().splitlines(keepends=True)
    reviews.write_text("".join(lines[:5]) + lines[5][:20])
    followed = follow(tmp_path / "run")
    assert followed.look()
    assert len(followed.packed.turns) == 5
    assert not followed.look()
    reviews.write_text("".join(lines))
    assert followed.look()
    assert followed.packed.turns == pack(runs[1.0, 0]).turns
