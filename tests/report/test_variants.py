"""Methods beyond the paper and variants of any: what they are called, where they stand, and how their draws are counted."""

import random
import re
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from making.outcomes import Tried, write_run
from making.reports import VERDICTS, course, letters, questions
from merit.agent import METHODS, RELATED, find_method
from merit.report import Report, ReportTable, build, write_report
from merit.report.names import ABLATIONS, method_label
from merit.runs import RunView, account
from merit.types import QuestionId

SIZE = 24
SEEDS = (0, 1, 2)
ASKED = questions(SIZE)
DRAWN = "merit:temperature=0.8,draws=2"
HISTORY = "precedent:history=true,precedents=2"
DRAWS = {"iterative": 1, "resample": 3, DRAWN: 2, HISTORY: 3}
Words = dict[tuple[str, int], dict[QuestionId, str]]  # small letters: a candidate that was set aside


def words(seed: int) -> Words:
    """Random verdicts, up to 7 candidates and as many draws as a method has; a small letter is a repeat."""
    draw = random.Random(seed)
    first = {question.id: draw.choice("RWWCS") for question in ASKED}
    found: Words = {}
    for method, draws in DRAWS.items():
        for one in SEEDS:
            found[method, one] = {}
            for question, letter in first.items():
                word = letter
                while word[-1] != "R" and len(word) <= 7 * draws and sum(map(str.isupper, word[1:])) < 7:
                    word += draw.choice("RWC" if draws == 1 else "RWwwccs")
                found[method, one][question] = word
    return found


def write(path: Path, method: str, seed: int, known: dict[QuestionId, str]) -> RunView:
    courses = {}
    for question, word in known.items():
        courses[question] = [
            Tried(f"SELECT {question}, {step}", VERDICTS[letter.upper()], 100 + step, 10, letter.islower())
            for step, letter in enumerate(word)
        ]
    return write_run(path, ASKED, find_method(method), courses, seed=seed)


@pytest.fixture(scope="module", params=[1, 2])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Words, Report]:
    known, folder = words(request.param), tmp_path_factory.mktemp("runs")
    return known, build([write(folder / f"{i}", *key, one) for i, (key, one) in enumerate(known.items())])


def table(report: Report, name: str) -> ReportTable:
    return next(one for one in report.tables if one.id == name)


def label(method: str) -> str:
    return method_label(find_method(method))


def test_every_method_has_a_name_and_a_variant_says_what_it_changes() -> None:
    names = {name: label(name) for name in [*METHODS, *RELATED]}
    assert len(set(names.values())) == len(METHODS) + len(RELATED)
    assert not any("_" in name for name in names.values())
    assert (names["resample"], names["precedent"]) == ("Resample", "Precedent")
    assert label(HISTORY) == "Precedent (history=true, precedents=2)"
    assert label("transductive_batch:positives=1") == "Transductive batch (positives=1) (not online)"
    assert not any("resample" in name or "precedent" in name for name in ABLATIONS)


def test_variants_stand_after_what_they_vary_and_all_seeds_of_draws_together(made: tuple[Words, Report]) -> None:
    _, report = made
    assert (report.refused, len(report.groups)) == ((), 1)
    main = table(report, "main")
    assert [one["method"].text for one in main.rows] == ["Iterative", label(DRAWN), "Resample", label(HISTORY)]
    assert [one["seeds"].value for one in main.rows] == [3] * 4
    paired = build([run.view for run in report.groups[0].all_runs()], against=HISTORY)
    assert {one["method"].text for one in table(paired, "paired").rows} == {"Iterative", label(DRAWN), "Resample"}
    assert table(paired, "paired").title == f"Paired comparison with {label(HISTORY)}"


