"""`import merit` as a library: its names, and what it does for a program."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import merit
from making.benchmark import ITEMS, build
from merit.errors import InputError
from merit.models.scripted import ScriptedCompleter, ScriptedReply


def test_every_public_name_is_there_and_documented() -> None:
    assert merit.__all__ == sorted(merit.__all__)
    for name in merit.__all__:
        assert getattr(merit, name).__doc__, name
    assert set(merit.__all__) <= set(dir(merit))


def test_a_name_is_the_same_object_as_in_its_room() -> None:
    for name in merit.__all__:
        home = merit._HOME_OF[name]
        assert getattr(merit, name) is getattr(import_module(home), name)
    assert sorted(merit._HOME_OF) == merit.__all__


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        merit.nothing  # noqa: B018


def test_importing_merit_imports_no_room() -> None:
    """Every statement's process imports the package, and must not pay for the rest."""
    code = "import sys, merit; print([name for name in sys.modules if name.startswith('merit.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_statements_process_imports_no_numpy() -> None:
    code = "import sys, merit.sql.sqlite.worker; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "data")


def test_a_benchmark_judges_and_scores(root: Path) -> None:
    with merit.open_benchmark("spider", root) as benchmark:
        question = benchmark.dataset.questions[0]
        assert benchmark.judge.judge(question, ITEMS[0].reference).status is merit.Status.CORRECT
        assert benchmark.judge.judge(question, ITEMS[0].wrong).status is merit.Status.DENOTATION_MISMATCH
        for sql, right in ((ITEMS[0].reference, 1), (ITEMS[0].wrong, 0), ("SELECT nothing", 0)):
            summary = merit.score(benchmark, {question.id: sql}, partial=True).summary()
            assert (summary["questions"], summary["correct"]) == (1, right)
        with pytest.raises(InputError, match="have no prediction"):
            merit.score(benchmark, {question.id: "SELECT 1"})


def test_questions_of_ones_own_are_repaired_without_references(root: Path, tmp_path: Path) -> None:
    database = root / "database" / "shop" / "shop.sqlite"
    model = ScriptedCompleter(
        [
            ScriptedReply(("no such table",), "<answer>SELECT count(*) FROM item</answer>"),
            ScriptedReply((), "<answer>SELECT count(*) FROM items</answer>"),
        ]
    )
    memory = tmp_path / "memory"
    first = merit.repair_questions(database, ["How many items are there?"], model=model, memory=memory)
    assert [attempt.sql for attempt in first[0].attempts] == ["SELECT count(*) FROM items", "SELECT count(*) FROM item"]
    assert first[0].final.verdict.status is merit.Status.EXECUTED
    with merit.open_memory(memory, encoder=None) as opened:
        assert len(opened) == 0  # it ran, and nothing confirmed it


def test_what_failed_without_references_is_recalled_by_a_later_question(root: Path, tmp_path: Path) -> None:
    database, memory = root / "database" / "shop" / "shop.sqlite", tmp_path / "memory"
    model = ScriptedCompleter([ScriptedReply((), "<answer>SELECT count(*) FROM items</answer>")])
    merit.repair_questions(database, ["How many items are there?"], model=model, memory=memory, budget=1)
    with merit.open_memory(memory, encoder=None) as opened:
        assert len(opened) == 1
    again = merit.repair_questions(database, ["How many items are in it?"], model=model, memory=memory, budget=1)
    (recall,) = [attempt.recall for attempt in again[0].attempts[1:]]
    assert recall is not None
    assert [entry.outcome_error for entry in recall.negatives] == ["no such table: items"]
    assert recall.positives == []


def test_what_cannot_be_repaired_here_is_said(root: Path, tmp_path: Path) -> None:
    model = ScriptedCompleter([])
    database = root / "database" / "shop" / "shop.sqlite"
    with pytest.raises(InputError, match="there is no such database"):
        merit.repair_questions(tmp_path / "none.sqlite", ["?"], model=model)
    with pytest.raises(InputError, match="'vanilla' needs a benchmark"):
        merit.repair_questions(database, ["?"], model=model, method="vanilla")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"questions": "How many?"}, "questions: one text was given"),
        ({"questions": ["ok", None]}, "questions, item 1: expected a text"),
        ({"questions": [""]}, "questions, item 0: expected a text"),
        ({"budget": -1}, "budget: expected a number of repairs"),
        ({"timeout_s": 0}, "timeout_s: expected a number of seconds above 0"),
        ({"database": "."}, "is a folder; name a SQLite file"),
        ({"memory": "data"}, "holds database and no memory"),
        ({"memory": "data/dev.json"}, "is a file; name the folder of a memory"),
    ],
)
def test_a_mistake_is_named_before_anything_is_asked(
    root: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(root.parent)
    database = root / "database" / "shop" / "shop.sqlite"
    arguments = {"database": database, "questions": ["?"], "model": ScriptedCompleter([]), **changed}
    with pytest.raises(InputError, match=re.escape(message)):
        merit.repair_questions(**arguments)


def test_a_protocol_that_is_not_there_is_refused(root: Path) -> None:
    with pytest.raises(InputError, match="protocol: there is no 'foo'; use db or suite"):
        merit.open_benchmark("spider", root, protocol="foo")


def test_a_memory_is_opened_only_where_one_is_or_may_be(root: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="and no memory"):
        merit.open_memory(root, encoder=None)
    with merit.open_memory(tmp_path / "new", encoder=None) as memory:
        assert len(memory) == 0
