"""`merit demo`: the whole house over the bundled benchmark, on recorded answers or a live model."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from making.disks import no_file_larger_than
from making.endpoint import Asked, ChatServer, Reply, as_json, completion
from making.runs import files_of
from merit.agent import METHODS
from merit.agent.behaviour import reflection_prompt
from merit.benchmark import DataSpec
from merit.bundled import read_sources, recorded
from merit.bundled.source import HERE
from merit.cli import demo as door
from merit.cli.main import cli
from merit.cli.tables import show_table
from merit.cli.terminal import Console
from merit.errors import InputError, MeritError
from merit.models import answer_key
from merit.models.exported import open_exported
from merit.prompts import SPIDER
from merit.report import Cell, ReportColumn, ReportTable
from merit.runs import read_run
from merit.stream import Gap, Grid, RunSpec
from merit.types import ModelIdentity, Sampling

LIMIT = 8
REFERENCES = {written.question: written.sql for source in read_sources() for written in source.questions}


def merit(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(cli, [str(argument) for argument in arguments])


def good(result: Result) -> str:
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def sentence(result: Result) -> str:
    assert isinstance(result.exception, MeritError), result.output + repr(result.exception)
    return str(result.exception)


def script(path: Path) -> Path:
    """A model that is wrong at first, and right once it hears so, for every question but those that ask how many."""
    rules = [
        {"contains": [f"QUESTION:\n{question}\n", "[Attempt "], "reply": f"<answer>{sql}</answer>"}
        for question, sql in REFERENCES.items()
        if not question.startswith("How many")
    ]
    lines = [
        {"contains": "-reflection-v3", "reply": "<reflection>Think.</reflection>"},
        *rules,
        {"reply": "SELECT 0.5"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module", autouse=True)
def without_live_part() -> Iterator[None]:
    """Its tests are in test_demo_live.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(door, "show_live", lambda *_: None)
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def cache(place: Path, bundled_cache: Path) -> Path:
    """One cache for all tests here, with the bundled benchmark in it."""
    folder = place / "cache"
    folder.mkdir()
    (folder / "bundled").symlink_to(bundled_cache / "bundled")
    return folder


@pytest.fixture(scope="module")
def live(place: Path, cache: Path) -> Path:
    """A demo of all its methods with a scripted model."""
    model = f"scripted:{script(place / 'script.jsonl')}"
    good(merit("demo", "--model", model, "--limit", LIMIT, "--out", place / "live", "--cache", cache))
    return place / "live"


@pytest.fixture(scope="module")
def exported(live: Path, place: Path) -> Path:
    """A recording of zero_shot, iterative and merit of that demo."""
    folder = place / "recording"
    folder.mkdir()
    runs = [part for name in ("zero_shot", "iterative", "merit") for part in ("--runs", live / "runs" / name)]
    good(merit("answers", "export", *runs, "--out", folder / "answers.jsonl.xz", "--note", "engine=a script"))
    return folder


