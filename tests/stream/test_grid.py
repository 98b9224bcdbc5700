"""Grids: from one file to many runs, through faults and kills."""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from making.benchmark import ITEMS, build, write_initial
from making.clock import COMES_S, STALL_S
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
from merit.agent import RELATED
from merit.audit import audit_run
from merit.cli.main import cli
from merit.errors import BudgetSpent, InputError, MeritError
from merit.models import AnswerStore, answer_key
from merit.models.answers import FILE
from merit.runs import ReviewPolicy, read_run
from merit.stream import read_grid
from merit.types import ModelIdentity, ReviewKind, Sampling


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
        ({"max_cost": 1.0}, r"new\.toml: a limit on the cost needs prices: write prices = \[PROMPT, OUTPUT\]"),
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
    again = 0

    def counted(asked: Asked) -> Action:
        nonlocal again
        again += asked.attempt > 1
        return stormy(asked)

    for name, behaviour in (("calm", answering), ("stormy", counted)):
        with ChatServer(behaviour) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            monkeypatch.setenv("MERIT_CACHE", str(tmp_path / f"cache-{name}"))
            result = run_grid(write_grid(tmp_path, out=name))
            assert result.exit_code == 0, result.output
    assert again > 10  # there was something to be patient with
    assert files_of(tmp_path / "stormy") == files_of(tmp_path / "calm")


KILLS = int(os.environ.get("MERIT_KILLS", "4"))
PLACES = 8


@dataclass(frozen=True)
class Life:
    """What a process left behind: the answers that were kept, and the prompts whose answers stand in a run's turns."""

    name: str
    kept: set[bytes]
    used: set[str]


