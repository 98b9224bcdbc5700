"""DISTINCT kept or dropped: what each command does by itself, what can be chosen, and what a run says of it."""

import json
from pathlib import Path
from typing import Any

import pytest

import merit as library
from making.benchmark import ITEMS, build
from making.commands import good, refused
from making.grids import write_grid
from making.runs import files_of
from making.tampering import reidentify
from merit.benchmark import DataSpec
from merit.cli.references import answers
from merit.errors import InputError
from merit.runs import read_run
from merit.stream import RunSpec, read_grid
from merit.types import Distinct

ASKED = 3  # the question whose reference says DISTINCT here
ANSWER = "SELECT country FROM maker"  # two of its rows are the same
NEVER = "distinct: the rule of bird never drops DISTINCT; leave the option out"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    root = build(tmp_path / "data")
    questions = json.loads((root / "dev.json").read_text())
    questions[ASKED]["query"] = ANSWER.replace("SELECT", "SELECT DISTINCT")
    (root / "dev.json").write_text(json.dumps(questions))
    return root


@pytest.fixture
def pred(tmp_path: Path) -> Path:
    path = tmp_path / "pred.jsonl"
    answered = [ANSWER if number == ASKED else item.reference for number, item in enumerate(ITEMS)]
    path.write_text("".join(json.dumps({"id": i, "sql": sql}) + "\n" for i, sql in enumerate(answered)))
    return path


def running(data: Path, pred: Path, model: str, out: Path, *more: object) -> list[object]:
    command = ["run", "spider", "--data", data, "--initial", pred, "--method", "iterative", "--budget", 1]
    return [*command, "--model", model, "--out", out, *more]


def right_at_first(run: Path) -> dict[Any, bool]:
    return {turn.episode.task.question.id: turn.initial_correct for turn in read_run(run).turns}


@pytest.mark.parametrize(
    ("options", "chosen", "right"),
    [((), "dropped", 12), (("--distinct", "dropped"), "dropped", 12), (("--distinct", "kept"), "kept", 11)],
)
def test_a_score_drops_it_unless_told(
    data: Path, pred: Path, options: tuple[str, ...], chosen: str, right: int
) -> None:
    score = ("score", "spider", "--data", data, "--pred", pred, *options)
    summary = json.loads(good(*score, "--json").stdout)
    assert (summary["distinct"], summary["correct"]) == (chosen, right)
    assert f"spider dev, protocol db, DISTINCT {chosen}" in good(*score).stdout


def test_a_run_keeps_it_unless_told(data: Path, pred: Path, model: str, tmp_path: Path) -> None:
    for options, chosen in (((), "kept"), (("--distinct", "kept"), "kept"), (("--distinct", "dropped"), "dropped")):
        out = tmp_path / f"run{len(options)}{chosen}"
        good(*running(data, pred, model, out, *options))
        assert json.loads((out / "manifest.json").read_text())["identity"]["distinct"] == chosen
        assert right_at_first(out)[ASKED] is (chosen == "dropped")
        good("audit", out, "--data", data)
    assert files_of(tmp_path / "run0kept") == files_of(tmp_path / "run2kept")