@pytest.fixture
def recording(exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that recording, in the place of the one that comes with merit."""
    folder = tmp_path / "recording"
    shutil.copytree(exported, folder)
    monkeypatch.setattr(door, "recorded", lambda: recorded(folder))
    return folder


def replay(out: Path, cache: Path, *options: object) -> Result:
    return merit("demo", "--limit", LIMIT, "--out", out, "--cache", cache, *options)


@pytest.fixture(scope="module")
def finished(exported: Path, place: Path, cache: Path) -> Path:
    """A demo of iterative from recorded answers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(door, "recorded", lambda: recorded(exported))
        good(replay(place / "finished", cache, "--methods", "iterative"))
    return place / "finished"


def test_recorded_answers_give_the_recorded_runs(recording: Path, live: Path, cache: Path, tmp_path: Path) -> None:
    said = good(replay(tmp_path / "out", cache, "--methods", "zero_shot,iterative,merit"))
    assert "No model is called" in said
    assert "scripted:script.jsonl" in said
    assert "engine: a script" in said
    assert f"the first {LIMIT} questions" in said
    for method in ("zero_shot", "iterative", "merit"):
        run = Path(method) / "seed0"
        assert files_of(tmp_path / "out" / "runs" / run) == files_of(live / "runs" / run)


def test_the_table_the_audit_and_the_report(recording: Path, cache: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    lines = good(replay(out, cache, "--methods", "zero_shot,iterative")).splitlines()
    view = read_run(out / "runs" / "iterative" / "seed0")
    right = sum(not turn.episode.task.question.text.startswith("How many") for turn in view.turns)
    assert 0 < right < LIMIT
    (iterative,) = (line for line in lines if line.strip().startswith("Iterative"))
    assert iterative.split()[1] == f"{100 * right / LIMIT:.2f}"
    assert "[" in iterative
    (zero,) = (line for line in lines if line.strip().startswith("Zero-shot"))
    assert zero.split()[1] == "0.00"
    assert f"-{100 * right / LIMIT:.2f} [-" in zero
    audits = [line for line in lines if line.startswith("audit")]
    assert len(audits) == 2
    assert all(f"holds, {LIMIT} of 360 questions" in line and "judged again" in line for line in audits)
    (told,) = (line for line in lines if line.startswith("report"))
    assert str(out / "report" / "report.html") in told
    assert "iterative" in (out / "report" / "report.md").read_text().lower()
    (following,) = (line for line in lines if line.startswith("next"))
    shown = merit(*following.split()[2:])  # what it proposes works
    assert shown.exit_code == 0, shown.output


def test_programs_hear_of_every_run(recording: Path, cache: Path, tmp_path: Path) -> None:
    result = replay(tmp_path / "out", cache, "--methods", "iterative,reflexion", "--json")
    found = json.loads(result.stdout)
    run = tmp_path / "out" / "runs" / "iterative" / "seed0"
    assert found["runs"] == {
        "iterative/seed0": json.loads((run / "metrics.json").read_text()),
        "reflexion/seed0": None,  # not covered
    }
    assert Path(found["report"]).is_file()
    assert "audit     iterative, seed 0: holds" in result.stderr


def test_no_figure_of_the_table_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    columns = (
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("accuracy", "Accuracy [95% CI]"),
        ReportColumn("delta", "Δ iterative [95% CI]"),
        ReportColumn("repaired", "Rep."),
        ReportColumn("calls", "Calls"),
    )
    texts = ("Transductive batch (not online)", "59.91 [55.28, 64.44]", "+24.63 [+20.74, +28.80]", "192.7", "11998")
    row = {column.key: Cell(None, text) for column, text in zip(columns, texts, strict=True)}
    show_table(Console(width=80, soft_wrap=True), ReportTable("summary", "All methods", "A note.", columns, (row,)))
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert all(text in shown for text in texts[1:])
    assert all(column.label in shown for column in columns)
    assert all(word in shown for word in ("Transductive", "batch", "(not online)"))
    assert max(map(len, shown.splitlines())) <= 80


def test_a_method_that_is_not_covered_is_left_out_and_told(
    recording: Path, live: Path, cache: Path, tmp_path: Path
) -> None:
    said = good(replay(tmp_path / "out", cache, "--methods", "iterative,reflexion"))
    view = read_run(live / "runs" / "reflexion" / "seed0")
    done = next(number for number, turn in enumerate(view.turns) if turn.episode.reflections)
    episode = view.turns[done].episode
    prompt = reflection_prompt(SPIDER, episode.task, episode.attempts[:1])
    key = answer_key(view.identity.model, prompt.text, Sampling()).hex()
    assert (
        f"left out  reflexion, seed 0: the recording ends after {done} of {LIMIT} episodes ({LIMIT - done} not run); the "
        f"first prompt without an answer is {key[:12]}\n"
    ) in said
    assert "Iterative" in said
    assert "Reflexion" not in said
    assert not any("reflexion" in path.read_text() for path in (tmp_path / "out" / "report").glob("report.md"))


def test_gaps_of_several_seeds_are_one_sentence() -> None:
    spec = RunSpec(DataSpec("bundled", None), Path("initial.jsonl"), "merit")
    grid = Grid(Path("runs"), "m", "e", {f"merit/seed{seed}": replace(spec, seed=seed) for seed in (0, 1, 2)})
    gaps = {"merit/seed0": Gap(3, 10, "aa"), "merit/seed1": None, "merit/seed2": Gap(4, 10, "bb")}
    assert list(door.left_out(grid, gaps)) == [
        "merit, seed 0, 2: the recording ends after 7 of 20 episodes (13 not run); the first prompt without an "
        "answer is aa"
    ]


def test_nothing_covered_is_an_error(recording: Path, cache: Path, tmp_path: Path) -> None:
    result = replay(tmp_path / "out", cache, "--methods", "reflexion")
    assert result.exit_code == 1
    assert "left out  reflexion, seed 0: " in result.output
    assert not (tmp_path / "out" / "report").exists()


def test_first_answers_that_are_not_covered_are_told(recording: Path, cache: Path, tmp_path: Path) -> None:
    result = merit("demo", "--limit", 30, "--methods", "zero_shot", "--out", tmp_path / "out", "--cache", cache)
    assert "nothing can be run: the recording ends at first answer " in sentence(result)
    assert " of 30, whose prompt is " in sentence(result)


def test_answers_kept_elsewhere_do_not_fill_gaps(recording: Path, live: Path, cache: Path, tmp_path: Path) -> None:
    """The cache has all answers of this model, from the live demo; a recording answers alone."""
    assert "left out  resample, seed 0: " in good(replay(tmp_path / "out", cache, "--methods", "iterative,resample"))
    assert (live / "runs" / "resample" / "seed0" / "metrics.json").is_file()


def test_a_recording_that_is_missing_or_damaged_is_one_sentence(recording: Path, cache: Path, tmp_path: Path) -> None:
    file, manifest = recording / "answers.jsonl.xz", recording / "answers.json"
    whole, told = file.read_bytes(), manifest.read_text()
    way_out = "; install merit again, or ask a live model with --model"
    file.write_bytes(whole[:-8] + b"\0" * 8)
    assert sentence(replay(tmp_path / "out", cache)) == (
        f"{file}: damaged (its hash is not the one that answers.json names){way_out}"
    )
    file.write_bytes(whole)
    manifest.write_text(told.replace('"format": 1', '"format": 9'))
    assert "a recording of format 9, and this merit (" in sentence(replay(tmp_path / "out", cache))
    manifest.write_text("{")
    assert "answers.json, line 1: not valid JSON" in sentence(replay(tmp_path / "out", cache))
    manifest.unlink()
    missing = f"{manifest}: the recorded answers that come with merit are not here{way_out}"
    assert sentence(replay(tmp_path / "out", cache)) == missing
    file.unlink()
    assert f"{file}: the recorded answers" in sentence(replay(tmp_path / "out", cache))
    assert not (tmp_path / "out").exists()


def test_a_live_model(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answering(asked: Asked) -> Reply:
        sql = next(sql for question, sql in REFERENCES.items() if f"QUESTION:\n{question}\n" in asked.prompt)
        return as_json(completion(f"<answer>{sql}</answer>", 100, 10))

    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        options = ("--model", "openai:m", "--limit", 3, "--methods", "iterative,merit", "--cache", cache)
        said = good(merit("demo", *options, "--out", tmp_path / "out"))
        assert "The answers are asked of openai:m, live" in said
        assert server.requests == 3  # all right at first
    assert "100.00" in next(line for line in said.splitlines() if line.strip().startswith("MERIT"))
    assert said.count(": holds, ") == 2


def test_a_live_model_that_fails_is_one_sentence(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(lambda _: as_json({"error": {"message": "no such model"}}, 404)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = merit("demo", "--model", "openai:gone", "--limit", 2, "--out", tmp_path / "out", "--cache", cache)
    assert "answered 404 for model gone" in sentence(result)


def test_a_demo_replaces_an_earlier_one_and_nothing_else(
    recording: Path, finished: Path, cache: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    good(replay(out, cache, "--methods", "zero_shot"))
    assert [path.name for path in (out / "runs").iterdir()] == ["zero_shot"]
    other = tmp_path / "work"
    shutil.copytree(out / "runs", other / "runs")
    (other / "README").write_text("Mine.")
    before = files_of(other)
    assert sentence(replay(other, cache)) == f"{other}: is there and holds no earlier demo; choose another --out"
    assert files_of(other) == before


@pytest.mark.parametrize(
    "options",
    [
        ("--model", "replay:/nope"),
        ("--model", "openai:"),
        ("--model", "openai:gone"),
        ("--methods", "meritt"),
        ("--methods", "merit", "--encoder", "word2vec"),
        ("--methods", "reflexion"),  # not covered
        ("--limit", "30"),  # its first answers are not covered
    ],
    ids=" ".join,
)
def test_a_finished_demo_survives_a_failing_one(
    recording: Path,
    finished: Path,
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
) -> None:
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    before = files_of(out)
    assert "report/report.html" in before
    with ChatServer(lambda _: as_json({"error": {"message": "no such model"}}, 404)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert replay(out, cache, *options).exit_code == 1
    assert files_of(out) == before


def test_a_demo_writes_and_moves_nothing_through_a_link(recording: Path, cache: Path, tmp_path: Path) -> None:
    out, other, own = tmp_path / "demo", tmp_path / "other", tmp_path / "own"
    out.mkdir()
    own.mkdir()
    other.write_text("precious")
    (own / "initial.jsonl").write_text("precious")
    (out / "made-by-merit-demo.txt").symlink_to(other)
    (out / "earlier").symlink_to(own)
    command = (out, cache, "--methods", "zero_shot")
    assert "demo/earlier: is a link, which no demo makes; remove it" in sentence(replay(*command))
    assert (own / "initial.jsonl").read_text() == "precious"
    (out / "earlier").unlink()
    good(replay(*command))
    assert other.read_text() == "precious"
    assert not (out / "made-by-merit-demo.txt").is_symlink()


def test_a_full_disk_is_named(recording: Path, cache: Path, tmp_path: Path) -> None:
    with no_file_larger_than(10):
        said = sentence(replay(tmp_path / "out", cache, "--methods", "zero_shot"))
    assert said == f"{tmp_path}/out/made-by-merit-demo.txt: cannot be written (File too large); choose another --out"


def test_a_demo_that_was_set_aside_when_another_was_killed_comes_back(
    recording: Path, finished: Path, cache: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    before = files_of(out)
    for name in ("runs", "report", "initial.jsonl"):
        (out / "earlier").mkdir(exist_ok=True)
        (out / name).replace(out / "earlier" / name)
    (out / "runs" / "half").mkdir(parents=True)
    assert replay(out, cache, "--model", f"scripted:{tmp_path / 'gone'}").exit_code == 1
    assert files_of(out) == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--seeds", "one"), "--seeds one: give whole numbers with commas between them"),
        (("--methods", "meritt"), "merit"),
        (("--model", "gpt"), "gpt: unknown model"),
        (("--model", "replay:nowhere.jsonl.xz"), "nowhere.jsonl.xz: no such file"),
    ],
)
def test_wrong_options_are_one_sentence(cache: Path, tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    result = merit("demo", "--limit", 1, "--out", tmp_path / "out", "--cache", cache, *options)
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)


def test_the_recording_that_comes_with_merit_is_whole(cache: Path, tmp_path: Path) -> None:
    found = recorded()
    store = open_exported(found.path)
    assert store.models() == [(ModelIdentity(**found.manifest["model"]), found.manifest["answers"])]
    store.close()
    assert found.path.stat().st_size < 5_000_000
    recorded_methods = [name for name, method in METHODS.items() if not method.grounds]  # `grounded` asks no model
    assert sorted(found.manifest["methods"]) == sorted(recorded_methods)
    said = good(merit("demo", "--limit", 25, "--seeds", "0,1,2", "--out", tmp_path / "out", "--cache", cache))
    assert "left out" not in said
    assert said.count(": holds, 25 of 360 questions") == 8 * 3
    assert found.path.parent == HERE
