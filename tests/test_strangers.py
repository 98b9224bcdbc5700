"""Runs and benchmarks that somebody else made, with anything in them: used in every way, or refused in one sentence.

MERIT_FUZZ=N tries N / 40 of each: it is as many times slower than a judgement, which others fuzz.
"""

import asyncio
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from making.benchmark import FickleModel, build
from making.commands import call, refusal
from making.fuzzing import tries
from making.hostile import cover_up, exchange_in, flip_in
from making.memories import WordEncoder
from making.runs import Bench, caching, files_of, make_bench
from making.tampering import reidentify, rewrite
from merit import __version__
from merit.audit import audit_run
from merit.audit.recording import write_recording
from merit.cli.main import cli
from merit.data import detect, load, read_predictions, survey
from merit.errors import MeritError
from merit.models import CachingEncoder
from merit.oracle import open_judge, write_subset
from merit.report import build as build_report
from merit.report import open_runs
from merit.report.labels import records, sample
from merit.report.latex import latex_report
from merit.report.markdown import markdown_report
from merit.report.page import FollowedRuns, write_page
from merit.runs import read_run
from merit.stream import OwnParts, Setup, open_setup, run_stream

TRIES = tries(40)
METHODS = ("merit", "reflexion", "precedent", "transductive_batch")
FILES = ["manifest.json", "stream.json", "trajectories.jsonl", "trajectories.jsonl", "retrievals.jsonl", "metrics.json"]
FILES += ["timings.json", "predictions.jsonl", "memory/*.jsonl"]
Damage = Callable[[Path, random.Random], None]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def setups(bench: Bench) -> Iterator[dict[str, Setup]]:
    with OwnParts(caching(FickleModel(luck=4)), CachingEncoder(WordEncoder(), None)) as parts:
        yield {name: open_setup(bench.spec(name, limit=6, budget=3), parts) for name in METHODS}


