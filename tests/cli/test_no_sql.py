"""A model that never answers with SQL is told as such, wherever its numbers are shown; and predictions in fences."""

import json
from pathlib import Path

import pytest

from making.benchmark import ITEMS, build
from making.commands import good, merit, refused
from making.endpoint import Asked, ChatServer, Reply, as_json, completion
from making.grids import run_grid, write_grid

PROSE = "I am sorry, but I\ncannot help with databases. " + "Ask somebody else. " * 9
BEGINS = "begins: I am sorry, but I cannot help with databases. Ask somebody else. Ask somebody el..."
FENCED = "```sql\nSELECT 1\n```"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return build(tmp_path / "data")


def model(tmp_path: Path, reply: str) -> str:
    path = tmp_path / "script.jsonl"
    path.write_text(json.dumps({"reply": reply}) + "\n")
    return f"scripted:{path}"


def running(data: Path, uri: str, tmp_path: Path) -> list[object]:
    command = ["run", "spider", "--data", data, "--initial", tmp_path / "first.jsonl", "--method", "iterative"]
    return [*command, "--budget", 1, "--model", uri, "--out", tmp_path / "run", "--json"]


def predicting(data: Path, uri: str, tmp_path: Path) -> list[object]:
    return ["predict", "spider", "--data", data, "--model", uri, "--out", tmp_path / "first.jsonl"]


def test_first_answers_and_runs_without_sql_are_told_on_stderr(data: Path, tmp_path: Path) -> None:
    prose = model(tmp_path, PROSE)
    said = good(*predicting(data, prose, tmp_path)).stderr
    assert said == (
        f"merit: warning: 12 of 12 replies of the model held no SQL and count as wrong; the first of them {BEGINS}\n"
    )
    shown = good(*running(data, prose, tmp_path))
    assert shown.stderr == said.replace("12 of 12", "24 of 24")
    assert json.loads(shown.stdout)["accuracy"] == 0.0
    scored = good("score", "spider", "--data", data, "--pred", tmp_path / "first.jsonl", "--json")
    assert scored.stderr == said
    assert json.loads(scored.stdout)["warnings"] == [
        "12 of 12 answers are empty: the replies they were taken from may have held no SQL"
    ]


def test_so_are_those_of_a_grid_in_one_line(data: Path, tmp_path: Path) -> None:
    grid = write_grid(tmp_path, model=model(tmp_path, ""), methods=["zero_shot", "iterative"], budget=1)
    result = run_grid(grid)
    assert result.exit_code == 0
    warnings = [line for line in result.stderr.splitlines() if "warning" in line]
    assert warnings == [
        "merit: warning: 36 of 36 replies of the model held no SQL and count as wrong; the first of them is empty"
    ]


def test_a_model_that_writes_sql_is_not_warned_of(data: Path, tmp_path: Path) -> None:
    for reply in ("<answer>SELECT 1</answer>", FENCED):
        uri = model(tmp_path, reply)
        (tmp_path / "first.jsonl").unlink(missing_ok=True)
        assert good(*predicting(data, uri, tmp_path)).stderr == ""
    assert good(*running(data, uri, tmp_path)).stderr == ""


def test_a_check_says_that_a_reply_held_no_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    def prose(_: Asked) -> Reply:
        return as_json(completion(PROSE, 9, 9))

    with ChatServer(prose) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        shown, found = merit("model", "check", "openai:m"), merit("model", "check", "openai:m", "--json")
    assert shown.stdout.startswith("openai:m  answers, but not with SQL\n")
    for result in (shown, found):
        assert result.exit_code == 1
        assert str(result.exception).startswith(
            f"openai:m answers, but the reply held no SQL; it {BEGINS}; try another"
        )
    assert json.loads(found.stdout)["sql"] == ""


def test_fences_are_named_as_the_cause(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "pred.jsonl"
    sqls = [FENCED, *(item.reference for item in ITEMS[1:])]
    file.write_text("".join(json.dumps({"id": i, "sql": sql}) + "\n" for i, sql in enumerate(sqls)))
    score = ("score", "spider", "--data", data, "--pred", file)
    found = json.loads(good(*score, "--json").stdout)
    assert (found["correct"], found["syntax_errors"]) == (11, 1)  # as the official evaluators have it
    (warning,) = found["warnings"]
    assert warning.startswith("1 of 12 answers begin with a code fence (```), which makes them syntax errors")
    assert "merit.prompts.parse_sql" in warning
    assert warning in good(*score).stdout
    plain = tmp_path / "pred.txt"
    plain.write_text("".join(f"```sql\n{item.reference}\n```\n" for item in ITEMS))
    assert "write one SQL a line in question order, without code fences (```), or" in refused(*score[:-1], plain)


def test_data_and_predictions_that_are_swapped_are_told_apart(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "pred.jsonl"
    file.write_text('{"id": 0, "sql": "SELECT 1"}\n')
    said = refused("score", "spider", "--data", file, "--pred", data)
    assert said == f"--data {file} is a file and --pred {data} a folder; type --data {data} --pred {file}"


@pytest.mark.parametrize(
    ("line", "what"),
    [({"id": 0, "sql": "x"}, "predictions"), ({"id": 0, "sql": "x", "reply": "x"}, "first answers"), ({}, "something")],
)
def test_a_file_of_predictions_is_no_recording(data: Path, tmp_path: Path, line: dict[str, object], what: str) -> None:
    file = tmp_path / "pred.jsonl"
    file.write_text(json.dumps(line) + "\n")
    for command in (predicting(data, f"replay:{file}", tmp_path), ["answers", "merge", file]):
        said = refused(*command)
        assert said.startswith(f"{file}, line 1: holds {what}")
        assert "not recorded answers (the field 'key' is missing); give a file that merit keeps (answers" in said
        assert "or that `merit answers export --out FILE.jsonl` wrote" in said
