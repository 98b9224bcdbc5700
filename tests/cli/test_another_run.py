"""A folder that another run has: what differs and what to type; and one in which nothing was finished is free."""

import fcntl
import json
from pathlib import Path

import pytest

from making.benchmark import ITEMS, build
from making.commands import merit, refused
from making.endpoint import Asked, ChatServer, Reply, as_json, status
from making.grids import answering
from merit.errors import ModelFailed, RunUnusable


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return build(tmp_path / "data")


@pytest.fixture
def first(tmp_path: Path) -> Path:
    path = tmp_path / "first.jsonl"
    path.write_text("".join(json.dumps({"id": i, "sql": one.wrong}) + "\n" for i, one in enumerate(ITEMS)))
    return path


def running(data: Path, first: Path, model: str, out: Path, *more: object) -> list[object]:
    command = ["run", "spider", "--data", data, "--initial", first, "--method", "merit", "--budget", 1]
    return [*command, "--model", model, "--out", out, *more]


def only_good(asked: Asked) -> Reply:
    if asked.body["model"] == "good":
        return answering(asked)
    return as_json({"error": {"message": f"The model `{asked.body['model']}` does not exist."}}, 404)


def files_of(folder: Path) -> dict[str, bytes]:
    kept = (one for one in folder.rglob("*") if one.is_file() and one.name != "timings.json")
    return {str(one.relative_to(folder)): one.read_bytes() for one in kept}


def test_a_mistyped_model_does_not_own_the_folder(
    data: Path, first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "run"
    with ChatServer(only_good) as server:
        server.models = ["good"]
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert "it offers good" in refused(*running(data, first, "openai:TYPO", out))
        (out / "notes.txt").write_text("mine")
        assert merit(*running(data, first, "openai:good", out)).exit_code == 0
        assert caplog.messages == [
            f"merit: {out}: replacing a run without a finished turn (the model is openai:TYPO there and openai:good "
            "here)"
        ]
        assert merit(*running(data, first, "openai:good", tmp_path / "new")).exit_code == 0
        assert merit("audit", out).exit_code == 0
    assert (out / "notes.txt").read_text() == "mine"
    assert files_of(tmp_path / "new") == {name: data for name, data in files_of(out).items() if name != "notes.txt"}
    assert len(json.loads((out / "timings.json").read_text())["sessions"]) == 1


def test_a_run_with_one_finished_turn_is_not_replaced(data: Path, first: Path, model: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert merit(*running(data, first, model, out, "--limit", 1)).exit_code == 0
    before = files_of(out)
    said = refused(*running(data, first, model, out, "--limit", 1, "--seed", 1))
    assert said == (
        f"{out}: holds another run: the seed is 0 there and 1 here; give the seed 0 to go on with that one, or "
        "choose another place"
    )
    assert files_of(out) == before


def test_a_folder_of_runs_is_refused_and_left_as_it_is(data: Path, first: Path, model: str, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    assert merit(*running(data, first, model, runs / "one", "--limit", 1)).exit_code == 0
    before = files_of(runs)
    assert refused(*running(data, first, model, runs)) == (
        f"{runs}: holds runs (one); name a new folder in it, such as {runs / 'NAME'}"
    )
    assert files_of(runs) == before


def test_nor_is_one_that_another_process_is_at(data: Path, first: Path, model: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with ChatServer(status(404)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.url)
        assert isinstance(merit(*running(data, first, "openai:m", out)).exception, ModelFailed)
    with (out / "run.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = merit(*running(data, first, model, out))
    assert isinstance(result.exception, RunUnusable)
    assert "another process is at this run" in str(result.exception)
    assert json.loads((out / "manifest.json").read_text())["identity"]["model"]["name"] == "openai:m"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--budget", 3], "the budget is 1 there and 3 here; give the budget 1 to go on"),
        (["--method", "iterative"], "the method is merit there and iterative here; give the method merit to"),
        (["--timeout", 5], "the time limit is 30.0 there and 5.0 here; give the time limit 30.0 to go on"),
        (["--name", "shops"], "the data's name is none there and shops here; leave the data's name out to go on"),
        (["--method", "precedent", "--seed", 2], "the method is merit there and precedent here"),
    ],
)
def test_what_differs_is_said_in_plain_words(
    data: Path, first: Path, model: str, tmp_path: Path, more: list[object], said: str
) -> None:
    assert merit(*running(data, first, model, tmp_path / "run")).exit_code == 0
    assert said in refused(*running(data, first, model, tmp_path / "run", *more))


def test_other_first_answers_or_another_model_are_named(data: Path, first: Path, model: str, tmp_path: Path) -> None:
    assert merit(*running(data, first, model, tmp_path / "run")).exit_code == 0
    other = tmp_path / "other.jsonl"
    other.write_text(first.read_text() + "\n")
    said = refused(*running(data, other, model, tmp_path / "run"))
    assert "the hash of the first answers is " in said
    assert said.endswith("give the first answers that it began with to go on with that one, or choose another place")
    Path(model.removeprefix("scripted:")).rename(tmp_path / "moved.jsonl")
    said = refused(*running(data, first, f"scripted:{tmp_path / 'moved.jsonl'}", tmp_path / "run"))
    assert "the model is scripted:script.jsonl there and scripted:moved.jsonl here; give the same set" in said


def test_a_seed_is_named_also_where_the_method_carries_it(data: Path, first: Path, model: str, tmp_path: Path) -> None:
    command = running(data, first, model, tmp_path / "run", "--method", "resample")
    assert merit(*command).exit_code == 0
    assert "the seed is 0 there and 1 here; give the seed 0" in refused(*command, "--seed", 1)


def test_a_smaller_limit_is_said_and_shows_the_whole_run(
    data: Path, first: Path, model: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    command = running(data, first, model, tmp_path / "run", "--json")
    assert merit(*command, "--limit", 5).exit_code == 0
    assert caplog.messages == []
    shown = json.loads(merit(*command, "--limit", 3).stdout)
    assert shown["questions"] == 5
    assert caplog.messages == [
        f"merit: {tmp_path / 'run'}: has 5 turns already, and the limit is 3; what is shown is of all 5: choose "
        "another folder for a shorter run"
    ]


def test_first_answers_that_cannot_be_asked_for_leave_no_file(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "first.jsonl"
    predict = ["predict", "spider", "--data", data, "--out", out]
    with ChatServer(only_good) as server:
        server.models = ["good", "other"]
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert "it offers good, other" in refused(*predict, "--model", "openai:TYPO")
        assert not out.exists()
        assert "it offers good, other" in refused(*running(data, out, "openai:TYPO", tmp_path / "run"))
        assert sorted(one.name for one in tmp_path.iterdir()) == ["data"]
        out.touch()
        refused(*predict, "--model", "openai:TYPO")
        assert out.exists()  # somebody else made it
        assert merit(*predict, "--model", "openai:good").exit_code == 0
    assert len(out.read_text().splitlines()) == len(ITEMS)


def test_a_folder_for_first_answers_is_one_sentence(data: Path, model: str, tmp_path: Path) -> None:
    said = refused("predict", "spider", "--data", data, "--model", model, "--out", tmp_path)
    assert said == f"{tmp_path}: is a folder; name a file for --out, such as {tmp_path / 'initial.jsonl'}"