def test_repairs_by_step_go_on_after_the_budget(made: tuple[Words, Report]) -> None:
    known, report = made
    found = table(report, "steps")
    heads = ["1", "2", "3", "4", "5", "6", "7", "8-14", "15-21", "All", "Set aside"]
    assert [column.label for column in found.columns[2:]] == heads
    figure = next(one for one in report.figures if one.id == "steps-spider")
    for method, draws in DRAWS.items():
        one = next(row for row in found.rows if row["method"].text == label(method))
        ended = [[len(word) - 1 for word in known[method, s].values() if word[-1] == "R" != word[0]] for s in SEEDS]
        for first, last in [*((step, step) for step in range(1, 8)), (8, 14), (15, 21)]:
            expected = statistics.mean(sum(first <= step <= last for step in run) for run in ended)
            value = one[f"step_{first}"].value
            assert value == (pytest.approx(expected, abs=1e-6) if first <= 7 * draws else None)
        assert one["all"].value == pytest.approx(statistics.mean(map(len, ended)), abs=1e-6)
        repeats = [sum(letter.islower() for word in known[method, s].values() for letter in word) for s in SEEDS]
        assert one["repeats"].value == pytest.approx(statistics.mean(repeats), abs=1e-6)
        curve = next(series for series in figure.series if series.name == label(method))
        assert curve.x == tuple(range(7 * draws + 1))
        assert curve.y == pytest.approx([sum(s <= k for run in ended for s in run) / 3 for k in range(7 * draws + 1)])
    assert any(one["step_8"].value for one in found.rows)


def test_nothing_is_drawn_beyond_the_budget_where_candidates_vote(tmp_path: Path) -> None:
    known = dict.fromkeys(words(1)["resample", 0], "R")
    view = write(tmp_path / "told", "resample", 0, known)
    assert "step_15" in table(build([view]), "steps").rows[0]
    view = write_run(
        tmp_path / "votes",
        ASKED,
        "resample",
        {question: [Tried("SELECT 1", VERDICTS["C"])] for question in known},
        regime="dbms_only",
    )
    assert "step_8" not in table(build([view]), "steps").rows[0]


def test_accuracy_against_cost(made: tuple[Words, Report]) -> None:
    known, report = made
    figure = next(one for one in report.figures if one.id == "frontier-spider")
    assert [series.name for series in figure.series] == ["Iterative", label(DRAWN), "Resample", label(HISTORY)]
    for method in DRAWS:
        series = next(one for one in figure.series if one.name == label(method))
        tokens = [
            sum(110 + step for word in known[method, seed].values() for step in range(len(word))) / SIZE
            for seed in SEEDS
        ]
        right = [100 * sum(word[-1] == "R" for word in known[method, seed].values()) / SIZE for seed in SEEDS]
        assert series.x == pytest.approx([statistics.mean(tokens)])
        assert series.y == pytest.approx([statistics.mean(right)])
        assert series.high == pytest.approx([statistics.mean(right) + statistics.stdev(right)])
        assert series.low == pytest.approx([statistics.mean(right) - statistics.stdev(right)])


def test_names_of_variants_are_safe_in_every_format(made: tuple[Words, Report], tmp_path: Path) -> None:
    _, report = made
    write_report(report, tmp_path)
    for path in (tmp_path / "tables").glob("*.tex"):
        body = [line for line in path.read_text().splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
        assert len({len(re.findall(r"(?<!\\)&", line)) for line in body}) == 1, path
    assert r"MERIT (temperature=0.8, draws=2)" in (tmp_path / "tables" / "main.tex").read_text()
    drawn = (tmp_path / "figures" / "frontier-spider.svg").read_text()
    assert all(part in drawn for part in ("Resample", "MERIT (temperature=0.8,", "draws=2)"))


def test_a_name_may_be_anything(tmp_path: Path) -> None:
    odd = r"$x_1$: 50% of {all} & <b>\end ☃"
    known = letters(SIZE, 1, ("iterative",))["iterative", 0]
    courses = {one: course("iterative", 0, one, word) for one, word in known.items()}
    views = [
        write_run(tmp_path / "odd", ASKED, replace(METHODS["iterative"], name=odd), courses),
        write_run(tmp_path / "even", ASKED, "iterative", courses),
    ]
    report = build(views, against=odd)
    assert [one["method"].text for one in table(report, "main").rows] == ["Iterative", f'"{odd}" (unknown method)']
    write_report(report, tmp_path / "out")
    assert account(views[0].turns, views[0].method)["method"] == odd
    lines = (tmp_path / "out" / "tables" / "main.tex").read_text().splitlines()
    (line,) = (line for line in lines if r"\$x\_1\$" in line)
    assert r"\$x\_1\$: 50\% of \{all\} \& \textless{}b\textgreater{}\textbackslash{}end U+2603" in line
