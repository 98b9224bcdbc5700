"""Answers of a model on another machine: what is missing is written down, and found once it was answered."""

import asyncio
import runpy
from pathlib import Path
from typing import Any

import pytest

from making.offline import OfflineCompleter, read_wanted
from merit.errors import NotRecorded
from merit.models import open_completer
from merit.types import Sampling

_OFFLINE: Any = runpy.run_path(str(Path(__file__).parents[2] / "bench" / "offline.py"))


def test_what_is_wanted_is_answered_elsewhere_and_found_again(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"contains": "ünïcode", "reply": "SELECT 1"}\n{"reply": "SELECT 2"}\n')
    model, draw = f"scripted:{script}", Sampling(temperature=0.8, seed=3)
    identity = open_completer(model).identity
    here = OfflineCompleter(identity, [])
    for sampling in (Sampling(), draw, draw):
        with pytest.raises(NotRecorded):
            asyncio.run(here.complete("a prompt, ünïcode", sampling))
    wanted = tmp_path / "wanted.jsonl.gz"
    assert here.write_wanted(wanted) == 2
    assert read_wanted(wanted) == [("a prompt, ünïcode", Sampling()), ("a prompt, ünïcode", draw)]

    answers = tmp_path / "answers.jsonl.xz"
    assert asyncio.run(_OFFLINE["answer"](read_wanted(wanted), model, answers, 2)) == 2
    assert [path.name for path in tmp_path.iterdir() if "sqlite" in path.name] == []
    again = OfflineCompleter(identity, [answers])
    texts = {asyncio.run(again.complete("a prompt, ünïcode", sampling)).text for sampling in (Sampling(), draw)}
    assert texts == {"SELECT 1"}
    assert again.wanted == {}
    with pytest.raises(NotRecorded):
        asyncio.run(again.complete("another prompt", Sampling()))
