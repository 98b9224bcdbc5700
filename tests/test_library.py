"""`import merit` as a library: its names, and what it does for a program."""

import asyncio
import json
import re
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import merit
from making.benchmark import ITEMS, build
from making.runs import files_of, make_bench
from making.team import team_memory
from merit.errors import DatabaseUnusable, InputError, MemoryUnusable, ModelFailed
from merit.memory import Grade, entries_in
from merit.models import retrying_client, wait_notice
from merit.models.connection import Patience
from merit.models.scripted import ScriptedCompleter, ScriptedReply
from merit.types import Completion, ModelIdentity, Sampling


class CountingModel:
    """Counts items in another spelling each time: candidates that differ as texts, and agree in their result."""

    identity, concurrency, recorded = ModelIdentity("counting"), 1, False
    asked = 0

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:  # noqa: ARG002 - the same for all
        self.asked += 1
        return Completion(f"<answer>SELECT count(*) + {self.asked} - {self.asked} FROM item</answer>", 1, 1)

    async def close(self) -> None:
        pass


untyped: Any = merit  # called as those do who check no types


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


def test_a_question_whose_reference_fails_is_left_out_and_named(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    records = json.loads((root / "dev.json").read_text())
    records[1]["query"] = "SELEC secret_reference"
    (root / "dev.json").write_text(json.dumps(records))
    with merit.open_benchmark("spider", root) as benchmark:
        assert len(benchmark.usable_questions()) == len(records) - 1
        benchmark.usable_questions()
    (told,) = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert f"{root}: left out: 1 question whose reference cannot be run (1); mend the questions file" in told
    assert "secret_reference" not in told


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


def test_precedent_remembers_what_candidates_agree_on(root: Path, tmp_path: Path) -> None:
    """As the README has it: the method `merit` keeps no successful change here, and so learns nothing from it."""
    database, memory = root / "database" / "shop" / "shop.sqlite", tmp_path / "memory"
    model = CountingModel()
    for question in ("How many items are there?", "How many items are in it?"):
        episodes = merit.repair_questions(
            database, [question], model=model, method="precedent", memory=memory, budget=3
        )
        assert episodes[0].final.verdict.status is merit.Status.EXECUTED
    assert [listed.entry.grade for listed in entries_in(memory)] == [Grade.AGREED, Grade.AGREED]
    recall = episodes[0].attempts[1].recall
    assert recall is not None
    assert [match.entry.question for pool in recall.pools for match in pool.matches] == ["How many items are there?"]


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


def test_a_memory_may_be_that_of_a_team(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    database = root / "database" / "shop" / "shop.sqlite"
    model = ScriptedCompleter([ScriptedReply((), "<answer>SELECT count(*) FROM items</answer>")])
    with team_memory() as url:
        merit.repair_questions(database, ["How many items are there?"], model=model, memory=url, budget=1)
        again = merit.repair_questions(database, ["How many items are in it?"], model=model, memory=url, budget=1)
        assert again[0].task.position == 1
        with merit.open_memory(url, encoder=None) as opened:
            assert len(opened) == 2
    assert [path.name for path in (tmp_path / "cache" / "memories").iterdir()]


def test_what_cannot_be_repaired_here_is_said(root: Path, tmp_path: Path) -> None:
    model = ScriptedCompleter([])
    database = root / "database" / "shop" / "shop.sqlite"
    with pytest.raises(InputError, match="there is no such database"):
        merit.repair_questions(tmp_path / "none.sqlite", ["?"], model=model)
    with pytest.raises(InputError, match="'vanilla' needs a benchmark"):
        merit.repair_questions(database, ["?"], model=model, method="vanilla")


def test_the_memory_of_a_run_is_read_and_never_changed(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    run = bench.run(tmp_path / "run").path
    database, before = bench.root / "database" / "shop" / "shop.sqlite", files_of(run)
    copy = f"copy it with `merit memory copy {run} NEW`, and give NEW"
    with pytest.raises(InputError, match=re.escape(f"{run}: this memory belongs to a run and is not changed; {copy}")):
        merit.repair_questions(database, ["?"], model=ScriptedCompleter([]), memory=run)
    with pytest.raises(InputError, match="belongs to a run"):
        merit.repair_questions(database, ["?"], model=ScriptedCompleter([]), memory=run / "memory")
    with merit.open_memory(run, encoder=None) as memory:
        assert len(memory) > 0
        entry = replace(entries_in(run / "memory")[0].entry, id="", question="Another one?")
        with pytest.raises(MemoryUnusable, match="opened for reading only"):
            memory.commit(entry)
    assert files_of(run) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no tables to ask about; name a SQLite file that has some"),
        ("CREATE TABLE t (a); DROP TABLE t;", "has no tables to ask about; name a SQLite file that has some"),
        (None, "file is not a database; give a SQLite database that can be read"),
    ],
)
def test_a_file_without_tables_is_refused_before_anything_is_asked(
    tmp_path: Path, content: str | None, message: str
) -> None:
    database, memory = tmp_path / "shop.sqlite", tmp_path / "memory"
    database.write_text("not a database, just words" * 100 if content is None else "")
    if content:
        with closing(sqlite3.connect(database)) as db:
            db.executescript(content)
    with pytest.raises(DatabaseUnusable, match=f"^{re.escape(str(database))}: {message}$"):
        merit.repair_questions(database, ["?"], model=ScriptedCompleter([]), memory=memory)
    assert not memory.exists()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"questions": "How many?"}, "questions: one text was given"),
        ({"questions": ["ok", None]}, "questions, item 1: expected a text"),
        ({"questions": [""]}, "questions, item 0: expected a text"),
        ({"budget": -1}, "budget: expected a number of repairs"),
        ({"timeout_s": 0}, "timeout_s: expected a number of seconds above 0"),
        ({"timeout_s": "3"}, "timeout_s: expected a number of seconds above 0, not '3'"),
        ({"questions": None}, "questions: expected a list of questions, not None"),
        ({"questions": ["  "]}, "questions, item 0: expected a text"),
        ({"model": None}, "model: expected the name of a model, such as 'openai:NAME', or a merit.Completer, not None"),
        ({"method": 1}, "method: expected the name of a method, such as 'merit', or a merit.Method, not 1"),
        ({"encoder": None}, "encoder: expected the name of an encoder, such as 'wordllama', not None"),
        ({"encoder": "foo", "method": "iterative"}, "foo: unknown encoder; use wordllama"),
        ({"database": b"shop"}, "database: expected a path, not b'shop'"),
        ({"memory": 1}, "memory: expected a path, not 1"),
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


