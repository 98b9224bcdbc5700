"""What memories hold and what recalling is worth: every number against one worked out here from a made story."""

import math
import random
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from making.outcomes import NO_COLUMN, Recalled, Tried, write_run
from making.reports import questions
from merit.agent import Attempt, find_method
from merit.report import Cell, Report, ReportTable, build
from merit.report.names import method_label
from merit.runs import RunView, stream_order
from merit.types import QuestionId, Status, Verdict

SIZE = 30
SEEDS = (0, 1, 2)
ASKED = questions(SIZE)
VARIANT = "precedent:precedents=2,least_grade=executed"
RIGHT = "right"  # the rows that the judge calls right; the agent does not know


@dataclass(frozen=True)
class Told:
    """One question's episode: each candidate's rows (None: it failed), and what was shown before each but the first."""

    rows: tuple[str | None, ...]
    shown: tuple[tuple[Recalled, ...], ...]
    votes: bool

    @property
    def stands(self) -> int:
        ran = [one for one in self.rows if one] or [one for one in self.rows if one is not None]
        if not self.votes or not ran:
            return len(self.rows) - 1
        most = max(ran, key=lambda one: (ran.count(one), -ran.index(one)))
        return self.rows.index(most)

    @property
    def result(self) -> str | None:
        return self.rows[self.stands]

    @property
    def right(self) -> bool:
        return self.result == RIGHT

    @property
    def polarity(self) -> str | None:
        if self.votes:
            return None if self.result is None else "precedent"
        return None if len(self.rows) == 1 else "negative" if self.result is None else "positive"

    @property
    def grade(self) -> str:
        many = self.rows.count(self.result)
        return "agreed" if self.votes and many >= 2 and many >= len(self.rows) / 2 else "executed"

    @property
    def poisoned(self) -> bool:
        return self.polarity in ("positive", "precedent") and not self.right


Story = list[Told]  # by position


def story(draw: random.Random, first: Sequence[str | None], *, votes: bool, dense: bool = True) -> Story:
    """A run's episodes in order; each recall shows entries of earlier ones."""
    found: Story = []
    for start in first:
        rows: list[str | None] = [start]
        while len(rows) <= draw.randrange(8) if votes else rows[-1] is None and len(rows) < 8:
            rows.append(draw.choice([RIGHT, RIGHT, "w1", "w2", "", None, None]))
        left = [f"{one.polarity[:3]}-{place}" for place, one in enumerate(found) if one.polarity]
        shown = []
        for _ in rows[1:]:
            some = draw.sample(left, min(len(left), draw.randrange(4)))
            near = [round(draw.uniform(-0.15, 1.0), 3) for _ in some]
            shown.append(tuple((e, n if dense else None, n + draw.random()) for e, n in zip(some, near, strict=True)))
        found.append(Told(tuple(rows), tuple(shown), votes))
    return found


def write(path: Path, method: str, seed: int, told: Story) -> RunView:
    order = [question.id for question in stream_order(ASKED, seed)]
    chosen = find_method(method)
    courses = {}
    for question, one in zip(order, told, strict=True):
        course = []
        for step, rows in enumerate(one.rows):
            verdict = NO_COLUMN if rows is None else Verdict(Status.EXECUTED, result=rows)
            shown = one.shown[step - 1] if step and chosen.recall else ()
            course.append(Tried(f"SELECT {question}, {step}", verdict, shown=shown))
        courses[question] = course

    def right(_: QuestionId, attempt: Attempt) -> bool:
        return attempt.verdict.result == RIGHT

    return write_run(path, ASKED, chosen, courses, seed=seed, right=right, regime="dbms_only")


def stories(draw: random.Random, methods: Sequence[str]) -> dict[tuple[str, int], Story]:
    first = {question.id: draw.choice([RIGHT, "w1", "", None, None]) for question in ASKED}
    found = {}
    for method in methods:
        for seed in SEEDS:
            start = [first[question.id] for question in stream_order(ASKED, seed)]
            dense = method not in ("no_dense", "random_same_type")
            found[method, seed] = story(draw, start, votes=find_method(method).votes, dense=dense)
    return found


