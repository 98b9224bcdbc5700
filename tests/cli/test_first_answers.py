"""First answers that a run lacks: it asks for them itself, or says what to type; `--limit` means the same everywhere."""

import json
import re
import shlex
from pathlib import Path

import pytest

from making.benchmark import ITEMS, build
from making.commands import good, refused
from making.endpoint import ChatServer
from making.grids import answering, run_grid, write_grid
from merit.data import load
from merit.runs import stream_order


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return build(tmp_path / "data")


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Always wrong."""
    rules = [{"contains": f"QUESTION:\n{one.text}\n", "reply": f"<answer>{one.wrong}</answer>"} for one in ITEMS]
    path = tmp_path / "script.jsonl"
    path.write_text("".join(json.dumps(rule) + "\n" for rule in rules))
    return f"scripted:{path}"


def ids(file: Path) -> list[int]:
    return [json.loads(line)["id"] for line in file.read_text().splitlines()]


def running(data: Path, model: str, initial: Path, out: Path) -> list[object]:
    method = ["--method", "iterative", "--budget", 1]
    return ["run", "spider", "--data", data, "--initial", initial, *method, "--model", model, "--out", out]


def test_a_run_asks_for_the_first_answers_it_lacks(data: Path, model: str, tmp_path: Path) -> None:
    made, asked = tmp_path / "new" / "made.jsonl", tmp_path / "asked.jsonl"
    shown = good(*running(data, model, made, tmp_path / "run"))
    assert shown.stderr == f"merit: {made}: not there yet; asking {model} for the first answers\n"
    good("predict", "spider", "--data", data, "--model", model, "--out", asked)
    assert made.read_bytes() == asked.read_bytes()
    assert list(made.parent.iterdir()) == [made]
    assert good(*running(data, model, made, tmp_path / "run")).stderr == ""


def test_first_answers_are_not_begun_through_a_link(data: Path, model: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "made.jsonl.part").symlink_to(elsewhere)
    said = refused(*running(data, model, tmp_path / "made.jsonl", tmp_path / "run"))
    assert "made.jsonl.part: cannot be written (a link or a pipe, not a regular file)" in said
    assert not elsewhere.exists()


@pytest.mark.parametrize("seed", [0, 1])
def test_a_limit_means_the_same_questions_everywhere(data: Path, model: str, tmp_path: Path, seed: int) -> None:
    """Those that a run of that length and seed takes, in the dataset's order."""
    files = [tmp_path / name for name in ("predict.jsonl", "run.jsonl", "grid.jsonl")]
    given = ["--seed", seed] if seed else []  # 0 is meant where none is said
    good("predict", "spider", "--data", data, "--model", model, "--out", files[0], "--limit", 4, *given)
    good(*running(data, model, files[1], tmp_path / "one"), "--limit", 4, *given)
    dataset = {"initial": "grid.jsonl", "limit": 4}
    assert (
        run_grid(write_grid(tmp_path, model=model, methods=["iterative"], seeds=[seed], dataset=dataset)).exit_code == 0
    )
    assert sorted(q.id for q in stream_order(load("spider", data).questions, seed)[:4]) == ids(files[0])
    assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()
    good(*running(data, model, files[0], tmp_path / "two"), "--limit", 4, *given)  # all that it needs


def test_a_file_that_lacks_some_names_the_command_that_asks_for_them(data: Path, model: str, tmp_path: Path) -> None:
    initial = tmp_path / "first answers.jsonl"
    good("predict", "spider", "--data", data, "--model", model, "--out", initial, "--limit", 4)
    before = initial.read_bytes()
    longer = [*running(data, model, initial, tmp_path / "run"), "--limit", 6, "--protocol", "db"]
    said = refused(*longer)
    assert "2 of 6 questions have no first answer" in said
    assert "runs that began from the file as it is cannot go on after that" in said
    assert said.endswith("begins from the first answers to all questions, from merit predict without --limit")
    assert initial.read_bytes() == before  # what other runs began from is not changed behind their back
    command = re.search(r"`(merit predict .*)`", said)
    assert command
    good(*shlex.split(command[1])[1:])
    assert initial.read_bytes() != before
    good(*longer)


