"""Grids: from one file to many runs, through faults and kills."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from making.benchmark import ITEMS, build, write_initial
from making.endpoint import (
    Action,
    Asked,
    ChatServer,
    Reply,
    cut_off,
    empty_choices,
    reset,
    status,
    truncated_json,
)
from making.grids import METHODS, answering, run_grid, write_grid
from making.runs import files_of
from merit.cli.main import cli
from merit.errors import BudgetSpent, InputError, MeritError
from merit.stream import audit_run, read_grid, read_run


def dripping(asked: Asked) -> Reply:
    return replace(answering(asked), byte_s=0.0005)


FAULTS = [status(500), status(503), status(429, "0.05"), truncated_json, empty_choices, cut_off, reset, dripping]


def stormy(asked: Asked) -> Action:
    """One request in five goes wrong, by what and how often it was asked."""
    generator = random.Random(f"{asked.prompt}{asked.attempt}")
    return generator.choice(FAULTS)(asked) if generator.random() < 0.2 else answering(asked)


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    build(tmp_path / "data")
    write_initial(tmp_path / "initial.jsonl")
    return write_grid(tmp_path, out="runs")


def test_a_grid_is_its_single_runs(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = run_grid(grid)
        assert result.exit_code == 0, result.output
        for method in METHODS:
            single = tmp_path / f"single-{method}"
            command = ["run", "spider", "--data", tmp_path / "data", "--initial", tmp_path / "initial.jsonl"]
            command += ["--method", method, "--model", "openai:m", "--out", single, "--ahead", 0]
            assert CliRunner().invoke(cli, list(map(str, command))).exit_code == 0
            assert files_of(single) == files_of(tmp_path / "runs" / "spider-dev" / method / "seed0")
            assert audit_run(read_run(single)).questions == len(ITEMS)
    assert server.requests == len({json.dumps(one.body, sort_keys=True) for one in server.asked})  # none asked twice


def test_each_run_counts_what_it_sent_itself(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = run_grid(write_grid(tmp_path, out="priced", prices=[1, 2.5]))
        assert result.exit_code == 0, result.output
    sent = [json.loads(path.read_text())["sessions"][0]["sent"] for path in tmp_path.glob("priced/**/timings.json")]
    assert len(sent) == len(METHODS)
    assert all(0 < one["calls"] < server.requests for one in sent)
    assert sum(one["calls"] for one in sent) == server.requests
    cost = sum(one["prompt_tokens"] + 2.5 * one["output_tokens"] for one in sent) / 1e6
    assert sum(one["cost"] for one in sent) == pytest.approx(cost, abs=1e-5)


def test_money_ends_a_grid(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = run_grid(write_grid(tmp_path, out="poor", prices=[1000, 0], max_cost=0.5), "--concurrency", "1")
        assert isinstance(result.exception, BudgetSpent)
        assert "was spent of the 0.5 allowed" in str(result.exception)
        spent = server.requests
        result = run_grid(write_grid(tmp_path, out="poor", prices=[1000, 0], max_cost=0.5), "--max-cost", "1000")
        assert result.exit_code == 0, result.output  # an option goes before the file
    assert 0 < spent < server.requests
    assert server.requests == len({json.dumps(one.body, sort_keys=True) for one in server.asked})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"max_cost": 1.0}, "a limit on the cost needs prices"),
        ({"max_cost": 0}, "the field 'max_cost' should be a number above 0, not 0"),
        ({"max_tokens": -1}, "the field 'max_tokens' should be a number above 0, not -1"),
        ({"prices": [1]}, r"the field 'prices' should be .*, such as \[0.15, 0.6\], not \[1\]"),
        ({"prices": [1, -1]}, "the field 'prices' should be"),
        ({"prices": [1, "2"]}, "the field 'prices' should be"),
    ],
)
def test_money_that_is_none_is_refused(grid: Path, tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    result = run_grid(write_grid(tmp_path, out="new", **changes))
    assert isinstance(result.exception, InputError)
    assert re.search(said, str(result.exception))
    assert not (tmp_path / "new").exists()


def test_first_answers_are_made_where_they_are_missing(
    grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "initial.jsonl").unlink()
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert run_grid(grid).exit_code == 0
    assert len((tmp_path / "initial.jsonl").read_text().splitlines()) == len(ITEMS)


def test_only_the_first_answers_that_are_needed_are_asked_for(
    grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "initial.jsonl").unlink()
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = run_grid(write_grid(tmp_path, out="few", seeds=[0, 1], dataset={"limit": 3}))
        assert result.exit_code == 0, result.output
    assert 3 <= len((tmp_path / "initial.jsonl").read_text().splitlines()) <= 6


def test_faults_change_nothing(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = {}
    for name, behaviour in (("calm", answering), ("stormy", stormy)):
        with ChatServer(behaviour) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            monkeypatch.setenv("MERIT_CACHE", str(tmp_path / f"cache-{name}"))
            result = run_grid(write_grid(tmp_path, out=name))
            assert result.exit_code == 0, result.output
            requests[name] = server.requests
    assert requests["stormy"] > 1.1 * requests["calm"]  # there was something to be patient with
    assert files_of(tmp_path / "stormy") == files_of(tmp_path / "calm")


KILLS = int(os.environ.get("MERIT_KILLS", "8"))


def test_killed_at_any_moment_it_goes_on(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four streams, kill -9 at random moments, the same command again: the same bytes, no kept answer asked for again."""
    generator = random.Random(7)
    with ChatServer(answering, latency_s=0.02) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "calm-cache"))
        calm = write_grid(tmp_path, out="calm")
        started = time.monotonic()
        command = [sys.executable, "-m", "merit", "grid"]
        subprocess.run([*command, str(calm)], check=True, capture_output=True, timeout=120)
        length_s = time.monotonic() - started
        expected = files_of(tmp_path / "calm")
        deaths, rounds = 0, 0
        while deaths < KILLS:
            rounds += 1
            out, cache = f"killed{rounds}", str(tmp_path / f"cache{rounds}")
            path, environment = write_grid(tmp_path, out=out), {**os.environ, "MERIT_CACHE": cache}
            before, kills = server.requests, []
            while True:
                process = subprocess.Popen(
                    [*command, str(path)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                try:
                    process.wait(generator.uniform(0.3, 1.0) * length_s)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    kills.append(time.monotonic())
                    process.wait()
                    deaths += 1
                    continue
                assert process.returncode == 0
                break
            assert files_of(tmp_path / out) == expected
            _check_asked_again(server.asked[before:], kills)


def _check_asked_again(asked: list[Asked], kills: list[float]) -> None:
    """Whatever was asked for again had been under way when the process was killed."""
    last: dict[str, float] = {}
    for one in asked:
        key = json.dumps(one.body, sort_keys=True)
        if key in last:
            assert any(last[key] < kill < last[key] + 1.0 for kill in kills), (
                "an answer that was kept was asked for again"
            )
        last[key] = one.at


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"methods": ["merit", "merti"]}, "there is no method 'merti'; did you mean 'merit'?"),
        ({"seeds": ["0"]}, "the field 'seeds' should be a list of numbers"),
        ({"regime": "mine"}, "the field 'regime' should be denotation_confirmed or dbms_only, not 'mine'"),
        ({"colour": "red"}, "the field 'colour' means nothing here; known are out, model"),
        ({"budget": "7"}, "the field 'budget' cannot be '7'"),
        ({"methods": []}, "no run at all"),
        ({"dataset": {"name": "spyder"}}, "dataset 1: unknown dataset 'spyder'; use spider or bird"),
        ({"dataset": {"protocol": "x"}}, "dataset 1: the field 'protocol' should be db or suite, not 'x'"),
        ({"methods": ["merit", "merit"]}, "the run spider-dev/merit/seed0 is there twice"),
    ],
)
def test_a_grid_file_that_is_wrong_says_where(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        read_grid(write_grid(tmp_path, **changes))
    assert said in str(refused.value)


@pytest.mark.parametrize("timeout", ["inf", "nan", "0", "-1.5"])
def test_a_time_limit_that_is_none_is_refused(tmp_path: Path, timeout: str) -> None:
    """A manifest could not say it: JSON has no such number."""
    path = write_grid(tmp_path)
    path.write_text(f"{path.read_text()}\ntimeout = {timeout}\n")
    with pytest.raises(InputError) as refused:
        read_grid(path)
    assert (
        str(refused.value) == f"{path}, dataset 1: timeout: {float(timeout)!r} is no number of seconds; use one above 0"
    )


def test_a_file_that_is_no_grid(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("out = [")
    with pytest.raises(InputError, match=r"x.toml: not valid TOML"):
        read_grid(tmp_path / "x.toml")
    (tmp_path / "x.toml").write_text('out = "runs"')
    with pytest.raises(InputError, match="the field 'model' is missing"):
        read_grid(tmp_path / "x.toml")


def test_what_is_wrong_is_said_before_a_call(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "initial.jsonl").write_text('{"id": 99, "sql": ""}\n')
    with ChatServer(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = run_grid(grid)
    assert isinstance(result.exception, MeritError)
    assert "no question with id 99" in str(result.exception)
    assert server.requests == 0
    assert not (tmp_path / "runs").exists()


def test_a_dead_endpoint_is_one_sentence(grid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(status(401)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = run_grid(grid)
    assert isinstance(result.exception, MeritError)
    assert "\n" not in str(result.exception)
    assert "answered 401" in str(result.exception)