@pytest.fixture(scope="module", params=[1, 2])
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[tuple[str, int], Story], Report]:
    methods = ("iterative", "resample", "merit", "no_dense", "random_same_type", "precedent", VARIANT)
    told = stories(random.Random(request.param), methods)
    folder = tmp_path_factory.mktemp("runs")
    runs = [write(folder / f"{i}", *key, one) for i, (key, one) in enumerate(told.items())]
    return told, build(runs)


def table(report: Report, name: str) -> ReportTable:
    return next(one for one in report.tables if one.id == name)


def label(method: str) -> str:
    return method_label(find_method(method))


def mean(values: Sequence[float]) -> Any:
    return pytest.approx(statistics.mean(values), abs=1e-6)


def percent(values: Sequence[bool]) -> Any:
    return pytest.approx(100 * sum(values) / len(values), abs=1e-6) if values else None


def test_what_was_kept_and_how_much_of_it_is_poisoned(made: tuple[dict[tuple[str, int], Story], Report]) -> None:
    told, report = made
    rows = {one["method"].text: one for one in table(report, "memory").rows}
    methods = ("merit", "no_dense", "random_same_type", "precedent", VARIANT)
    assert list(rows) == [label(method) for method in methods]
    for method in methods:
        one = rows[label(method)]
        mine = [told[method, seed] for seed in SEEDS]
        for polarity in ("positive", "negative", "precedent"):
            assert one[polarity].value == mean([sum(t.polarity == polarity for t in run) for run in mine])
        kept = [[t for t in run if t.polarity] for run in mine]
        for grade in ("confirmed", "tested", "agreed", "executed"):
            assert one[grade].value == mean([sum(t.grade == grade for t in run) for run in kept])
            assert one[f"poisoned_{grade}"].value == mean(
                [sum(t.poisoned and t.grade == grade for t in r) for r in kept]
            )
        assert one["poisoned"].value == mean([sum(t.poisoned for t in run) for run in mine])
        right = [t.poisoned for run in mine for t in run if t.polarity in ("positive", "precedent")]
        assert one["poisoned_share"].value == percent(right)
    shown = {column.key: column.shown for column in table(report, "memory").columns}
    assert (shown["agreed"], shown["executed"], shown["confirmed"], shown["tested"]) == (True, True, False, False)


def test_who_was_shown_poison_and_how_they_fared(made: tuple[dict[tuple[str, int], Story], Report]) -> None:
    told, report = made
    for one in table(report, "memory").rows:
        method = next(method for method, _ in told if label(method) == one["method"].text)
        recalls, bad_recalls = [], []
        outcomes: dict[bool, list[bool]] = {True: [], False: []}
        for seed in SEEDS:
            run = told[method, seed]
            bad = {f"{t.polarity[:3]}-{place}" for place, t in enumerate(run) if t.poisoned and t.polarity}
            looks = [{identity for identity, *_ in look} for t in run for look in t.shown]
            recalls.append(sum(bool(look) for look in looks))
            bad_recalls.append(sum(bool(look & bad) for look in looks))
            for t in run:
                seen = {identity for look in t.shown for identity, *_ in look}
                if seen:
                    outcomes[bool(seen & bad)].append(t.right)
        assert one["recalls"].value == mean(recalls)
        assert one["recalls_poisoned"].value == mean(bad_recalls)
        assert one["episodes_poisoned"].value == len(outcomes[True]) > 0
        assert one["episodes_sound"].value == len(outcomes[False])
        assert one["accuracy_poisoned"].value == percent(outcomes[True])
        assert one["accuracy_sound"].value == percent(outcomes[False])


