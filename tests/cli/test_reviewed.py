"""Reviewed runs as a person makes and reads them."""

import json
from pathlib import Path

import pytest

from making.benchmark import ITEMS, write_initial
from making.commands import good, merit, refused
from making.runs import Bench, make_bench
from merit.runs import read_run
from merit.types import ReviewOutcome


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that is wrong until it is shown a confirmed answer, and right from then on."""
    rules: list[dict[str, object]] = []
    for item in ITEMS:
        asked = f"QUESTION:\n{item.text}\n"
        rules += [
            {"contains": [asked, "[Confirmed answer 1]"], "reply": f"<answer>{item.reference}</answer>"},
            {"contains": asked, "reply": f"<answer>{item.wrong}</answer>"},
        ]
    path = tmp_path_factory.mktemp("script") / "script.jsonl"
    path.write_text("".join(json.dumps(rule) + "\n" for rule in rules))
    return path


def command(bench: Bench, script: Path, out: Path, *options: object) -> list[object]:
    initial = write_initial(bench.root.parent / "wrong.jsonl", ("wrong",))
    run = ["run", "spider", "--data", bench.root, "--protocol", "db", "--initial", initial, "--out", out]
    return [*run, "--model", f"scripted:{script}", "--method", "precedent", *options]


def test_a_correction_of_the_first_answer_makes_all_later_ones_right(
    bench: Bench, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the command line to the report: no reviews, then all of them."""
    runs = tmp_path / "runs"
    for share in ("0", "1"):
        said = good(*command(bench, script, runs / share, "--regime", "reviewed", "--review-share", share)).output
    assert "reviewed      12 answers: 11 confirmed, 0 rejected, 1 corrected" in said
    assert "right before  91.67% of 12 reviewed, 0.00% of 0 others" in said
    assert "by half       83.33% of 6, then 100.00% of 6" in said
    view = read_run(runs / "1")
    assert [turn.final_correct for turn in view.turns] == [False] + [True] * 11
    first, second = (turn.episode.task.question.id for turn in view.turns[:2])
    shown = good("show", runs / "1", first).output
    assert "wrong, and the simulated reviewer corrected it" in shown
    assert str(view.turns[0].review and view.turns[0].review.sql) in shown
    assert "and the simulated reviewer confirmed it" in good("show", runs / "1", second).output
    assert "wrong, not reviewed, so nothing was learned" in good("show", runs / "0", first).output
    record = json.loads(good("show", runs / "1", first, "--json").output)
    assert record["review"]["said"] == ReviewOutcome.CORRECTED
    assert record["recalled_later_by"][0] == str(second)
    listed = json.loads(good("show", runs / "1", "--json").output)["questions"]
    assert [one["review"] for one in listed] == ["corrected"] + ["confirmed"] * 11
    audited = good("audit", runs, "--data", bench.root).output
    assert "12 reviews drawn again (1 correction; no prompt showed its own question's, 0 prompts that of" in audited
    assert "all 2 runs hold" in audited
    monkeypatch.setattr("merit.cli.report.write_report", lambda _made, out: [out])  # the files take seconds
    monkeypatch.setattr("merit.cli.report.write_page", lambda *_: [])
    reported = good("report", runs, "--out", tmp_path / "report").output.splitlines()
    rows = [line.split() for line in reported if line.startswith("Precedent")]
    assert rows == [
        ["Precedent", "review", "0%", "0.00", "0.00", "--"],
        ["Precedent", "review", "100%", "corrections", "91.67", "100.00", "+100.00", "[+100.00,", "+100.00]"],
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--review-share", "0.3"], "--review-share: there is a reviewer only with --regime reviewed"),
        (["--review", "thumbs"], "--review: there is a reviewer only with --regime reviewed"),
        (["--regime", "reviewed"], "--regime reviewed: give --review-share too"),
        (["--regime", "reviewed", "--review", "thumbs"], "--regime reviewed: give --review-share too"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    bench: Bench, script: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    assert words in refused(*command(bench, script, tmp_path / "run", *options))
    assert not (tmp_path / "run").exists()


def test_a_share_is_not_a_percentage(bench: Bench, script: Path, tmp_path: Path) -> None:
    said = merit(*command(bench, script, tmp_path / "run", "--regime", "reviewed", "--review-share", "30"))
    assert said.exit_code == 2
    assert "Invalid value for '--review-share': '30' cannot be used; give a number, 0 to 1" in said.output
