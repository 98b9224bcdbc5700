"""How answers are drawn, from the command line to the manifest: cut prompts, and what greedy requests state."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import build
from making.commands import merit, refused
from making.endpoint import Action, Asked, ChatServer, as_json, refusal
from making.grids import answering, run_grid, write_grid
from merit.errors import MeritError
from merit.runs import read_manifest

CUT = ("--max-prompt-tokens", 4096, "--truncate", "left")
PATHS = {"/v1/chat/completions", "/tokenize"}


def counting(asked: Asked) -> Action:
    """A server that counts words as tokens; no prompt of the small benchmark has 4096."""
    if asked.path == "/tokenize":
        return as_json({"tokens": [0] * len(asked.prompt.split())})
    return answering(asked)


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    build(tmp_path / "data")
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    with ChatServer(counting) as server:
        server.paths = PATHS
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def run_command(folder: Path, out: str, *options: object, model: str = "openai:m") -> list[object]:
    data = ("--data", folder / "data", "--initial", folder / "initial.jsonl")
    return ["run", "spider", *data, "--method", "iterative", "--model", model, "--out", folder / out, *options]


def sessions(run: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((run / "timings.json").read_text())["sessions"]
    return found


def test_a_run_with_cut_prompts_is_another_run(chat: ChatServer, tmp_path: Path) -> None:
    assert merit(*run_command(tmp_path, "whole")).exit_code == 0
    assert not any(asked.path == "/tokenize" for asked in chat.asked)
    assert merit(*run_command(tmp_path, "cut", *CUT)).exit_code == 0
    whole, cut = read_manifest(tmp_path / "whole"), read_manifest(tmp_path / "cut")
    assert whole.run != cut.run
    assert whole.identity.record()["sampling"] == {"temperature": 0.0, "max_tokens": 512, "seed": None}
    assert cut.identity.record()["sampling"]["max_prompt_tokens"] == 4096
    said = refused(*run_command(tmp_path, "cut"))
    assert (
        "the limit on prompt tokens is 4096 there and none here; give the limit on prompt tokens 4096 to go on" in said
    )
    result = merit("report", tmp_path / "whole", tmp_path / "cut", "--out", tmp_path / "report")
    assert "not compared with" in result.output  # they do not share a group
    notes = (tmp_path / "report" / "report.md").read_text()
    assert "no encoder, prompts cut on the left to 4096 tokens, seeds 0" in notes
    assert merit("audit", tmp_path / "cut", "--data", tmp_path / "data").exit_code == 0


def test_predict_and_grids_cut_prompts_too(chat: ChatServer, tmp_path: Path) -> None:
    out = tmp_path / "first.jsonl"
    predicted = merit("predict", "spider", "--data", tmp_path / "data", "--model", "openai:m", "--out", out, *CUT)
    assert predicted.exit_code == 0
    assert any(asked.path == "/tokenize" for asked in chat.asked)
    grid = write_grid(tmp_path, methods=["iterative"], max_prompt_tokens=4096, truncate="left")
    assert run_grid(grid).exit_code == 0
    [manifest] = (tmp_path / "runs").rglob("manifest.json")
    assert read_manifest(manifest.parent).identity.sampling.max_prompt_tokens == 4096


def test_what_to_cut_and_where_are_said_together(chat: ChatServer, tmp_path: Path) -> None:
    for options in (("--max-prompt-tokens", 10), ("--truncate", "left")):
        assert "--max-prompt-tokens and --truncate go together; give both, as in" in refused(
            *run_command(tmp_path, "run", *options)
        )
    for fields in ({"max_prompt_tokens": 10}, {"truncate": "left"}, {"max_prompt_tokens": 10, "truncate": "right"}):
        result = run_grid(write_grid(tmp_path, **fields))
        assert "the field 'max_prompt_tokens' needs truncate = \"left\"" in str(result.exception)
    assert chat.requests == 0


def test_a_model_that_cannot_cut_ends_a_run_before_it_begins(chat: ChatServer, tmp_path: Path) -> None:
    chat.paths = {"/v1/chat/completions"}
    assert "does not tell the tokens of a prompt (POST /tokenize, answered 404)" in refused(
        *run_command(tmp_path, "run", *CUT)
    )
    assert not (tmp_path / "run").exists()
    script = tmp_path / "script.jsonl"
    script.write_text('{"reply": "SELECT 1"}\n')
    assert "a script has no tokenizer to cut prompts by; leave the limit on prompt tokens out" in refused(
        *run_command(tmp_path, "run", *CUT, model=f"scripted:{script}")
    )


NEUTRAL = {"top_p": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
ALL = {**NEUTRAL, "repetition_penalty": 1.0, "repeat_penalty": 1.0, "top_k": -1.0, "min_p": 0.0}


def test_a_manifest_shows_what_greedy_requests_state_and_is_the_same_run(chat: ChatServer, tmp_path: Path) -> None:
    assert merit(*run_command(tmp_path, "run")).exit_code == 0
    record = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert record["made_with"]["greedy"] == ALL
    assert read_manifest(tmp_path / "run").made_with.greedy == ALL
    assert "greedy" not in record["identity"]
    assert [session["greedy"] for session in sessions(tmp_path / "run")] == [ALL]
    del record["made_with"]["greedy"]  # as an earlier merit wrote it
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(record))
    assert read_manifest(tmp_path / "run").run == record["run"]
    assert merit(*run_command(tmp_path, "run")).exit_code == 0  # goes on with it


def test_what_a_server_refused_is_in_the_timings(chat: ChatServer, tmp_path: Path) -> None:
    chat.behaviour = lambda asked: (refusal(400, "unknown: top_k") if "top_k" in asked.body else answering)(asked)
    assert merit(*run_command(tmp_path, "run")).exit_code == 0
    assert [session["greedy"] for session in sessions(tmp_path / "run")] == [NEUTRAL]


@pytest.mark.parametrize("greedy", [["top_k"], {"top_k": "none"}, {"top\nk": 1.0}])
def test_a_manifest_that_was_edited_is_refused(greedy: object, chat: ChatServer, tmp_path: Path) -> None:
    assert merit(*run_command(tmp_path, "run")).exit_code == 0
    path = tmp_path / "run" / "manifest.json"
    record = json.loads(path.read_text())
    record["made_with"]["greedy"] = greedy
    path.write_text(json.dumps(record))
    with pytest.raises(MeritError, match="made_with"):
        read_manifest(tmp_path / "run")