def test_gain_by_how_near_the_nearest_was(made: tuple[dict[tuple[str, int], Story], Report]) -> None:
    told, report = made
    expected: dict[tuple[str, str], list[tuple[int, Told, Told]]] = {}
    beside = {"merit": "iterative", "precedent": "resample", VARIANT: "resample"}
    for method, reference in beside.items():
        for seed in SEEDS:
            pairs = zip(told[method, seed], told[reference, seed], strict=True)  # at one position, one question
            for ours, theirs in pairs:
                if ours.shown:
                    near = [dense for _, dense, _ in ours.shown[0] if dense is not None]
                    part = "nothing recalled"
                    if near:
                        low = min(math.floor(10 * max(near)), 9)
                        part = f"{low / 10:.1f} to {(low + 1) / 10:.1f}"
                    expected.setdefault((label(method), part), []).append((seed, ours, theirs))
    rows = {(one["method"].text, one["part"].text): one for one in table(report, "by_similarity").rows}
    assert set(rows) == set(expected)
    note = table(report, "by_similarity").note
    assert "Without a similarity, and so not here: No dense rerank, Random same type." in note
    assert {len(mine) < 10 for mine in expected.values()} == {True, False}
    for key, mine in expected.items():
        one = rows[key]
        assert one["questions"].value == len(mine)
        assert one["accuracy"].value == percent([ours.right for _, ours, _ in mine])
        assert one["repaired"].value == percent([ours.right for _, ours, _ in mine if ours.rows[0] != RIGHT])
        assert one["reference_accuracy"].value == percent([theirs.right for *_, theirs in mine])
        gain = 100 * sum(ours.right - theirs.right for _, ours, theirs in mine) / len(mine)
        assert one["gain"].value == (pytest.approx(gain, abs=1e-6) if len(mine) >= 10 else None)
        assert one["reference"].text == ("Resample" if key[0].startswith("Precedent") else "Iterative")
    for method in beside:
        lows = [part for name, part in rows if name == label(method)]
        assert lows == sorted(lows, key=lambda part: -1.0 if "nothing" in part else float(part.split()[-3]))


def test_a_row_is_of_the_seeds_that_both_ran_beside_the_plain_method_that_was_run(tmp_path: Path) -> None:
    told = stories(random.Random(5), ("iterative", "precedent"))
    del told["iterative", 2]
    report = build([write(tmp_path / f"{i}", *key, one) for i, (key, one) in enumerate(told.items())])
    rows = table(report, "by_similarity").rows
    assert {one["reference"].text for one in rows} == {"Iterative"}
    both = [(told["precedent", s][i], told["iterative", s][i]) for s in (0, 1) for i in range(SIZE)]  # not seed 2
    nothing = [(ours, theirs) for ours, theirs in both if ours.shown and not ours.shown[0]]
    (one,) = (one for one in rows if one["part"].text == "nothing recalled")
    assert one["questions"].value == len(nothing) >= 10
    assert one["accuracy"].value == percent([ours.right for ours, _ in nothing])
    assert one["repaired"].value == percent([ours.right for ours, _ in nothing if ours.rows[0] != RIGHT])
    assert one["reference_accuracy"].value == percent([theirs.right for _, theirs in nothing])
    gain = 100 * sum(ours.right - theirs.right for ours, theirs in nothing) / len(nothing)
    assert one["gain"].value == pytest.approx(gain, abs=1e-6)
    alone = build([write(tmp_path / "alone", "precedent", 0, told["precedent", 0])])
    assert {(one["reference"].text, one["gain"].text) for one in table(alone, "by_similarity").rows} == {("", "--")}