def test_killed_at_any_moment_it_goes_on(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four streams, kill -9 at random moments, the same command again: the same bytes, no kept answer asked for again."""
    generator = random.Random(7)
    rounds: list[list[Life]] = []
    with ChatServer(answering, latency_s=0.02) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "calm-cache"))
        calm = write_grid(tmp_path, out="calm")
        started = time.monotonic()
        command = [sys.executable, "-m", "merit", "grid", "--concurrency", str(PLACES)]
        subprocess.run([*command, str(calm)], check=True, capture_output=True, timeout=COMES_S)
        length_s, whole = time.monotonic() - started, server.requests
        expected = files_of(tmp_path / "calm")
        while sum(len(lives) - 1 for lives in rounds) < KILLS:
            out, cache = f"killed{len(rounds)}", tmp_path / f"cache{len(rounds)}"
            path, finished = write_grid(tmp_path, out=out), False
            lives: list[Life] = []
            while not finished:
                name = f"{out}-{len(lives)}"  # told to the server as a key: whose a request is, whenever it is read
                environment = {**os.environ, "MERIT_CACHE": str(cache), "OPENAI_API_KEY": name}
                process = subprocess.Popen(
                    [*command, str(path)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                calls = generator.choice([0, generator.randint(1, whole)])  # so that slow machines come to an end too
                while process.poll() is None and len(_of(name, server.asked)) < calls:
                    time.sleep(0.002)
                try:
                    finished = process.wait(generator.uniform(0.0, 0.05 if calls else length_s)) == 0
                    assert finished
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                lives.append(_left(name, cache, tmp_path / out, tmp_path / "left" / name))
            assert files_of(tmp_path / out) == expected
            rounds.append(lives)
    for lives in rounds:  # the server has ended: every request that was sent has been read
        _check_asked_again(lives, server.asked)


def _left(name: str, cache: Path, out: Path, copy: Path) -> Life:
    """What is on disk; of the answers a copy is opened, so that the next process finds them as they were left."""
    copy.mkdir(parents=True)
    for path in cache.glob(f"{FILE}*"):
        shutil.copy(path, copy)
    with closing(AnswerStore(copy / FILE)) as store:
        kept = {key for key, _, _ in store.items()}
    turns = "".join(path.read_text(errors="replace") for path in out.rglob("trajectories.jsonl"))
    return Life(name, kept, set(re.findall(r'"prompt_sha256": ?"(\w{64})"', turns)))


def _check_asked_again(lives: list[Life], asked: list[Asked]) -> None:
    """A kill loses no more than the calls under way, and what was kept, all that was used in it, is not asked again."""
    prompts: dict[bytes, str] = {}
    before = Life("", set(), set())
    for life in lives:
        mine = _of(life.name, asked)
        keys = [_key(one) for one in mine]
        prompts |= dict(zip(keys, (hashlib.sha256(one.prompt.encode()).hexdigest() for one in mine), strict=True))
        assert len(set(keys)) == len(keys), "one process asked twice"
        assert not before.kept & set(keys), "an answer that was kept was asked for again"
        assert before.kept <= life.kept, "an answer that was kept is gone"
        assert life.used <= {prompts[key] for key in life.kept}, "an answer was used that was not kept"
        assert len(set(keys) - life.kept) <= PLACES, "more was lost than was under way"
        before = life


def _of(name: str, asked: list[Asked]) -> list[Asked]:
    return [one for one in asked if one.authorization == f"Bearer {name}"]


def _key(asked: Asked) -> bytes:
    sampling = Sampling(asked.body["temperature"], asked.body["max_tokens"], asked.body.get("seed"))
    return answer_key(ModelIdentity("openai:m"), asked.prompt, sampling)


_REVIEWED = {"regime": "reviewed", "review_shares": [0.3], "methods": ["precedent"]}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"methods": ["merit", "merti"]}, "runs.toml, dataset 1: there is no method 'merti'; did you mean 'merit'?"),
        ({"seeds": ["0"]}, "the field 'seeds' should be a list of whole numbers"),
        ({"regime": "mine"}, "the field 'regime' should be denotation_confirmed or dbms_only or reviewed, not 'mine'"),
        ({"review_shares": [0.3]}, "the field 'review_shares' goes with regime = \"reviewed\""),
        ({"regime": "reviewed"}, "with this regime, write review_shares, such as [0, 0.3]"),
        (_REVIEWED | {"review_shares": [30]}, "the fields 'review' and 'review_shares': share: expected a number from"),
        (_REVIEWED | {"review_shares": ["all"]}, "the field 'review_shares' should be a list of numbers, not 'all'"),
        (_REVIEWED | {"review": "praise"}, "kind: expected corrections or thumbs, not 'praise'"),
        (_REVIEWED | {"methods": ["resample"]}, "runs.toml, dataset 1: method: resample recalls nothing"),
        ({"colour": "red"}, "the field 'colour' means nothing here; known are out, model"),
        ({"budget": "7"}, "the field 'budget' cannot be '7'"),
        ({"methods": []}, "no run at all"),
        ({"methods": ["all"]}, "dataset 1: the field 'methods' takes all methods as \"all\", without brackets"),
        ({"methods": ["merit", "related"]}, "the field 'methods' takes all methods as \"related\", without brackets"),
        ({"methods": "unrelated"}, 'the field \'methods\' should be a list of names, or "all" or "related"'),
        ({"dataset": {"name": "spyder"}}, "dataset 1: unknown dataset 'spyder'; use spider or bird"),
        ({"dataset": {"distinct": "x"}}, "dataset 1: the field 'distinct' should be kept or dropped, not 'x'"),
        ({"dataset": {"protocol": "x"}}, "dataset 1: the field 'protocol' should be db or suite, not 'x'"),
        ({"methods": ["merit", "merit"]}, "the run spider-dev/merit/seed0 is there twice"),
        ({"model": "openai:\0"}, "the field 'model' cannot be 'openai:\\x00'; it holds a NUL character"),
        ({"dataset": {"initial": "a\0b"}}, "dataset 1: the field 'initial' cannot be 'a\\x00b'; it holds a NUL"),
        ({"dataset": {"limit": -4}}, "dataset 1: the field 'limit' should be a number above 0, not -4"),
        ({"dataset": {"limit": 0}}, "dataset 1: the field 'limit' should be a number above 0, not 0"),
    ],
)
def test_a_grid_file_that_is_wrong_says_where(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        read_grid(write_grid(tmp_path, **changes))
    assert said in str(refused.value)


def test_a_word_stands_for_all_ideas_of_related_work(tmp_path: Path) -> None:
    grid = read_grid(write_grid(tmp_path, methods="related", seeds=[0]))
    assert [spec.method for spec in grid.runs.values()] == list(RELATED)


def test_a_grid_of_reviewed_runs_has_each_share_and_kind_and_what_is_not_reviewed_once(tmp_path: Path) -> None:
    shares = {"review_shares": [0, 0.1, 1], "review": ["corrections", "thumbs"], "seeds": [0]}
    grid = read_grid(write_grid(tmp_path, **(_REVIEWED | shares)))
    found = {name: spec.review for name, spec in grid.runs.items()}
    assert found == {
        "spider-dev/precedent-unreviewed/seed0": ReviewPolicy(0, ReviewKind.CORRECTIONS),
        "spider-dev/precedent-corrections-0.1/seed0": ReviewPolicy(0.1, ReviewKind.CORRECTIONS),
        "spider-dev/precedent-thumbs-0.1/seed0": ReviewPolicy(0.1, ReviewKind.THUMBS),
        "spider-dev/precedent-corrections-1/seed0": ReviewPolicy(1, ReviewKind.CORRECTIONS),
        "spider-dev/precedent-thumbs-1/seed0": ReviewPolicy(1, ReviewKind.THUMBS),
    }


@pytest.mark.parametrize("timeout", ["inf", "3601", "1e300"])
def test_a_time_limit_that_no_run_may_have_is_refused(tmp_path: Path, timeout: str) -> None:
    path = write_grid(tmp_path)
    path.write_text(f"{path.read_text()}\ntimeout = {timeout}\n")
    with pytest.raises(InputError) as caught:
        read_grid(path)
    assert str(caught.value) == f"{path}, dataset 1: the field 'timeout' should be 3600 seconds at most"


@pytest.mark.parametrize("timeout", ["nan", "0", "-1.5"])
def test_a_time_limit_that_is_none_is_refused(tmp_path: Path, timeout: str) -> None:
    """A manifest could not say it: JSON has no such number."""
    path = write_grid(tmp_path)
    path.write_text(f"{path.read_text()}\ntimeout = {timeout}\n")
    with pytest.raises(InputError) as refused:
        read_grid(path)
    assert (
        str(refused.value)
        == f"{path}, dataset 1: timeout: {float(timeout)!r} is not a number of seconds; use one above 0"
    )


def test_an_unknown_encoder_is_refused_even_where_none_is_needed(tmp_path: Path) -> None:
    path = write_grid(tmp_path, methods=["iterative"], encoder="foo")
    with pytest.raises(InputError, match=f"{path}: foo: unknown encoder; use wordllama"):
        read_grid(path)


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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"seeds = [{'9' * 5000}]", "not valid TOML (a number has too many digits)"),
        ("x" + ".x" * 20_000 + " = 1", "line 1: more than 300 dots; break the line"),
        ("# all of it\n" * 30_000, "more than 256 KiB; is it the right file?"),
        (
            f"out = 'o'\nmodel = 'm'\nseeds = {list(range(20_000))}\n"
            + "".join(f"[[dataset]]\nname='bundled'\ninitial='{number}'\n" for number in range(2000)),
            "large.toml: more than 10000 runs; write several grids",
        ),
    ],
    ids=["digits", "dots", "size", "runs"],
)
def test_a_file_that_takes_too_long_to_read_is_one_sentence(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "large.toml"
    path.write_text(content)
    begun = time.monotonic()
    with pytest.raises(InputError) as caught:
        read_grid(path)
    assert time.monotonic() - begun < STALL_S
    assert said in str(caught.value)


@pytest.mark.parametrize("digits", [2**63, -(2**63) - 1, 10**400, -(10**400), "0x" + "f" * 5000])
@pytest.mark.parametrize(
    "line",
    ["out = {}", "seeds = [{}]", "budget = {}", "max_cost = {}", "prices = [1, {}]", "review_shares = [{}]"]
    + ["[[dataset]]\nlimit = {}", "[[dataset]]\ntimeout = {}", "dataset = [{{limit = {}}}]"],
)
def test_a_number_beyond_all_use_is_one_sentence(tmp_path: Path, line: str, digits: int | str) -> None:
    """Python reads hexadecimal numbers of any length, and cannot print them."""
    path = tmp_path / "grid.toml"
    path.write_text(line.format(digits))
    field = re.findall(r"\w+(?= =)", line)[-1]
    with pytest.raises(InputError) as caught:
        read_grid(path)
    assert str(caught.value) == f"{path}: a number in the field '{field}' is too large; integers have at most 64 bits"


@pytest.mark.parametrize(
    "changes", [{"seeds": [2**60]}, {"max_cost": 2**60}, {"max_tokens": 2**60}, {"prices": [1, 2**60]}]
)
def test_a_number_beyond_what_its_field_is_for_is_one_sentence(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"the field '{next(iter(changes))}' should be ") as caught:
        read_grid(write_grid(tmp_path, **changes))
    assert len(str(caught.value)) < 400


def test_a_long_value_of_the_wrong_kind_is_cut(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the field 'budget' cannot be '9") as caught:
        read_grid(write_grid(tmp_path, budget="9" * 100_000))
    assert len(str(caught.value)) < 400


def test_toml_so_deep_that_nothing_reads_it_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "deep.toml"
    path.write_text("out = 'x'\nmodel = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(InputError, match=r"deep\.toml: TOML nested too deeply"):
        read_grid(path)


@pytest.mark.parametrize(
    ("line", "way_out"),
    [
        ("seeds = 0", "a list in brackets"),
        ("budget = '7'", "a whole number without quotes"),
        ("model = 7", "a text in quotes"),
    ],
)
def test_a_value_of_the_wrong_kind_is_answered_with_how_to_write_it(tmp_path: Path, line: str, way_out: str) -> None:
    path = tmp_path / "grid.toml"
    path.write_text(f"{line}\n")
    with pytest.raises(InputError, match="is missing|cannot be"):
        read_grid(path)
    others = "\n".join(one for one in ("out = 'o'", "model = 'openai:m'") if one.split()[0] != line.split()[0])
    path.write_text(f"{line}\n{others}\n[[dataset]]\nname = 'bundled'\n")
    with pytest.raises(InputError, match=f"cannot be .*; write {way_out}"):
        read_grid(path)
