"""Whatever is wrong with a run's files: it is read, shown and gone on with, or refused in one sentence."""

import asyncio
import hashlib
import json
import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import FickleModel
from making.commands import call, refusal
from making.memories import WordEncoder
from making.runs import Bench, caching, files_of, make_bench
from merit.audit import audit_run
from merit.models import CachingEncoder
from merit.runs import read_run
from merit.runs.manifest import run_id
from merit.runs.text import json_text
from merit.stream import OwnParts, Setup, open_setup, run_stream

TURNS, LOG, ANSWERS, MANIFEST = "trajectories.jsonl", "retrievals.jsonl", "predictions.jsonl", "manifest.json"
ENTRIES = "memory/memory.jsonl"
FILES = [MANIFEST, "stream.json", TURNS, LOG, ANSWERS, ENTRIES, "metrics.json", "timings.json"]
LENGTH = 5
SHOWN = 1  # the turn that is shown: one of several attempts
NONSENSE: list[Any] = [None, -1, "x", [[]], {"x": 1}]
SURROGATE = "\ud800"  # half a character: JSON can spell it, and nothing can write it


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def setup(bench: Bench) -> Iterator[Setup]:
    """What the run is made of, so that it can be gone on with often."""
    with OwnParts(caching(FickleModel(luck=4)), CachingEncoder(WordEncoder(), None)) as parts:
        yield open_setup(bench.spec("merit", limit=LENGTH, budget=3), parts)


