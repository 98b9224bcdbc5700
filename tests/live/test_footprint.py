"""What a history and a memory keep in a process for each answer: a server runs for months."""

import gc
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from merit.live.record.lines import HistoryLines
from merit.live.record.text_numbers import TextNumbers
from merit.memory.vectors import Vectors

_ANSWERS = 20_000


def _kept(work: Callable[[], object]) -> int:
    """The bytes of Python and numpy that some work leaves."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def _line(number: int, kind: str = "asked") -> str:
    if kind == "asked":
        about = {"id": f"{number:012x}", "time": "2026-11-18", "question": f"How many orders, asked as {number}?"}
    else:
        about = {"answer": f"{number:012x}"}
    return json.dumps({"format": 4, "kind": kind, **about}, separators=(",", ":")) + "\n"


def test_an_index_keeps_less_than_100_bytes_for_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(map(_line, range(_ANSWERS))))
    lines = HistoryLines(path)
    assert _kept(lines.follow) < 100 * _ANSWERS  # 540 when it kept ids, questions and places as Python objects
    wanted = f"{_ANSWERS - 1:012x}"
    assert [number for _, number in lines.answers([wanted, "none", f"{7:012x}"])] == [_ANSWERS, 8]
    assert [number for _, number in lines.same("HOW many orders, asked as 12", judged=False)] == [13]
    assert next(lines.newest()) == wanted
    assert next(lines.newest(wanted)) == f"{_ANSWERS - 2:012x}"
    assert next(lines.newest("none"), None) is None


def test_an_index_finds_what_was_said(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text(_line(3, "confirmed") + "".join(map(_line, range(5))) + _line(1, "confirmed"))
    lines = HistoryLines(path)
    ids = [f"{number:012x}" for number in range(5)]
    assert [number for _, number in lines.feedback_on(ids)] == [1, 7]
    judged = [lines.same(f"How many orders, asked as {number}", judged=True) for number in range(5)]
    assert [len(found) for found in judged] == [0, 1, 0, 1, 0]
    assert lines.same("How many orders, asked as 1", judged=True, scoped=True) == []


def test_equal_hashes_do_not_mix_answers_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.live.record.text_numbers.hash", lambda _: 1, raising=False)
    path = tmp_path / "history.jsonl"
    path.write_text("".join(map(_line, range(1200))) + _line(7, "confirmed"))
    lines = HistoryLines(path)
    assert [number for _, number in lines.answers([f"{7:012x}"])] == [8]
    assert lines.feedback_on([f"{8:012x}"]) == []
    assert [number for _, number in lines.same("How many orders, asked as 9", judged=False)] == [10]


def test_numbers_of_a_text_stay_in_order() -> None:
    numbers = TextNumbers()
    for number in range(5000):
        numbers.add(str(number % 7), number)
    assert numbers.find("3") == list(range(3, 5000, 7))
    assert numbers.find("7") == []


def test_a_matrix_of_vectors_is_not_in_the_heap() -> None:
    vectors, row = Vectors(256), np.ones(256, np.float32)

    def grow() -> None:
        for _ in range(2000):
            vectors.append(row)

    assert _kept(grow) < 50_000  # 2 MB and more where it is, and holes where it outgrew its place
    assert vectors.matrix.shape == (2000, 256)
    assert vectors.matrix.min() == 1.0