@pytest.fixture(scope="module")
def honest(setups: dict[str, Setup], tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("honest")
    for name, setup in setups.items():
        asyncio.run(run_stream(setup, runs / name))
    asyncio.run(run_stream(setups["merit"], runs / "good"))
    return runs


def report(runs: Path, out: Path) -> None:
    """All of a report but its drawings; the good run is in it whatever the other one is."""
    found, refused = open_runs([runs], unfinished=True)
    made = build_report(found, refused=refused)
    assert "good" in {run.view.path.name for group in made.groups for run in group.all_runs()}
    assert markdown_report(made, "figures")
    assert latex_report(made, "tables", "figures")
    reported = {run.view.path for group in made.groups for run in group.all_runs()}
    out.mkdir(exist_ok=True)
    write_page(made, [view for view in found if view.path in reported], out / "report.html")


def page(runs: Path) -> None:
    live = FollowedRuns(runs, lambda views, refused: build_report(views, refused=refused))
    live.look()
    live.tabulate()
    state = live.answer("overview")
    assert state is not None
    assert '"folder":"good"' in state
    for name in ("index", "state", *(f"run/{identity}" for identity in live._runs)):
        assert live.answer(name) is not None


def use(runs: Path, run: Path, setup: Setup, bench: Bench) -> None:
    report(runs, runs.parent / "report")
    page(runs)
    refusal(lambda: audit_run(read_run(run), encoder=CachingEncoder(WordEncoder(), None)))
    refusal(lambda: call("audit", run, "--data", bench.root))
    for question in setup.order[1:4]:
        refusal(lambda question=question: call("show", run, question.question.id))  # type: ignore[misc]
    refusal(lambda: records(view := read_run(run), sample(view, 3, 0), classifier=True))
    refusal(lambda: write_recording([read_run(run)], runs.parent / "made.jsonl", {}))
    refusal(lambda: call("memory", "stats", run / "memory"))
    refusal(lambda: asyncio.run(run_stream(setup, run)))


@pytest.mark.parametrize("damage", [exchange_in, flip_in])
def test_a_run_that_an_enemy_made(
    damage: Damage, honest: Path, setups: dict[str, Setup], bench: Bench, tmp_path: Path
) -> None:
    draw = random.Random(damage.__name__)
    for number in range(TRIES):
        method = draw.choice(METHODS)
        runs = tmp_path / str(number) / "runs"
        run = runs / method
        shutil.copytree(honest / "good", runs / "good")
        shutil.copytree(honest / method, run)
        there = [path for name in FILES for path in run.glob(name) if path.stat().st_size]
        path = draw.choice(there)
        damage(path, draw)
        kept = path.read_bytes()
        if draw.random() < 0.8:
            cover_up(run)
        try:
            use(runs, run, setups[method], bench)
        except BaseException as error:
            error.add_note(f"try {number}: {path}: {kept[:3000]!r}")
            raise
        shutil.rmtree(tmp_path / str(number))


@pytest.mark.parametrize("damage", [exchange_in, flip_in])
def test_a_benchmark_that_an_enemy_made(damage: Damage, tmp_path: Path) -> None:
    draw = random.Random(damage.__name__)
    honest = {layout: build(tmp_path / layout, layout=layout) for layout in ("spider", "bird")}
    layouts = {"dev.json": "spider", "tables.json": "spider", "dev_tables.json": "bird"}
    for number in range(TRIES):
        name, layout = draw.choice(list(layouts.items()))
        root = shutil.copytree(honest[layout], tmp_path / str(number))
        damage(root / name, draw)

        def every_use(root: Path = root, layout: str = layout) -> None:
            for dataset in detect(root):
                survey(dataset, lambda _: True)
            dataset = load(layout, root)
            write_subset(dataset, root / "part", databases=None, distinct=True, seed=0)
            with closing(open_judge(dataset, "db", cache=None)) as judge:
                judge.unjudgeable(dataset.questions)

        try:
            refusal(every_use)
        except BaseException as error:
            error.add_note(f"try {number}: {name}: {(root / name).read_bytes()[:3000]!r}")
            raise
        shutil.rmtree(root)


@pytest.mark.parametrize("damage", [exchange_in, flip_in])
def test_predictions_that_an_enemy_made(damage: Damage, tmp_path: Path) -> None:
    bench, draw = make_bench(tmp_path), random.Random(damage.__name__)
    dataset, whole = load("spider", bench.root), bench.initial.read_bytes()
    for _ in range(TRIES):
        bench.initial.write_bytes(whole)
        damage(bench.initial, draw)
        refusal(lambda: read_predictions(bench.initial, dataset.questions, {}))


KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path),
    "huge": lambda path: path.touch() or os.truncate(path, 1 << 40),  # type: ignore[func-returns-value]
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted({*FILES} - {"memory/*.jsonl"}) + ["memory/memory.jsonl", "memory"])
def test_what_is_no_file_of_a_run_hangs_nothing(
    kind: str, name: str, honest: Path, setups: dict[str, Setup], bench: Bench, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    for one in ("good", "merit"):
        shutil.copytree(honest / one, runs / one)
    path = runs / "merit" / name
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    KINDS[kind](path)
    said = refusal(lambda: audit_run(read_run(runs / "merit"), encoder=CachingEncoder(WordEncoder(), None)))
    assert (said is None) == (name == "timings.json")  # which nothing depends on
    use(runs, runs / "merit", setups["merit"], bench)


def test_a_budget_beyond_reason_is_refused(honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest / "good", tmp_path / "run")
    reidentify(tmp_path / "run", lambda identity: identity.update(budget=10**18))
    with pytest.raises(
        MeritError, match=r"the field 'budget' should be a number from 0 to 1000, not 1000000000000000000"
    ):
        read_run(tmp_path / "run")


def test_no_run_is_begun_that_could_not_be_read_back(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(MeritError, match=r"this run: the field 'budget' should be a number from 0 to 1000, not 1001"):
        bench.run(tmp_path / "run", budget=1001)
    with pytest.raises(MeritError, match=r"this run, method: the field 'draws' should be a number from 0 to 1000"):
        bench.run(tmp_path / "run", "resample:draws=2000")
    assert not (tmp_path / "run").exists()


def test_a_run_of_another_format_says_what_to_do(honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest / "good", tmp_path / "run")
    path = tmp_path / "run" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 2}))
    said = refusal(lambda: read_run(tmp_path / "run"))
    assert said == f"{path}: a run of format 2, and this merit ({__version__}) reads format 1; update merit"