def test_a_run_does_not_go_on_with_the_other_choice(data: Path, pred: Path, model: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    good(*running(data, pred, model, out))
    before = files_of(out)
    assert refused(*running(data, pred, model, out, "--distinct", "dropped")) == (
        f"{out}: holds another run: DISTINCT is kept there and dropped here; give DISTINCT kept to go on with that one, "
        "or choose another place"
    )
    assert files_of(out) == before


def test_runs_that_do_not_say_open_and_go_on_as_dropped(data: Path, pred: Path, model: str, tmp_path: Path) -> None:
    older, newer = tmp_path / "runs" / "older", tmp_path / "runs" / "newer"
    good(*running(data, pred, model, older, "--distinct", "dropped", "--limit", 5))
    reidentify(older, lambda identity: identity.pop("distinct"))
    good(*running(data, pred, model, newer, "--distinct", "dropped", "--seed", 1, "--limit", 5))
    assert "judged again" in good("audit", older, "--data", data).stdout
    good("show", older, ASKED if ASKED in right_at_first(older) else next(iter(right_at_first(older))))
    good("report", tmp_path / "runs", "--out", tmp_path / "report")
    told = (tmp_path / "report" / "report.md").read_text()
    assert "protocol db, DISTINCT dropped" in told
    assert "seeds 0, 1" in told  # the two are compared
    assert "DISTINCT is dropped there and kept here" in refused(*running(data, pred, model, older))
    good(*running(data, pred, model, older, "--distinct", "dropped"))
    assert len(read_run(older).turns) == len(ITEMS)
    good("audit", older, "--data", data)


def test_runs_with_different_choices_are_never_in_one_cell(data: Path, pred: Path, model: str, tmp_path: Path) -> None:
    for seed, chosen in enumerate(Distinct):
        good(*running(data, pred, model, tmp_path / "runs" / chosen, "--distinct", chosen, "--seed", seed))
    good("report", tmp_path / "runs", "--out", tmp_path / "report")
    told = (tmp_path / "report" / "report.md").read_text()
    for chosen in Distinct:
        assert f"Spider, DISTINCT {chosen}" in told
        assert f"protocol db, DISTINCT {chosen}" in told
    (note,) = (line for line in told.splitlines() if "not compared with" in line)
    assert 'DISTINCT is "dropped" there and "kept" here' in note


def test_references_of_a_page_are_those_of_each_choice(data: Path, pred: Path, model: str, tmp_path: Path) -> None:
    views = []
    for chosen in Distinct:
        out = tmp_path / chosen
        good(*running(data, pred, model, out, "--distinct", chosen))
        views.append(read_run(out))
    kept, dropped = answers(views, [data]).items()
    assert kept[0].endswith("/db, DISTINCT kept")
    assert dropped[0].endswith("/db, DISTINCT dropped")
    assert kept[1][str(ASKED)][ANSWER]["differs"] is True
    assert str(ASKED) not in dropped[1]


def test_a_grid_keeps_it_unless_told(tmp_path: Path) -> None:
    def chosen(**dataset: str) -> set[Distinct | None]:
        return {spec.data.distinct for spec in read_grid(write_grid(tmp_path, dataset=dataset)).runs.values()}

    assert chosen() == {Distinct.KEPT}
    assert chosen(distinct="dropped") == {Distinct.DROPPED}
    assert chosen(name="bird") == {None}
    with pytest.raises(InputError, match=f"dataset 1: {NEVER}"):
        chosen(name="bird", distinct="kept")


@pytest.mark.parametrize("chosen", list(Distinct))
def test_bird_refuses_the_option(tmp_path: Path, model: str, chosen: str) -> None:
    data, file = build(tmp_path / "bird", layout="bird"), tmp_path / "pred.jsonl"
    file.write_text("".join(json.dumps({"id": i, "sql": one.reference}) + "\n" for i, one in enumerate(ITEMS)))
    place = ("bird", "--data", data, "--distinct", chosen)
    assert refused("score", *place, "--pred", file) == NEVER
    assert refused("predict", *place, "--model", model, "--out", tmp_path / "out") == NEVER
    run = ("run", *place, "--initial", file, "--method", "iterative", "--model", model, "--out", tmp_path / "run")
    assert refused(*run) == NEVER
    with pytest.raises(InputError, match=NEVER):
        library.open_benchmark("bird", data, distinct=Distinct(chosen))
    summary = json.loads(good("score", "bird", "--data", data, "--pred", file, "--json").stdout)
    assert (summary["distinct"], summary["correct"]) == (None, 12)


def test_programs_choose_too(data: Path, pred: Path) -> None:
    question = library.load("spider", data).questions[ASKED]
    for chosen, right in ((None, True), (Distinct.DROPPED, True), (Distinct.KEPT, False)):
        with library.open_benchmark("spider", data, distinct=chosen) as benchmark:
            assert benchmark.judge.judge(question, ANSWER).correct is right
            scored = library.score(benchmark, {question.id: ANSWER}, partial=True)
            assert (scored.correct, scored.distinct) == (right, chosen or Distinct.DROPPED)
    assert RunSpec(DataSpec("spider", data), pred, "merit").data.distinct is Distinct.KEPT
    assert RunSpec(DataSpec("bird", data), pred, "merit").data.distinct is None
    with pytest.raises(InputError, match="distinct: should be kept or dropped, not 'all'"):
        DataSpec("spider", data, distinct="all")  # type: ignore[arg-type]


@pytest.mark.usefixtures("bundled_benchmark")
def test_the_bundled_benchmark_keeps_it(tmp_path: Path) -> None:
    with library.open_benchmark("bundled") as benchmark:
        assert benchmark.distinct is Distinct.KEPT
        files = {question.id: "SELECT 1" for question in benchmark.dataset.questions[:2]}
        assert library.score(benchmark, files, partial=True).summary()["distinct"] == "kept"
    assert RunSpec(DataSpec("bundled", None), tmp_path, "merit").data.distinct is Distinct.KEPT
