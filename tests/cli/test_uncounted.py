"""An endpoint that does not count tokens: everything works, and no estimate is passed off as the endpoint's count."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from making.endpoint import Asked, ChatServer, Reply, as_json
from making.grids import answering, write_grid
from making.runs import files_of, make_bench
from merit.cli.main import cli
from merit.errors import InputError
from merit.reading import parse_json


def merit(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


def uncounted(asked: Asked) -> Reply:
    """A good answer without its tokens."""
    whole = answering(asked)
    assert isinstance(whole, Reply)
    reply = json.loads(whole.body)
    del reply["usage"]
    return replace(whole, body=as_json(reply).body)


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[object]]:
    data = ["spider", "--data", make_bench(tmp_path).root, "--model", "openai:m", "--cache", tmp_path / "cache"]
    initial = tmp_path / "first.jsonl"
    with ChatServer(uncounted) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        merit("predict", *data, "--out", initial)
        found = {
            method: ["run", *data, "--initial", initial, "--method", method, "--out", tmp_path / method]
            for method in ("merit", "reflexion")
        }
        for method, command in found.items():
            said = "(estimated by merit for {} calls: the endpoint did not count)"
            shown = merit(*command).output
            metrics = json.loads((tmp_path / method / "metrics.json").read_text())
            assert metrics["tokens"]["estimated_calls"] == metrics["calls"]["total"] > 12
            assert f"about {metrics['tokens']['total']} tokens {said.format(metrics['calls']['total'])}" in shown
    return found


def test_a_run_of_estimated_tokens_says_so_everywhere(commands: dict[str, list[object]], tmp_path: Path) -> None:
    first = [json.loads(line) for line in (tmp_path / "first.jsonl").read_text().splitlines()]
    assert all(line["tokens_estimated"] and line["prompt_tokens"] > 50 for line in first)
    for method in commands:
        turns = [json.loads(line) for line in (tmp_path / method / "trajectories.jsonl").read_text().splitlines()]
        calls = [call for turn in turns for call in (*turn["attempts"], *turn["reflections"])]
        assert all(call["tokens_estimated"] is True for call in calls)
        [session] = json.loads((tmp_path / method / "timings.json").read_text())["sessions"]
        assert session["sent"]["estimated"] == session["sent"]["calls"] > 0
        assert "holds." in merit("audit", tmp_path / method).output
    assert "tokens (estimated)" in merit("show", tmp_path / "merit", turns[0]["question_id"]).output
    merit("report", tmp_path / "merit", tmp_path / "reflexion", "--out", tmp_path / "report")
    assert "merit estimated tokens that the endpoint did not count" in (tmp_path / "report" / "report.md").read_text()


def test_it_is_the_same_from_kept_answers_and_from_a_recording(
    commands: dict[str, list[object]], tmp_path: Path
) -> None:
    expected = files_of(tmp_path / "merit")
    again = [*commands["merit"][:-1], tmp_path / "again"]
    merit(*again)  # nobody listens any more
    assert files_of(tmp_path / "again") == expected
    recording = tmp_path / "a.jsonl"
    merit("answers", "export", "--runs", tmp_path / "merit", "--out", recording)
    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    assert {(line["prompt_tokens"], line["output_tokens"]) for line in lines} == {(0, 0)}
    replayed = [f"replay:{recording}" if part == "openai:m" else part for part in again]
    merit(*replayed[:-1], tmp_path / "replayed")
    replayed_files = files_of(tmp_path / "replayed")
    manifests = [json.loads(files.pop("manifest.json")) for files in (replayed_files, expected)]
    assert replayed_files == expected
    assert manifests[0]["identity"] == manifests[1]["identity"]  # only a live endpoint is sent neutral values


def test_a_grid_says_so_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bench(tmp_path)
    with ChatServer(uncounted) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        shown = merit("grid", write_grid(tmp_path), "--cache", tmp_path / "cache").output
    assert "~ tokens are estimated by merit: the endpoint did not count them" in shown
    assert shown.count(" ~") >= 4


def test_with_an_endpoint_that_counts_nothing_of_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bench(tmp_path)
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        shown = merit("grid", write_grid(tmp_path), "--cache", tmp_path / "cache").output
    assert "estimated" not in shown
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert len(files) > 20
    assert not any(b"estimated" in path.read_bytes() for path in files)


def test_a_mark_that_is_none_is_refused(commands: dict[str, list[object]], tmp_path: Path) -> None:
    path = tmp_path / "first.jsonl"
    first, *rest = path.read_text().splitlines(keepends=True)
    for value in (False, 1, None, "yes"):
        record = {**parse_json(first, path), "tokens_estimated": value}
        path.write_text(json.dumps(record) + "\n" + "".join(rest))
        result = CliRunner().invoke(cli, [str(part) for part in [*commands["merit"][:-1], tmp_path / "other"]])
        assert isinstance(result.exception, InputError)
        assert str(result.exception) == f"{path}, line 1: the field 'tokens_estimated' is true where it is there"