def test_questions_may_come_from_a_generator(root: Path) -> None:
    model = ScriptedCompleter([ScriptedReply((), "<answer>SELECT count(*) FROM item</answer>")])
    questions: Any = (text for text in ("How many?", "How many items?"))
    database = root / "database" / "shop" / "shop.sqlite"
    assert len(merit.repair_questions(database, questions, model=model, method="iterative")) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: untyped.open_benchmark(None), "name: expected the name of a benchmark, such as 'bundled', not None"),
        (lambda: untyped.open_benchmark(["spider"]), "name: expected the name of a benchmark"),
        (lambda: untyped.open_benchmark("spider", 1), "root: expected a path, not 1"),
        (lambda: untyped.load("spider", b"data"), "root: expected a path, not b'data'"),
        (lambda: untyped.open_benchmark("bundled", split=None), "split: expected the name of a split"),
        (lambda: untyped.open_benchmark("bundled", timeout_s="1"), "timeout_s: expected a number of seconds, not '1'"),
        (lambda: untyped.open_benchmark("spider", "data", label=1), "label: expected a name as a text, not 1"),
        (lambda: untyped.DataSpec("spider", "data"), "root: expected a folder as a pathlib.Path, or None, not 'data'"),
        (lambda: untyped.open_memory(None), "folder: expected a path, not None"),
        (lambda: untyped.open_memory("new", encoder=1), "encoder: expected the name of an encoder"),
        (lambda: untyped.read_run(1), "path: expected a run's folder, not 1"),
        (lambda: untyped.find_method(None), "method: expected the name of a method, such as 'merit', not None"),
        (lambda: untyped.run("bundled", "out", model="openai:m"), "spec: expected a merit.RunSpec, not 'bundled'"),
        (lambda: untyped.score("bundled", {}), "benchmark: expected what merit.open_benchmark returns, not 'bundled'"),
        (
            lambda: untyped.RunSpec(merit.DataSpec("bundled", None), "initial.jsonl", "merit"),
            "initial: expected a file as a pathlib.Path, not 'initial.jsonl'",
        ),
    ],
)
def test_an_argument_of_a_wrong_type_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_predictions_and_sql_of_a_wrong_type_are_named(root: Path) -> None:
    with merit.open_benchmark("spider", root) as benchmark:
        question, judge = benchmark.dataset.questions[0], benchmark.judge
        wrong: Any
        for wrong in (1, None, b"SELECT 1", ["SELECT 1"]):
            for ask in (judge.judge, judge.execute):
                with pytest.raises(InputError, match=f"^sql: expected SQL as a text, not {re.escape(repr(wrong))}$"):
                    ask(question, wrong)
            with pytest.raises(InputError, match=r"^predictions, 0: expected SQL as a text, not "):
                merit.score(benchmark, {0: wrong}, partial=True)
        for wrong in (0, None, question.text):
            with pytest.raises(InputError, match=r"^question: expected a merit\.Question, one of "):
                judge.judge(wrong, "SELECT 1")
        for wrong in (1, None, b"x", "predictions.jsonl", ["SELECT 1"]):
            with pytest.raises(InputError, match="^predictions: expected a dict from question ids to SQL, not "):
                merit.score(benchmark, wrong, partial=True)


