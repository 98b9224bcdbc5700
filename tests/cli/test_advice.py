"""Slips of a newcomer: each gets one sentence that says what was meant, or what to do."""

import errno
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import merit as library
from making.benchmark import build, write_initial
from making.commands import good, merit, refused
from making.grids import write_grid
from making.runs import make_bench
from merit.cli import demo as demo_command
from merit.errors import InputError
from merit.memory import FileStore
from merit.stream import read_grid

ANSWER = '{"reply": "<answer>SELECT count(*) FROM item</answer>"}\n'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return build(tmp_path / "data")


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "script.jsonl").write_text(ANSWER)
    return f"scripted:{tmp_path / 'script.jsonl'}"


@pytest.mark.parametrize("command", [("answers", "list"), ("answers",), ("memory", "list"), ("data", "check")])
def test_a_command_without_cache_names_the_variable(command: tuple[str, ...]) -> None:
    result = merit(*command, "--cache", "there")
    assert result.exit_code == 2
    assert "no --cache; set the environment variable MERIT_CACHE to the folder instead" in result.output
    assert "Did you mean" not in result.output


def test_output_that_cannot_be_written_is_said_with_advice() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "merit", "--version"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == (
        "merit: the output cannot be written (No space left on device); make room, or choose another place\n"
    )


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.EACCES, "check its permissions, or choose another place"), (errno.EROFS, "choose a place that can be")],
)
def test_an_error_of_the_system_comes_with_advice(
    number: int, advice: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(**_: object) -> None:
        raise OSError(number, os.strerror(number), "there/file")

    door = import_module("merit.cli.main")
    monkeypatch.setattr(door, "cli", fails)
    with pytest.raises(SystemExit, match="1"):
        door.main()
    assert capsys.readouterr().err.startswith(f"merit: there/file: {os.strerror(number)}; {advice}")


def test_a_place_that_cannot_be_written_is_another_to_choose(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "mkdir", read_only)
    out, why = tmp_path / "out", "(Read-only file system)"
    assert refused("demo", "--out", out) == f"{out}: cannot be made {why}; choose another --out"
    said = refused("data", "subset", "spider", "--data", data, "--out", out)
    assert said.endswith(f": cannot be written {why}; choose another --out")
    with pytest.raises(library.MeritError, match="cannot be written .*; make the folder writable, or choose another"):
        FileStore(out)


def test_a_grid_with_a_seed_twice_says_so(tmp_path: Path) -> None:
    path = write_grid(tmp_path, seeds=[0, 1, 0])
    with pytest.raises(InputError, match="the field 'seeds' has 0 twice; give each seed once"):
        read_grid(path)


def test_a_limit_beyond_all_questions_is_said_to_take_all(data: Path, model: str, tmp_path: Path) -> None:
    says = "merit: --limit 99999: there are only 12 questions, and all are taken\n"
    spider = ("spider", "--data", data, "--limit", 99999)
    assert good("data", "subset", *spider, "--out", tmp_path / "part").stderr == says
    first = tmp_path / "first.jsonl"
    assert good("predict", *spider, "--model", model, "--out", first).stderr == says
    run = ("run", *spider, "--model", model, "--method", "zero_shot", "--out", tmp_path / "run", "--initial")
    assert good(*run, first).stderr == says
    first.write_text(first.read_text().split("\n")[0] + "\n")
    assert "--limit" not in refused(*run, first).partition("ask for them with `")[2].partition("`")[0]


def test_answers_to_another_split_are_not_made_anew_but_named(data: Path, model: str, tmp_path: Path) -> None:
    first = tmp_path / "first.jsonl"
    spider = ("spider", "--data", data, "--model", model)
    good("predict", *spider, "--out", first)
    run = ("run", *spider, "--method", "zero_shot", "--out", tmp_path / "run")
    for command in ((*run, "--initial"), ("predict", *spider, "--out")):
        said = refused(*command, first, "--split", "train")
        assert "made for other data or another split: name it (--split, or split in Python), or make new" in said
    said = refused(
        "score", "spider", "--data", data, "--split", "train", "--pred", write_initial(tmp_path / "plain.jsonl")
    )
    assert said.endswith("its ids go from 0 to 3; are these the predictions for this dataset and split?")


@pytest.mark.parametrize("text", ["SELECT 1\n", "", '{"answer": "SELECT 1"}\n', '{"reply": "x", "prompt": "y"}\n'])
def test_a_file_that_is_no_script_says_what_one_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "file.txt").write_text(text)
    said = refused("model", "check", f"scripted:{tmp_path / 'file.txt'}")
    assert said.endswith(
        '; a line of a script is {"reply": "SELECT 1"}, or with "contains": "a text of the prompt" too'
    )


def test_empty_predictions_are_not_called_replies_of_a_model(data: Path, tmp_path: Path) -> None:
    (tmp_path / "pred.jsonl").write_text('{"id": 0, "sql": ""}\n')
    result = good("score", "spider", "--data", data, "--pred", tmp_path / "pred.jsonl", "--partial")
    assert "1 of 1 answers are empty" in result.stdout
    assert result.stderr == ""


def test_an_example_has_an_id_of_the_dataset(tmp_path: Path) -> None:
    (tmp_path / "pred.json").write_text("[]")
    said = refused("score", "bundled", "--pred", tmp_path / "pred.json")
    assert '{"id": "bike_share-01", "sql": "SELECT ..."}' in said


@pytest.mark.parametrize(
    ("uri", "meant"), [("opnai:x", "openai:x"), ("OpenAI:x", "openai:x"), ("llamacp:f", "llamacpp:f")]
)
def test_a_mistyped_model_is_offered_as_it_was_meant(uri: str, meant: str) -> None:
    assert refused("model", "check", uri) == f"{uri}: unknown model; did you mean {meant}?"


def test_a_mistyped_benchmark_is_offered_as_it_was_meant() -> None:
    with pytest.raises(InputError, match="^unknown dataset 'bundle'; did you mean 'bundled'?"):
        library.load("bundle")


def test_a_run_and_a_question_that_are_swapped_are_told_apart(tmp_path: Path) -> None:
    run = make_bench(tmp_path).run(tmp_path / "run", "zero_shot").path
    assert refused("show", "1", run) == f"1: the run comes first; type `merit show {run} 1`"
    good("show", run, "1")  # what it suggests works


def test_a_demo_that_is_refused_says_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    result = merit("demo", "--out", tmp_path)
    assert str(result.exception) == f"{tmp_path}: is there and holds no earlier demo; choose another --out"
    assert result.output == ""


def test_a_demo_with_a_limit_beyond_all_questions_is_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise InputError("stop here")

    monkeypatch.setattr(demo_command, "_run", stop)
    for limit, says in ((360, "over all questions"), (359, "over the first 359 questions")):
        assert says in merit("demo", "--limit", limit, "--out", tmp_path / "out").output
    assert "seed 0: 1 run.\n" in merit("demo", "--methods", "merit", "--out", tmp_path / "out").output