WRITTEN = ["trajectories.jsonl", "predictions.jsonl", "retrievals.jsonl", "memory/memory.jsonl", "memory"]


@pytest.mark.parametrize("name", [*WRITTEN, "run.lock", "manifest.json", "stream.json", "timings.json"])
def test_going_on_writes_through_no_link(name: str, honest: Path, setups: dict[str, Setup], tmp_path: Path) -> None:
    """What a link leads to was cut to the length of the stranger's file."""
    shutil.copytree(honest / "merit", tmp_path / "run")
    path, mine = tmp_path / "run" / name, tmp_path / "mine"
    path.rename(mine)
    path.symlink_to(mine)
    if mine.is_file():
        mine.write_bytes(mine.read_bytes() + b"my own line\n")
    before = files_of(mine) if mine.is_dir() else mine.read_bytes()
    said = refusal(lambda: asyncio.run(run_stream(setups["merit"], tmp_path / "run")))
    assert said == f"{path}: is a link; a run that goes on has its files in its own folder"
    assert (files_of(mine) if mine.is_dir() else mine.read_bytes()) == before


def test_unfinished_files_that_are_links_are_not_written_through(
    honest: Path, setups: dict[str, Setup], tmp_path: Path
) -> None:
    run, mine = tmp_path / "run", tmp_path / "mine"
    run.mkdir()
    mine.write_text("mine")
    for name in ("stream.json", "manifest.json"):  # all else is no empty folder to begin in
        (run / f"{name}.part").symlink_to(mine)
    asyncio.run(run_stream(setups["merit"], run))
    assert mine.read_text() == "mine"
    assert files_of(run) == files_of(honest / "merit")


def test_a_bad_run_is_said_and_the_page_is_written(honest: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for one in ("good", "precedent"):
        shutil.copytree(honest / one, runs / one)
    rewrite(runs / "precedent", "retrievals.jsonl", lambda lines: [line["pools"][0].pop("size") for line in lines])
    result = CliRunner().invoke(cli, ["report", str(runs), "--out", str(tmp_path / "report")])
    assert result.exit_code == 0, result.output
    assert (
        f"merit: {runs / 'precedent'}: not in the page: {runs / 'precedent' / 'retrievals.jsonl'}, line"
        in result.output
    )
    text = (tmp_path / "report" / "report.html").read_text()
    assert 'data-chunk="run/spider-merit-0-' in text
    assert 'data-chunk="run/spider-precedent-0-' not in text


def test_a_run_that_names_a_folder_as_its_encoder_has_it_loaded_by_nobody(
    honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading a model can run code that lies beside it."""
    run = shutil.copytree(honest / "merit", tmp_path / "run")
    (tmp_path / "evil").mkdir()
    monkeypatch.chdir(tmp_path)
    opened: list[str] = []
    monkeypatch.setattr("merit.cli.audit.open_encoder", opened.append)
    for name in ("evil", "sentence-transformers:evil", f"sentence-transformers:{tmp_path / 'evil'}", "./evil"):
        reidentify(run, lambda identity, name=name: identity["encoder"].update(name=name))  # type: ignore[misc]
        refusal(lambda: call("audit", run))
    assert opened == []


def test_a_run_over_a_dataset_that_is_none_is_refused(honest: Path, bench: Bench, tmp_path: Path) -> None:
    run = shutil.copytree(honest / "merit", tmp_path / "run")
    for change in ({"name": "../x"}, {"name": "spider", "split": "x"}):
        reidentify(run, lambda identity, change=change: identity["dataset"].update(change))  # type: ignore[misc]
        said = refusal(lambda: call("audit", run, "--data", bench.root))
        assert said is not None
        assert "there is no dataset" in said or "there is no split" in said