def test_a_limited_run_is_extended_where_all_first_answers_were_made_before(
    data: Path, model: str, tmp_path: Path
) -> None:
    """As docs/how-to/resume.md and grid.md say; one whose file has only its own questions cannot be."""
    initial = tmp_path / "initial.jsonl"
    good("predict", "spider", "--data", data, "--model", model, "--out", initial)
    good(*running(data, model, initial, tmp_path / "run"), "--limit", 4)
    shown = good(*running(data, model, initial, tmp_path / "run"), "--limit", 6, "--json").stdout
    assert json.loads(shown)["questions"] == 6
    for limit, seeds in ((3, [0]), (5, [0, 1])):
        grid = write_grid(tmp_path, model=model, methods=["iterative"], seeds=seeds, dataset={"limit": limit})
        assert run_grid(grid).exit_code == 0
    assert "make the first answers to all questions" in " ".join(good("run", "--help").stdout.split())


def test_a_folder_with_another_run_is_said_before_first_answers_are_asked_for(
    data: Path, model: str, tmp_path: Path
) -> None:
    initial, out = tmp_path / "initial.jsonl", tmp_path / "run"
    good(*running(data, model, initial, out), "--limit", 3)
    for first in (initial, tmp_path / "not there.jsonl"):
        said = refused(*running(data, model, first, out), "--limit", 3, "--seed", 1)
        assert said.startswith(f"{out}: holds another run: the seed is 0 there and 1 here; give the seed 0")
    assert not first.exists()
    grid = {"model": model, "methods": ["iterative"], "dataset": {"initial": "grid.jsonl", "limit": 3}}
    assert run_grid(write_grid(tmp_path, **grid)).exit_code == 0
    grid["dataset"] = {"initial": "not there.jsonl", "limit": 3}
    assert "the budget is 7 there and 6" in str(run_grid(write_grid(tmp_path, **grid, budget=6)).exception)
    assert not first.exists()


def test_a_grid_into_a_file_is_not_told_of_an_option_that_it_has_not(data: Path, model: str, tmp_path: Path) -> None:
    (tmp_path / "runs").touch()
    result = run_grid(write_grid(tmp_path, model=model, methods=["iterative"]))
    assert str(result.exception).endswith("no run can be kept here (Not a directory); choose another folder")


def test_an_empty_file_of_first_answers_says_what_to_do(data: Path, model: str, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    said = refused(*running(data, model, tmp_path / "empty.jsonl", tmp_path / "run"))
    assert said.endswith("empty.jsonl: the file is empty; remove it, and the first answers are asked for")


@pytest.mark.parametrize(
    "text",
    [
        '{"id": 0, "sql": "SELECT 1"}\n',
        "SELECT 1\nSELECT 2\n",
        '{"format":2,"id":0,"db_id":"shop","sql":"SELECT 1"}\n',  # a run's own predictions
        '{"0": "SELECT 1"}',
    ],
)
def test_first_answers_are_not_added_to_a_file_of_something_else(
    data: Path, model: str, tmp_path: Path, text: str
) -> None:
    mine = tmp_path / "mine.jsonl"
    mine.write_text(text)
    said = refused("predict", "spider", "--data", data, "--model", model, "--out", mine)
    assert said == f"{mine}: is not a file of first answers that merit wrote, and was left alone; choose another place"
    assert mine.read_text() == text


def test_predictions_that_lack_some_are_not_for_merit_to_complete(data: Path, model: str, tmp_path: Path) -> None:
    initial = tmp_path / "mine.jsonl"
    initial.write_text('{"id": 0, "sql": "SELECT 1"}\n')
    said = refused(*running(data, model, initial, tmp_path / "run"))
    assert said.endswith("write them into it, or name a file that is not there, and they are asked for")


def test_a_run_that_breaks_off_at_its_first_answers_goes_on(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    initial = tmp_path / "initial.jsonl"
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        command = [*running(data, "openai:m", initial, tmp_path / "run"), "--concurrency", 1]
        assert "tokens were used of the 500 allowed" in refused(*command, "--max-tokens", 500)
        assert not initial.exists()  # a file that is there is whole
        assert not (tmp_path / "run").exists()
        good(*command)
        assert len(ids(initial)) == len(ITEMS)
        assert len({asked.prompt for asked in server.asked}) == len(server.asked)


def test_predict_says_what_it_did_as_json(data: Path, model: str, tmp_path: Path) -> None:
    out = tmp_path / "initial.jsonl"
    command = ["predict", "spider", "--data", data, "--model", model, "--out", out, "--limit", 4, "--json"]
    assert json.loads(good(*command, "--name", "shops").stdout) == {"out": str(out), "questions": 4, "added": 4}
    assert json.loads(good(*command, "--name", "shops").stdout) == {"out": str(out), "questions": 4, "added": 0}