@pytest.fixture(scope="module")
def honest(setup: Setup, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("honest") / "run"
    asyncio.run(run_stream(setup, out))
    assert all((out / file).stat().st_size for file in FILES)  # every file has something to damage
    attempts = read_run(out).turns[SHOWN].episode.attempts
    assert len(attempts) > 2
    assert all(attempt.sql for attempt in attempts)  # so that another reply is another SQL
    return out


@pytest.fixture
def run(honest: Path, tmp_path: Path) -> Path:
    shutil.copytree(honest, tmp_path / "run")
    return tmp_path / "run"


def go_on(run: Path, setup: Setup) -> None:
    asyncio.run(run_stream(setup, run))


def use(run: Path, setup: Setup) -> dict[str, str | None]:
    """Use a run in every way; all of them work, or say in a sentence why not."""
    return {
        "audit": refusal(lambda: audit_run(read_run(run), encoder=CachingEncoder(WordEncoder(), None))),
        "show": refusal(lambda: call("show", run, setup.order[SHOWN].question.id)),
        "going on": refusal(lambda: go_on(run, setup)),
    }


def test_an_honest_run_can_be_used_in_every_way(run: Path, setup: Setup) -> None:
    before = files_of(run)
    assert set(use(run, setup).values()) == {None}
    assert files_of(run) == before
    call("audit", run)


# Files.


def middle_of_a_line(data: bytes) -> int:
    middle = len(data) // 2
    return middle + 1 if data[middle - 1 : middle] == b"\n" else middle


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "bytes that are no text": lambda data: data[: len(data) // 2] + b"\xff\xfe" + data[len(data) // 2 :],
    "cut in the middle of a line": lambda data: data[: middle_of_a_line(data)],
    "nothing": lambda _: b"",
    "null": lambda _: b"null\n",
    "an empty list": lambda _: b"[]\n",
    "an empty object": lambda _: b"{}\n",
    "a lone surrogate": lambda _: b'"\\ud800"\n',
    "depth": lambda _: b"[" * 100_000 + b"\n",
    "a number of many digits": lambda _: b'{"format": ' + b"1" * 5000 + b"}\n",
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_file_is_said_in_a_sentence(run: Path, setup: Setup, file: str, damage: str) -> None:
    before = (run / file).read_bytes()
    (run / file).write_bytes(DAMAGES[damage](before))
    refusal(lambda: call("audit", run))
    said = use(run, setup)
    if file == "timings.json":
        assert set(said.values()) == {None}  # which nothing depends on
    else:
        assert said["audit"] is not None


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file_is_said_in_a_sentence(run: Path, setup: Setup, file: str) -> None:
    (run / file).unlink()
    said = use(run, setup)
    assert (said["audit"] is None) == (file == "timings.json")


# Records.


def rewrite(run: Path, file: str, change: Callable[[list[Any]], Any]) -> Any:
    """Change the records of a file of JSON lines; gives back what the change does."""
    records = [json.loads(line) for line in (run / file).read_text().splitlines()]
    done = change(records)
    lines = [json.dumps(record, separators=(",", ":")) + "\n" for record in records]
    (run / file).write_text("".join(lines))
    return done


def nonsense_in(
    run: Path, setup: Setup, damage: Callable[[Any], object], check: Callable[[dict[str, str | None]], object]
) -> None:
    """Try every nonsense in one place of a run; `damage` gives back what was there before."""
    whole = {file: (run / file).read_bytes() for file in FILES}
    for value in NONSENSE:
        if damage(value) != value:
            check(use(run, setup))
        for file, content in whole.items():
            (run / file).write_bytes(content)


def refused_by_the_audit(said: dict[str, str | None]) -> None:
    assert said["audit"] is not None


def exchange(record: Any, place: Any, value: Any) -> Any:
    before, record[place] = record[place], value
    return before


TURN = ["format", "run", "phase", "position", "question_id", "db_id", "initial_correct", "final_correct", "recalls"]
ATTEMPT = ["sql", "reply", "prompt_tokens", "output_tokens", "prompt_sha256", "status", "error", "cause", "type"]


@pytest.mark.parametrize("field", [*TURN, "attempts", "reflections"])
def test_nonsense_in_a_turn(run: Path, setup: Setup, field: str) -> None:
    def damage(value: Any) -> Any:
        return rewrite(run, TURNS, lambda records: exchange(records[SHOWN], field, value))

    nonsense_in(run, setup, damage, refused_by_the_audit)


def test_nonsense_for_an_entry(run: Path, setup: Setup) -> None:
    def damage(value: Any) -> Any:
        return rewrite(run, TURNS, lambda records: exchange(records[SHOWN], "entry", value))

    nonsense_in(run, setup, damage, refused_by_the_audit)


@pytest.mark.parametrize("at", [1, -1])  # the last one is in no later prompt
@pytest.mark.parametrize("field", [*ATTEMPT, "subtype", "repeat"])
def test_nonsense_in_an_attempt(run: Path, setup: Setup, field: str, at: int) -> None:
    def damage(value: Any) -> Any:
        return rewrite(run, TURNS, lambda records: exchange(records[SHOWN]["attempts"][at], field, value))

    nonsense_in(run, setup, damage, refused_by_the_audit)


@pytest.mark.parametrize(
    ("field", "file"), [("pools", LOG), ("question_id", LOG), ("step", LOG), ("phase", LOG), ("sql", ANSWERS)]
)
def test_nonsense_in_a_line(run: Path, setup: Setup, field: str, file: str) -> None:
    def damage(value: Any) -> Any:
        return rewrite(run, file, lambda records: exchange(records[-1], field, value))

    nonsense_in(run, setup, damage, refused_by_the_audit)


@pytest.mark.parametrize("file", [TURNS, LOG, ANSWERS, ENTRIES])
def test_nonsense_instead_of_a_line(run: Path, setup: Setup, file: str) -> None:
    def damage(value: Any) -> Any:
        return rewrite(run, file, lambda records: exchange(records, 0, value))

    nonsense_in(run, setup, damage, refused_by_the_audit)


@pytest.mark.parametrize("field", ["polarity", "legal", "typed", "matches", "dense_range"])
def test_nonsense_in_a_pool(run: Path, setup: Setup, field: str) -> None:
    def damage(value: Any) -> Any:
        return rewrite(run, LOG, lambda records: exchange(records[-1]["pools"][0], field, value))

    nonsense_in(run, setup, damage, refused_by_the_audit)


@pytest.mark.parametrize("field", ["entry", "rank", "score", "dense", "bonus"])
def test_nonsense_in_a_match(run: Path, setup: Setup, field: str) -> None:
    def damage(value: Any) -> Any:
        def change(records: list[Any]) -> Any:
            match = next(match for one in reversed(records) for pool in one["pools"] for match in pool["matches"])
            return exchange(match, field, value)

        return rewrite(run, LOG, change)

    nonsense_in(run, setup, damage, refused_by_the_audit)


# What the run is. Its name follows from that, so a change is made with its name.

PLACES = [
    ("method",),
    *(("method", name) for name in ("repairs", "demonstrations", "recall", "writes", "online")),
    *(("method", name) for name in ("history", "temperature", "greedy_first", "draws", "seed")),
    *(("method", "recall", name) for name in ("precedents", "database_bonus")),
    *(("method", "recall", name) for name in ("positives", "one_pool", "type_filter", "typed_threshold", "databases")),
    *((name,) for name in ("seed", "budget", "dataset", "protocol", "timeout_s", "regime", "initial_sha256")),
    *((name,) for name in ("stream_sha256", "demonstrations", "length", "prompts", "model", "sampling", "encoder")),
    ("code",),
    *(("dataset", name) for name in ("name", "split", "sha256", "questions")),
    ("prompts", "sha256"),
    ("model", "name"),
    ("encoder", "name"),
    ("encoder", "dimension"),
]


def reidentify(run: Path, place: tuple[str, ...], value: Any) -> Any:
    """Exchange something in the identity, and give the run the name that follows."""
    manifest = json.loads((run / MANIFEST).read_text())
    inner = manifest["identity"]
    for name in place[:-1]:
        inner = inner[name]
    replaced = exchange(inner, place[-1], value)
    before, manifest["run"] = manifest["run"], run_id(manifest["identity"])
    (run / MANIFEST).write_text(json_text(manifest))
    for path in run.rglob("*.jsonl"):
        path.write_text(path.read_text().replace(before, manifest["run"]))
    return replaced


def test_nonsense_for_a_methods_name(run: Path, setup: Setup) -> None:
    nonsense_in(run, setup, lambda value: reidentify(run, ("method", "name"), value), refused_by_the_audit)


@pytest.mark.parametrize("place", PLACES, ids=".".join)
def test_nonsense_in_the_manifest(run: Path, setup: Setup, place: tuple[str, ...]) -> None:
    def check(said: dict[str, str | None]) -> None:
        assert said["going on"] is not None  # it is another run

    nonsense_in(run, setup, lambda value: reidentify(run, place, value), check)


@pytest.mark.parametrize("field", ["format", "run", "identity"])
def test_nonsense_for_a_manifest(run: Path, setup: Setup, field: str) -> None:
    def damage(value: Any) -> Any:
        manifest = json.loads((run / MANIFEST).read_text())
        before = exchange(manifest, field, value)
        (run / MANIFEST).write_text(json.dumps(manifest))
        return before

    nonsense_in(run, setup, damage, refused_by_the_audit)


@pytest.mark.parametrize(
    "field",
    [
        "id",
        "db_id",
        "text",
        "evidence",
        "difficulty",
        "draft",
    ],
)
def test_nonsense_in_the_stream(run: Path, setup: Setup, field: str) -> None:
    def damage(value: Any) -> Any:
        stream = json.loads((run / "stream.json").read_text())
        shown = next(one for one in stream["questions"] if one["id"] == setup.order[SHOWN].question.id)
        before = exchange(shown, field, value)
        text = json.dumps(stream)
        (run / "stream.json").write_text(text)
        reidentify(run, ("stream_sha256",), hashlib.sha256(text.encode()).hexdigest())
        return before

    nonsense_in(run, setup, damage, lambda _: None)


# Half a character.


@pytest.mark.parametrize(
    "field",
    ["reply", "status", "type", "sql", "error", "prompt_sha256"],
)
@pytest.mark.parametrize("at", [1, -1])
def test_half_a_character_in_an_attempt(run: Path, setup: Setup, field: str, at: int) -> None:
    rewrite(run, TURNS, lambda records: exchange(records[SHOWN]["attempts"][at], field, SURROGATE))
    refused_by_the_audit(use(run, setup))


def test_half_a_character_in_a_reply_that_says_so(run: Path, setup: Setup) -> None:
    def change(records: list[Any]) -> None:
        records[SHOWN]["attempts"][1].update(sql=SURROGATE, reply=f"<answer>{SURROGATE}</answer>")

    rewrite(run, TURNS, change)
    refused_by_the_audit(use(run, setup))


@pytest.mark.parametrize("field", ["entry", "run", "db_id", "phase", "question_id"])
def test_half_a_character_in_a_turn(run: Path, setup: Setup, field: str) -> None:
    rewrite(run, TURNS, lambda records: exchange(records[SHOWN], field, SURROGATE))
    refused_by_the_audit(use(run, setup))


@pytest.mark.parametrize("file", [LOG, ANSWERS, ENTRIES])
def test_half_a_character_in_a_line(run: Path, setup: Setup, file: str) -> None:
    field = {LOG: "phase", ANSWERS: "sql"}.get(file, "after")
    rewrite(run, file, lambda records: exchange(records[0], field, SURROGATE))
    refused_by_the_audit(use(run, setup))


@pytest.mark.parametrize("field", ["code", "protocol"])
def test_half_a_character_in_the_manifest(run: Path, setup: Setup, field: str) -> None:
    manifest = json.loads((run / MANIFEST).read_text())
    manifest["identity"][field] = SURROGATE
    (run / MANIFEST).write_text(json.dumps(manifest))
    refused_by_the_audit(use(run, setup))


# Going on.


def test_unfinished_files_are_cleared_away(run: Path, setup: Setup) -> None:
    before = files_of(run)
    for name in ("manifest.json.part", "metrics.json.part", "timings.json.part"):
        (run / name).write_text('{"format"')
    go_on(run, setup)
    assert files_of(run) == before


def test_a_run_that_lost_its_recalls_runs_their_turns_again(
    run: Path, setup: Setup, caplog: pytest.LogCaptureFixture
) -> None:
    before = files_of(run)
    (run / LOG).write_bytes(b"")
    with caplog.at_level(logging.WARNING):
        go_on(run, setup)
    assert "turns are not whole in every file and are run again" in caplog.text
    assert files_of(run) == before


def test_timings_of_any_kind_are_begun_anew(run: Path, setup: Setup) -> None:
    for nonsense in ("null", "[]", "{}", '{"sessions": 7}', '{"sessions": {"x": 1}}', "7", '"x"', "\x00"):
        (run / "timings.json").write_text(nonsense)
        (run / LOG).write_bytes(b"")
        go_on(run, setup)
        assert json.loads((run / "timings.json").read_text())["sessions"][-1]["turns"] > 0


def test_going_on_leaves_a_run_that_it_refuses_as_it_is(run: Path, setup: Setup) -> None:
    rewrite(run, ANSWERS, lambda records: records[0].update(sql="SELECT 'edited'"))
    before = files_of(run)
    said = refusal(lambda: go_on(run, setup))
    assert said is not None
    assert "predictions.jsonl, line 1: is not the final SQL of its turn" in said
    assert files_of(run) == before


def test_a_metrics_file_is_written_again(run: Path, setup: Setup) -> None:
    before = files_of(run)
    (run / "metrics.json").write_text(json_text({"accuracy": 100.0}))
    go_on(run, setup)
    assert files_of(run) == before
