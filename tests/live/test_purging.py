"""What is purged is in no file any more, whatever happens in between; what is private never was."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from making.memories import make_entry
from making.shop import COUNT, Model, make_shop, open_shop
from merit.errors import InputError
from merit.live import AnswerStatus, History
from merit.live.asking.scrubbing import scrubbed
from merit.live.record.purging import INTENTION, Purge, Purged, finish_purge, purge_all
from merit.memory import Memory, entries_in
from merit.models import AnswerStore, CachingCompleter
from merit.models.answers import FILE
from merit.settings import MemorySettings

CANARY = "zanzibar"
QUESTION = f"How many orders from {CANARY}?"
SQL = f"SELECT count(*) AS number FROM orders WHERE state = '{CANARY}'"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def holding(folder: Path, text: str = CANARY) -> list[str]:
    """Every file below a folder that has a text in its bytes, in whatever case."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if text.encode() in path.read_bytes().lower())


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A project in which an answer, its correction, a follow-up and an index hold the canary; the answer's id."""
    tmp_path = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MERIT_CACHE", str(tmp_path / "cache"))
        return tmp_path, made(tmp_path, tmp_path / "cache")


@pytest.fixture
def answer(project: tuple[Path, str], tmp_path: Path) -> str:
    """The answer in a copy of the project."""
    shutil.copytree(project[0], tmp_path, dirs_exist_ok=True)
    return project[1]


def made(tmp_path: Path, cache: Path) -> str:
    model = Model(lambda prompt, _: SQL if f"from {CANARY}" in prompt.lower() else COUNT)
    completer = CachingCompleter(model, AnswerStore(cache / FILE))
    with open_shop(tmp_path, completer, memory=MemorySettings(keep="agreed")) as agent:  # type: ignore[arg-type]
        agent.confirm(agent.ask("How many orders are there?").id, author="bob")
        chat = agent.chat()
        first = chat.ask(QUESTION)
        agent.correct(first.id, f"{SQL} AND total > 1", author="countess")
        agent.confirm(chat.ask("And in May?").id, author="bob")
    with Memory(tmp_path / "own" / "memory", None) as memory:  # leaves an index
        memory.refresh()
    return first.id


def test_everything_about_an_answer_goes_and_the_rest_stays(answer: str, tmp_path: Path, cache: Path) -> None:
    assert set(holding(tmp_path)) >= {"memory.jsonl", "history.jsonl", FILE, "columns.bin"}
    done = purge_all(tmp_path / "own", Purge(answers=(answer,)))
    assert done.entries >= 3
    assert done.events == 4, "the answer, its follow-up, and what was said about both"
    assert done.replies >= 1
    assert holding(tmp_path / "own") == []
    assert holding(cache) == []
    assert not (tmp_path / "own" / INTENTION).exists()
    left = History(tmp_path / "own").answers()
    assert [asked.question for asked in left.values()] == ["How many orders are there?"]
    with open_shop(tmp_path, Model(COUNT)) as agent:
        assert len(agent.ask("How many orders?").recalled) == 1