def test_a_log_that_is_not_whole_is_said_and_a_dash_and_a_damaged_one_leaves_the_run_out(tmp_path: Path) -> None:
    told = stories(random.Random(6), ("precedent",))
    runs = [write(tmp_path / f"{seed}", "precedent", seed, told["precedent", seed]) for seed in SEEDS]
    log = runs[0].path / "retrievals.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:-1]))
    report = build(runs)
    about = "so no table says what precedent recalled; `merit audit` says more"
    assert report.notes == (f"{log}: ends before the run does, {about}",)
    assert "by_similarity" not in [one.id for one in report.tables]  # rather than two seeds for three
    (one,) = table(report, "memory").rows
    assert [one[key].text for key in ("recalls", "recalls_poisoned", "accuracy_poisoned", "accuracy_sound")] == [
        "--"
    ] * 4
    assert one["precedent"].text != "--"
    log.unlink()
    assert build(runs).notes == (f"{log}: is missing, {about}",)
    log.write_text("".join([lines[-1], *lines[1:]]))
    report = build(runs)
    (said,) = report.refused
    assert said.startswith(f"{runs[0].path}: left out, {log}, line ")
    assert report.groups[0].seeds == [1, 2]


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", "1e308", "-1.2", '"nan"', "1" + "0" * 400])
def test_a_similarity_that_is_no_number_leaves_the_run_out(value: str, tmp_path: Path) -> None:
    told = stories(random.Random(6), ("precedent",))
    runs = [write(tmp_path / f"{seed}", "precedent", seed, told["precedent", seed]) for seed in SEEDS]
    log = runs[0].path / "retrievals.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    place = next(i for i, line in enumerate(lines) if '"dense":0.' in line)
    lines[place] = re.sub(r'"dense":0\.\d+', f'"dense":{value}', lines[place], count=1)
    log.write_text("".join(lines))
    report = build(runs)
    (said,) = report.refused
    assert said.startswith(f"{runs[0].path}: left out, {log}, line {place + 1}: ")
    assert report.groups[0].seeds == [1, 2]


def test_the_log_of_a_finished_run_has_no_torn_line(tmp_path: Path) -> None:
    told = stories(random.Random(6), ("precedent",))
    view = write(tmp_path / "run", "precedent", 0, told["precedent", 0])
    log = view.path / "retrievals.jsonl"
    log.write_text(log.read_text() + '{"question')
    (said,) = build([view]).refused
    assert f"left out, {log}: the last line is not finished" in said
    (view.path / "metrics.json").unlink()  # a run that goes on may be just writing it
    assert build([view]).refused == ()


def test_a_similarity_of_one_and_less_than_none_have_their_parts(tmp_path: Path) -> None:
    rows: tuple[str | None, ...] = (None, RIGHT)
    near = [1.0, 0.999, 0.3, -0.001, -1.0]
    episodes = [Told(rows, ((("pre-0", one, 1.0),),), votes=True) for one in near]
    told = [Told((RIGHT,), (), votes=True)] * (SIZE - len(near)) + episodes
    report = build([write(tmp_path / "run", "precedent", 0, told)])
    found = {one["part"].text: one["questions"].value for one in table(report, "by_similarity").rows}
    assert found == {"-1.0 to -0.9": 1, "-0.1 to 0.0": 1, "0.3 to 0.4": 1, "0.9 to 1.0": 2}


def test_a_run_with_an_oracle_has_nothing_poisoned(tmp_path: Path) -> None:
    wrong, right = Verdict(Status.DENOTATION_MISMATCH), Verdict(Status.CORRECT)
    shown = (("pos-0", 0.5, 1.0),)
    courses = {q.id: [Tried("SELECT 1", wrong), Tried("SELECT 2", right, shown=shown if q.id else ())] for q in ASKED}
    (one,) = table(build([write_run(tmp_path / "run", ASKED, "merit", courses)]), "memory").rows
    cells: dict[str, Cell] = {**one}
    assert [cells[key].value for key in ("positive", "confirmed", "poisoned", "episodes_poisoned")] == [
        SIZE,
        SIZE,
        0,
        0,
    ]
    assert cells["accuracy_poisoned"].text == "--"


def test_stories_differ(made: tuple[dict[tuple[str, int], Story], Report]) -> None:
    """What the tests above count does occur."""
    told, _ = made
    episodes = [one for key, run in told.items() if key[0] == "precedent" for one in run]
    assert {one.grade for one in episodes} == {"agreed", "executed"}
    assert {one.poisoned for one in episodes} == {True, False}
    assert any(one.stands not in (0, len(one.rows) - 1) for one in episodes)
    assert any(not replace(one, votes=False).right and one.right for one in episodes)
