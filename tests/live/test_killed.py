"""Killed at any moment of asking, confirming, correcting and rejecting: nothing acknowledged is lost, nothing is half.

MERIT_KILLS says at how many moments; a few are tried by default.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from making.shop import PAID, Model, open_shop
from merit.errors import InputError
from merit.live import History, LiveAgent
from merit.memory import Grade, entries_in, with_id
from merit.settings import MemorySettings

KILLS = int(os.environ.get("MERIT_KILLS", "3"))
KINDS = {"confirm": "Confirmed", "correct": "Corrected", "reject": "Rejected"}


def test_whatever_was_acknowledged_is_there_and_nothing_is_half_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    command = [sys.executable, "-m", "making.killing", str(tmp_path), str(KILLS)]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told["count"] >= 100
    assert (len(told["moments"]), told["survivors"]) == (KILLS, [])
    for moment in [0, *told["moments"]]:
        check(tmp_path / str(moment))


def check(folder: Path) -> None:
    """What a kill left in a folder: whole, and good to go on with."""
    lines = [json.loads(line) for line in (folder / "acknowledged.jsonl").read_text().splitlines()]
    history = History(folder / "own")
    answers, feedback = history.answers(), history.feedback()
    listed = entries_in(folder / "own" / "memory")
    live = {item.entry.id: item.entry for item in listed if item.deleted is None}
    for word, *rest in lines:
        if word == "asked":
            assert rest[0] in answers, "an answer that was shown"
        elif word in KINDS:
            said = feedback[rest[0]]
            assert type(said).__name__ == KINDS[word]
            assert all(identity in live for identity in said.entries), "what was learned"
    assert all(with_id(item.entry).id == item.entry.id for item in listed), "every entry says what its id says"
    begun = {rest[1] for word, *rest in lines if word == "begin"}
    for entry in live.values():
        assert entry.grade is not Grade.CONFIRMED or entry.provenance.question_id in begun, "a person said so"
    go_on(folder, lines)


def say(agent: LiveAgent, kind: str, answer: str) -> None:
    """What the child was about to say."""
    if kind == "confirm":
        agent.confirm(answer)
    elif kind == "correct":
        agent.correct(answer, PAID)
    else:
        agent.reject(answer)


def go_on(folder: Path, lines: list[list[str]]) -> None:
    """Say again what was not acknowledged; it is kept once."""
    with open_shop(folder, Model(PAID), memory=MemorySettings(keep="agreed")) as agent:
        if lines and lines[-1][0] == "begin":
            _, kind, answer = lines[-1]
            said = ""
            try:
                say(agent, kind, answer)
            except InputError as error:
                said = str(error)
            assert not said or "already" in said, "it was written down before the kill"
        agent.ask("How many orders, with a total?")
    live = [item.entry for item in entries_in(folder / "own" / "memory") if item.deleted is None]
    confirmed = [
        entry.provenance.question_id for entry in live if entry.id.startswith("pre-") and entry.grade is Grade.CONFIRMED
    ]
    assert len(confirmed) == len(set(confirmed)), "one right answer each"