@pytest.mark.parametrize("moment", range(9))
def test_a_purge_that_was_cut_short_is_finished_by_the_next(
    answer: str, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    class Killed(BaseException):
        pass

    def killing(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(*arguments: object, **named: object) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            result: object = real(*arguments, **named)
            return result

        return call

    left = [moment]
    with monkeypatch.context() as patched, pytest.raises(Killed):
        for name in ("fsync", "replace", "rmdir"):
            patched.setattr(os, name, killing(name))
        purge_all(tmp_path / "own", Purge(answers=(answer,)))
    finish_purge(tmp_path / "own")
    assert len(History(tmp_path / "own").answers()) == (3 if moment < 2 else 1)
    purge_all(tmp_path / "own", Purge(answers=(answer,)))
    assert holding(tmp_path / "own") == []
    assert holding(cache) == []


@pytest.mark.usefixtures("answer")
@pytest.mark.parametrize("linked", ["memory", "schemas"])
def test_nothing_is_purged_through_a_link(tmp_path: Path, linked: str) -> None:
    own, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    (own / linked).rename(elsewhere)
    (own / linked).symlink_to(elsewhere)
    before = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    assert before
    with pytest.raises(InputError, match=f"{linked}: a link"):
        purge_all(own, Purge(databases=("shop",)))
    assert not (own / INTENTION).exists()
    (own / INTENTION).write_text('{"entries": [], "answers": [], "authors": [], "databases": ["shop"]}')
    with pytest.raises(InputError, match=f"{linked}: a link"):  # a folder from elsewhere is only opened
        open_shop(tmp_path, Model(COUNT))
    assert {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()} == before


@pytest.mark.usefixtures("answer")
def test_everything_that_a_person_said_goes(tmp_path: Path) -> None:
    done = purge_all(tmp_path / "own", Purge(authors=("countess",)))
    assert (done.entries, done.events) == (2, 1)
    assert "total > 1" not in (tmp_path / "own" / "history.jsonl").read_text()
    assert holding(tmp_path / "own", "countess") == []
    assert len(History(tmp_path / "own").answers()) == 3


def test_everything_that_a_person_asked_goes(tmp_path: Path, cache: Path) -> None:
    with open_shop(tmp_path, Model(COUNT)) as agent:
        agent.confirm(agent.ask(QUESTION, author="countess").id, author="bob")
        agent.confirm(agent.ask("How many orders are there?", author="bob").id, author="bob")
    done = purge_all(tmp_path / "own", Purge(authors=("countess",)))
    assert (done.entries, done.events) == (1, 2)
    assert holding(tmp_path / "own", "countess") == holding(cache) == []
    assert [asked.author for asked in History(tmp_path / "own").answers().values()] == ["bob"]


@pytest.mark.usefixtures("answer")
def test_everything_about_a_database_goes(tmp_path: Path, cache: Path) -> None:
    purge_all(tmp_path / "own", Purge(databases=("other",)))
    assert len(History(tmp_path / "own").answers()) == 3
    purge_all(tmp_path / "own", Purge(databases=("shop",)))
    assert holding(tmp_path / "own", "orders") == []
    assert holding(cache) == []


@pytest.mark.usefixtures("answer")
def test_an_entry_goes_with_the_reason_for_its_deletion_and_numbers_stay(tmp_path: Path) -> None:
    folder = tmp_path / "own" / "memory"
    entry = next(item.entry for item in entries_in(folder) if CANARY in item.entry.question and not item.deleted)
    with Memory(folder, None) as memory:
        memory.delete(entry.id, f"not about {CANARY} in winter")
        before = memory.sequence
    purge_all(tmp_path / "own", Purge(entries=(entry.id,)))
    assert "in winter" not in (folder / "memory.jsonl").read_text()
    with Memory(folder, None) as memory:
        assert memory.sequence == before
        assert entry.id not in [listed.entry.id for listed in entries_in(folder)]


def test_a_process_that_has_the_memory_open_brings_nothing_back(answer: str, tmp_path: Path) -> None:
    memory = Memory(tmp_path / "own" / "memory", None)
    memory._saved = False  # it would save its index
    before, gone = memory.sequence, next(e.entry.id for e in memory.listed() if CANARY in e.entry.question)
    assert memory.find(gone)
    purge_all(tmp_path / "own", Purge(answers=(answer,)))
    assert (memory.find(gone), memory.sequence) == (None, before)
    assert memory.commit(make_entry(1)) == memory.listed()[-1].entry
    memory.close()  # saves its index
    assert (tmp_path / "own" / "memory" / "index").is_dir()
    assert holding(tmp_path / "own") == []


def test_a_process_that_closes_after_a_purge_saves_nothing_of_it(answer: str, tmp_path: Path) -> None:
    memory = Memory(tmp_path / "own" / "memory", None)
    memory._saved = False
    purge_all(tmp_path / "own", Purge(answers=(answer,)))
    memory.close()
    assert holding(tmp_path / "own") == []


def test_opening_a_project_finishes_a_purge(answer: str, tmp_path: Path) -> None:
    wanted = {"entries": [], "answers": [answer], "authors": [], "databases": []}
    (tmp_path / "own" / INTENTION).write_text(json.dumps(wanted))
    with open_shop(tmp_path, Model(COUNT)) as agent:
        assert len(agent.history()) == 1
    assert holding(tmp_path / "own") == []
    (tmp_path / "own" / INTENTION).write_text("{}")
    with pytest.raises(InputError, match=r"purge.json: not what a purge leaves; remove it, and purge again"):
        open_shop(tmp_path, Model(COUNT))


def test_without_an_intention_there_is_nothing_to_finish(tmp_path: Path) -> None:
    assert finish_purge(tmp_path) == Purged()
    assert list(tmp_path.iterdir()) == []


# Rows


def test_no_value_is_in_any_file_where_rows_are_never_read(tmp_path: Path, cache: Path) -> None:
    make_shop(tmp_path / "shop.sqlite", f"INSERT INTO orders VALUES (4, '{CANARY}', 1);")
    statements = ["SELECT state FROM orders WHERE total = 1", "SELECT json(state) FROM orders WHERE total = 1"]
    model = Model(lambda prompt, _: statements["broken" in prompt])
    with open_shop(tmp_path, model, rows="never", memory=MemorySettings(keep="executed")) as agent:
        answer = agent.ask("Which state?")
        assert answer.rows is not None
        assert answer.rows.rows == [(CANARY,)]
        agent.confirm(answer.id)
        assert agent.ask("Which broken?").status is AnswerStatus.FAILED
    assert holding(tmp_path / "own") == holding(cache) == []
    assert CANARY not in "".join(model.prompts)


def test_rows_are_in_no_file_of_a_project_where_prompts_may_show_them(tmp_path: Path) -> None:
    make_shop(tmp_path / "shop.sqlite", f"INSERT INTO orders VALUES (4, '{CANARY}', 1);")
    model = Model("SELECT state FROM orders WHERE total = 1")
    with open_shop(tmp_path, model, memory=MemorySettings(keep="executed")) as agent:
        agent.confirm(agent.ask("Which state?").id)
    assert any(CANARY in prompt for prompt in model.prompts), "they may stand in prompts"
    assert holding(tmp_path / "own") == []


@pytest.mark.parametrize(
    ("message", "sql", "shown"),
    [
        ("no such column: nam", "SELECT nam FROM t", "no such column: nam"),
        ('invalid input syntax for type integer: "Smith"', "SELECT name::int FROM t", 'invalid input syntax for type integer: "…"'),
        ("Could not convert string 'O''Hara 7' to INT32", "SELECT 1", "Could not convert string '…''… …' to …"),
        ("Smith said no", "SELECT 1", "… … no"),
        ('column "t.nme" does not exist\nHINT: Perhaps you meant "t.name".', "SELECT t.nme FROM t", 'column "t.nme" does not exist\nHINT: Perhaps you … "t.name".'),
    ],
)  # fmt: skip
def test_a_message_keeps_what_is_known_to_be_no_value(message: str, sql: str, shown: str) -> None:
    assert scrubbed(message, sql, frozenset({"t", "name"})) == shown
