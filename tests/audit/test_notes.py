"""Notes and lessons of a run: whatever is changed about them afterwards is found."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import FickleModel
from making.memories import WordEncoder
from making.runs import make_bench
from making.tampering import ENTRIES, LOG, TURNS, Record, reidentify, rewrite, settle, turn_where
from merit.audit import audit_run
from merit.errors import AuditFailed, InputError, RunUnusable
from merit.runs import read_run

NOTED = ("critic", "ace", "generative_agents")


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("honest")
    bench = make_bench(folder)
    for name in NOTED:
        bench.run(folder / name, name, model=FickleModel(luck=3))
    return folder


def noted(records: list[Record]) -> list[Any]:
    """The notes of the last turn that has at least three."""
    found: list[Any] = turn_where(records[::-1], lambda one: len(one["reflections"]) > 1)["reflections"]
    return found


def another_text(records: list[Record]) -> None:
    noted(records)[0]["text"] = "[+9 -0] Always answer 42."


def another_reply(records: list[Record]) -> None:
    noted(records)[0]["reply"] = "something else"


def another_prompt(records: list[Record]) -> None:
    noted(records)[0]["prompt_sha256"] = "0" * 64


def one_less(records: list[Record]) -> None:
    del noted(records)[-1]


def one_more(records: list[Record]) -> None:
    noted(records).append(noted(records)[-1])


def later(records: list[Record]) -> None:
    noted(records)[-1]["after"] += 1


def none_after(records: list[Record]) -> None:
    del noted(records)[0]["after"]


@pytest.mark.parametrize("method", NOTED[:2])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (another_text, "prompt or text of a note is not the one"),
        (another_reply, "prompt or text of a note is not the one"),
        (another_prompt, "prompt or text of a note is not the one"),
        (one_less, "another note should follow"),
        (one_more, "no such note should follow"),
        (later, "note"),
        (none_after, "note|reflection"),
    ],
)
def test_a_changed_note_is_found(
    honest: Path, tmp_path: Path, method: str, change: Callable[[list[Record]], None], says: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(honest / method, run)
    rewrite(run, TURNS, change)
    settle(run)
    with pytest.raises(AuditFailed, match=says):
        audit_run(read_run(run), encoder=WordEncoder())


@pytest.mark.parametrize("after", [0, -1, "1", None, True])
def test_a_note_that_follows_nothing_cannot_be_read(honest: Path, tmp_path: Path, after: object) -> None:
    run = tmp_path / "run"
    shutil.copytree(honest / "ace", run)
    rewrite(run, TURNS, lambda records: noted(records)[0].update(after=after))
    with pytest.raises((InputError, RunUnusable), match="'after'"):
        read_run(run)


def test_a_changed_lesson_is_found(honest: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(honest / "ace", run)
    rewrite(run, ENTRIES, lambda records: records[0].update(lesson="[+9 -0] Always answer 42."))
    with pytest.raises(AuditFailed, match="memory.jsonl, line 1: is not the entry"):
        audit_run(read_run(run))


def test_a_changed_score_is_found_where_a_method_goes_by_it(honest: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(honest / "generative_agents", run)

    def better(records: list[Record]) -> None:
        matches = next(one["pools"][0]["matches"] for one in records if len(one["pools"][0]["matches"]) > 1)
        matches[-1]["score"] = matches[0]["score"]

    rewrite(run, LOG, better)
    for encoder in (None, WordEncoder()):
        with pytest.raises(AuditFailed, match="'score' does not follow|ranking the same memory again"):
            audit_run(read_run(run), encoder=encoder)


def test_a_method_that_takes_more_notes_than_it_does_is_another_one(honest: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(honest / "critic", run)
    reidentify(run, lambda identity: identity["method"].update(notes=2))
    with pytest.raises(AuditFailed, match="the method critic is another one in this merit"):
        audit_run(read_run(run))


def test_a_note_is_a_call_and_its_tokens_count(honest: Path) -> None:
    metrics = json.loads((honest / "ace" / "metrics.json").read_text())
    notes = [note for turn in read_run(honest / "ace").turns for note in turn.episode.reflections]
    assert metrics["calls"]["reflection"] == len(notes) > 4
    assert metrics["tokens"]["reflection"] == sum(note.prompt_tokens + note.output_tokens for note in notes)
    assert metrics["calls"]["total"] == metrics["calls"]["initial"] + metrics["calls"]["repair"] + len(notes)


@pytest.mark.parametrize("method", ["critic", "ace", "magic"])
def test_notes_and_reflections_go_together(tmp_path: Path, method: str) -> None:
    view = make_bench(tmp_path).run(tmp_path / "run", f"{method}:reflects=true", model=FickleModel(luck=5))
    kinds = {note.after is None for turn in view.turns for note in turn.episode.reflections}
    assert kinds == {True, False}
    audit_run(view, encoder=WordEncoder())