def test_a_prediction_for_an_unknown_question_is_refused(root: Path) -> None:
    with merit.open_benchmark("spider", root) as benchmark:
        given: Any
        for given in ({"0": "SELECT 1"}, {0: "SELECT 1", 99: "SELECT 1"}):
            with pytest.raises(InputError, match="predictions: the dataset has no question with id .*; its first is 0"):
                merit.score(benchmark, given, partial=True)
        with pytest.raises(InputError, match="nothing to score, no prediction is for a question whose database is"):
            merit.score(benchmark, {}, partial=True)


def test_what_is_closed_says_so(root: Path) -> None:
    opened, unused = merit.open_benchmark("spider", root), merit.open_benchmark("spider", root)
    question = opened.dataset.questions[0]
    opened.judge.judge(question, "SELECT 1")
    for benchmark in (opened, unused):
        benchmark.close()
        benchmark.close()
    for sql in ("SELECT 1", "SELECT 2"):  # a verdict that is known, and one that is not
        for ask in (opened.judge.judge, opened.judge.execute):
            with pytest.raises(InputError, match="this judge is closed; open the benchmark again"):
                ask(question, sql)
    with pytest.raises(InputError, match="this judge is closed"):
        merit.score(opened, {question.id: "SELECT 1"}, partial=True)
    with pytest.raises(InputError, match="this benchmark is closed; open it again"):
        unused.judge.judge(question, "SELECT 1")


@pytest.mark.parametrize(
    "call",
    [
        lambda root: merit.open_benchmark("spidr", root),
        lambda root: merit.open_benchmark("bundled", root),
        lambda _: merit.open_benchmark("bundled", label="shops"),
        lambda root: merit.open_benchmark("spider", root, label="bird"),
        lambda root: merit.open_benchmark("bird", root),
        lambda root: merit.open_benchmark("bird", build(root.parent / "bird", layout="bird"), protocol="suite").judge,
    ],
)
def test_an_error_for_a_program_names_no_option_of_a_command(call: Callable[[Path], object], root: Path) -> None:
    with pytest.raises(InputError) as caught:
        call(root)
    assert "--" not in str(caught.value)


def test_options_are_named_beside_arguments_where_they_differ(root: Path) -> None:
    with pytest.raises(InputError, match=r"give its folder \(--data, or root in Python\)"):
        merit.open_benchmark("spider")
    with (
        merit.open_benchmark("spider", root) as benchmark,
        pytest.raises(InputError, match="or partial=True in Python"),
    ):
        merit.score(benchmark, {0: "SELECT 1"})


def test_an_endpoint_that_is_away_is_said_soon_and_in_one_error(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr(wait_notice, "_FIRST_S", 0.1)
    monkeypatch.setattr(retrying_client, "usual_patience", lambda _: Patience(first_faults_s=0.5, first_pause_s=0.05))
    database = root / "database" / "shop" / "shop.sqlite"
    with pytest.raises(ModelFailed) as caught:
        merit.repair_questions(database, ["How many?"], model="openai:m")
    assert any(record.name.startswith("merit.") and "waiting for" in record.message for record in caplog.records)
    shown = "".join(traceback.format_exception(caught.value))
    assert "another exception" not in shown
    assert "_Fault" not in shown
    assert shown.count("File ") == 3, shown  # the caller, the function that it called, and where that raises


def test_a_running_loop_gets_advice(root: Path) -> None:
    database = root / "database" / "shop" / "shop.sqlite"
    model = ScriptedCompleter([ScriptedReply((), "<answer>SELECT count(*) FROM item</answer>")])

    async def notebook() -> list[merit.Episode]:
        with pytest.raises(InputError, match="as in a notebook: call this in a thread"):
            merit.repair_questions(database, ["How many?"], model=model)
        return await asyncio.to_thread(merit.repair_questions, database, ["How many?"], model=model)

    assert len(asyncio.run(notebook())) == 1


def test_a_protocol_that_is_not_there_is_refused(root: Path) -> None:
    with pytest.raises(InputError, match="protocol: there is no 'foo'; use db or suite"):
        merit.open_benchmark("spider", root, protocol="foo")


def test_a_memory_is_opened_only_where_one_is_or_may_be(root: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="and no memory"):
        merit.open_memory(root, encoder=None)
    with merit.open_memory(tmp_path / "new", encoder=None) as memory:
        assert len(memory) == 0
