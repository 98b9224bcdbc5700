"""What a history and a memory keep in a process for each answer: a server runs for months."""

import gc
import json
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import merit
from making.live import make_shop
from making.memories import make_precedent
from merit.live.asking.selecting import LearnedAnswers
from merit.live.record.lines import HistoryLines
from merit.live.record.text_numbers import TextNumbers
from merit.live.schema.schemas import KnownSchemas
from merit.memory import FileStore, Memory, with_id
from merit.memory.lexical import Postings
from merit.memory.vectors import Vectors
from merit.models import AnswerStore
from merit.models.answers import FILE as ANSWERS
from merit.types import EVERYONE, Column, Schema, Table

_ANSWERS = 20_000
_LARGE = "a large schema " * 2000  # 30 KB


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


def test_entries_of_one_database_hold_its_schema_once(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    entries = [with_id(make_precedent(number, schema=_LARGE)) for number in range(50)]
    store.append(entries)
    found = []
    assert _kept(lambda: found.extend(store.read([entry.id for entry in entries]))) < 5 * len(_LARGE)
    assert {entry.schema for entry in found} == {_LARGE}
    store.close()


def test_a_memory_keeps_as_many_entries_at_hand_as_it_is_told(tmp_path: Path) -> None:
    with Memory(tmp_path, None) as memory:
        memory.at_hand = 3
        texts = [f"{number} {'long ' * 4000}" for number in range(50)]
        ids = [memory.commit(make_precedent(number, question=text)).id for number, text in enumerate(texts)]
        assert _kept(lambda: [memory.entry(identity) for identity in ids]) < 5 * len(texts[0])
        assert [memory.entry(identity).question for identity in ids] == texts


def test_an_agent_keeps_few_entries_and_pages_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    with merit.connect(make_shop(tmp_path / "shop.sqlite"), model=None, folder=tmp_path / "own") as agent:
        assert agent.parts.memory.at_hand <= 100
    with closing(AnswerStore(tmp_path / "cache" / ANSWERS)) as answers:
        assert answers._db.execute("PRAGMA cache_size").fetchone() == (-256,)  # KiB


def test_a_word_of_one_entry_takes_little_of_the_index() -> None:
    postings, rows = Postings(), 5000

    def add() -> None:
        for number in range(rows):
            postings.add(f"word{number}")

    assert _kept(add) < 200 * rows  # 450 with two arrays for each
    postings.add("word7 word7 new")
    assert [[*map(list, piece)] for piece in postings.pieces("word7")] == [[[7, rows], [1, 2]]]
    assert [[*map(list, piece)] for piece in postings.pieces("new")] == [[[rows], [1]]]
    assert [postings.frequency(word, None) for word in ("word7", "new", "none")] == [2, 1, 0]


def test_what_tells_which_tables_belong_together_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.live.asking.selecting._LATEST", 10)
    store = FileStore(tmp_path)
    learned = LearnedAnswers(store, lambda: 0, "shop")
    entries = [with_id(make_precedent(number, db_id="shop", schema=f"{number} {_LARGE}")) for number in range(30)]

    def follow() -> None:
        for entry in entries:
            store.append([entry])
            learned.follow()

    assert _kept(follow) < 2 * len(_LARGE)
    assert list(learned.answers(EVERYONE)) == [entry.id for entry in entries[-10:]]
    store.close()


def test_entries_that_use_the_same_columns_share_their_lineage(tmp_path: Path) -> None:
    schema = Schema("shop", (Table("orders", (Column("id", "INTEGER"), Column("state", "TEXT"))),))
    sql = "SELECT state FROM orders WHERE id = {}"
    entries = [with_id(make_precedent(number, sql=sql.format(number))) for number in range(3)]
    known = KnownSchemas(tmp_path, schema, "sqlite")
    first, *others = [known.lineage_of(entry) for entry in entries]
    assert first.uses == {"orders": {"id": "integer", "state": "text"}}
    assert all(other is first for other in others)
    again = KnownSchemas(tmp_path, schema, "sqlite")  # from their file
    assert again.lineage_of(entries[0]) is again.lineage_of(entries[1])
