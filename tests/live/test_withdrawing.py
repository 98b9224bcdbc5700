"""Retraction: what was said can be taken back and an entry be deleted, and then nothing recalls it, anywhere."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest

from making.fuzzing import tries
from making.live import COUNT, PAID, ShopOpener, ToldModel
from making.shop import Model, open_shop
from merit.errors import InputError
from merit.live import History, LiveAgent, open_live
from merit.live.auditing.audit import audit_live
from merit.live.auditing.log_states import EntryState, fold
from merit.live.record.events import Spent
from merit.live.record.purging import Purge, purge_all
from merit.live.record.uses import uses_of
from merit.memory import FileStore, Grade, Precedent, Provenance, curate, entries_in
from merit.models import open_encoder
from merit.settings import BudgetSettings, CheckSettings, DatabaseSettings, MemorySettings, Settings
from merit.types import Status

FIRST, SECOND = "How many orders are there?", "How many orders do we have?"
_encoder_opened_once = cache(open_encoder)


def live(own: Path) -> list[tuple[str, str]]:
    """What may be recalled: SQL and grade."""
    return [(item.entry.delta, item.entry.grade) for item in entries_in(own / "memory") if item.recallable]


def test_a_withdrawn_confirmation_is_recalled_nowhere(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent, other = ask_shop(ToldModel(COUNT)), ask_shop(ToldModel(COUNT))
    answer = agent.ask(FIRST)
    agent.confirm(answer.id, author="ada")
    assert len(agent.ask(SECOND).recalled) == len(other.ask(SECOND).recalled) == 1
    agent.close()
    shutil.copytree(tmp_path / "own" / "memory" / "index", tmp_path / "kept")  # a snapshot from before

    said = other.withdraw(answer.id, reason="it was a test", author="bob")
    assert (said.answer, said.author, said.reason, len(said.entries)) == (answer.id, "bob", "it was a test", 1)
    assert other.ask(SECOND).recalled == ()
    other.close()
    shutil.rmtree(tmp_path / "own" / "memory" / "index")
    shutil.copytree(tmp_path / "kept", tmp_path / "own" / "memory" / "index")
    for _ in range(2):  # from the old snapshot, and from the one that this leaves
        with ask_shop(ToldModel(COUNT)) as again:
            assert again.ask(SECOND).recalled == ()
    assert History(tmp_path / "own").find(answer.id)[1] is None


ANSWERING = """
import sys
from pathlib import Path
from making.shop import COUNT, Model, open_shop
with open_shop(Path(sys.argv[1]), Model(COUNT)) as agent:
    for line in sys.stdin:
        print(*agent.ask(line.strip()).recalled, flush=True)
"""


def test_another_process_that_has_recalled_it_does_so_no_more(
    ask_shop: ShopOpener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told nothing: it has the memory open, its index and its recalls at hand."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    agent = ask_shop(ToldModel(COUNT))
    answer = agent.ask(FIRST)
    (entry,) = agent.confirm(answer.id).entries
    command = [sys.executable, "-c", ANSWERING, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:

        def recalled() -> list[str]:
            assert other.stdin is not None
            assert other.stdout is not None
            print(SECOND, file=other.stdin, flush=True)
            return other.stdout.readline().split()

        assert recalled() == recalled() == [entry]
        agent.withdraw(answer.id)
        assert recalled() == []
        agent.confirm(answer.id)
        assert recalled() == [entry]
        with closing(FileStore(tmp_path / "own" / "memory")) as store:
            curate.delete(store, entry, "wrong")
        assert recalled() == []
        other.communicate()
    assert other.returncode == 0
    assert audit_live(tmp_path / "own").holds


def test_a_deleted_entry_is_recalled_nowhere(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent, other = ask_shop(ToldModel(COUNT)), ask_shop(ToldModel(COUNT))
    entry = agent.confirm(agent.ask(FIRST).id).entries[0]
    assert agent.ask(SECOND).recalled == other.ask(SECOND).recalled == (entry,)
    with closing(FileStore(tmp_path / "own" / "memory")) as store:
        curate.delete(store, entry, "wrong")
    assert agent.ask(SECOND).recalled == other.ask(SECOND).recalled == ()


def test_an_answer_can_be_judged_again(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(COUNT))
    answer = agent.ask(FIRST)
    with pytest.raises(InputError, match=f"{answer.id}: nothing was said about it, so there is nothing to withdraw"):
        agent.withdraw(answer.id)
    entry = agent.confirm(answer.id).entries
    agent.withdraw(answer.id)
    assert agent.confirm(answer.id).entries == entry
    assert agent.ask(SECOND).recalled == entry
    agent.withdraw(answer.id)
    agent.correct(answer.id, PAID)
    assert sorted(sql for sql, _ in live(tmp_path / "own")) == [f"{COUNT} => {PAID}", PAID]
    assert audit_live(tmp_path / "own").holds


def test_a_withdrawn_rejection_gives_back_what_it_took_out(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(COUNT))
    agent.confirm(agent.ask(FIRST).id, author="ada")
    first, second = agent.ask(FIRST), agent.ask(FIRST)
    agent.reject(first.id, reason="no")
    agent.reject(second.id, reason="no")
    assert live(tmp_path / "own") == []
    agent.withdraw(first.id)
    assert live(tmp_path / "own") == [], "another rejection stands against it"
    agent.reject(first.id)
    agent.withdraw(second.id)
    agent.withdraw(first.id)
    assert live(tmp_path / "own") == [(COUNT, "confirmed")]
    assert agent.ask(FIRST).remarks == ()


def test_a_withdrawn_rejection_gives_back_what_came_from_elsewhere(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(COUNT))
    source = Provenance("import", "pair-1", "shop", 0, 0, "import:pair-1")
    right = Status.CORRECT
    imported = agent._parts.memory.commit(Precedent("", FIRST, "", COUNT, right, right, Grade.CONFIRMED, source))
    answer = agent.ask(FIRST)
    assert answer.recalled == (imported.id,)
    agent.reject(answer.id)
    assert live(tmp_path / "own") == []
    agent.withdraw(answer.id)
    assert live(tmp_path / "own") == [(COUNT, "confirmed")]


def test_what_was_spent_on_a_purged_question_goes_with_it(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(COUNT))
    answer = agent.ask(FIRST)
    agent.without_memory(answer.id)
    agent.ask("Another question?", memory=False)
    agent.close()
    assert purge_all(tmp_path / "own", Purge(answers=(answer.id,))).events == 2
    (left,) = History(tmp_path / "own").events()
    assert isinstance(left, Spent)
    assert left.question == "Another question?"


def test_a_withdrawn_confirmation_gives_back_the_grade_that_was_earned(ask_shop: ShopOpener, tmp_path: Path) -> None:
    checks = (CheckSettings("fine", "SELECT 1 FROM answer WHERE 0"),)
    agent = ask_shop(ToldModel(COUNT), checks=checks)
    answer = agent.ask(FIRST)
    agent.confirm(answer.id)
    assert live(tmp_path / "own") == [(COUNT, "confirmed")]
    agent.withdraw(answer.id)
    assert live(tmp_path / "own") == [(COUNT, "tested")]
    tested = entries_in(tmp_path / "own" / "memory")[0].entry.id
    with closing(FileStore(tmp_path / "own" / "memory")) as store:
        curate.delete(store, tested, "wrong")
    agent.confirm(answer.id)
    agent.withdraw(answer.id)
    assert live(tmp_path / "own") == [], "what a person deleted stays deleted"


def test_a_purged_withdrawal_goes_with_the_word_it_took_back(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(COUNT))
    answer = agent.ask(FIRST)
    agent.reject(answer.id, author="ada")
    agent.withdraw(answer.id, author="bob")
    agent.close()
    assert purge_all(tmp_path / "own", Purge(authors=("bob",))).events == 2
    assert History(tmp_path / "own").find(answer.id)[1] is None


def test_selection_forgets_what_was_withdrawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("merit.live.opening.open_encoder", _encoder_opened_once)
    database = tmp_path / "large.sqlite"
    with closing(sqlite3.connect(database)) as db:
        for number in range(60):
            columns = ", ".join(f"field_{number}_{column} TEXT" for column in range(8))
            db.execute(f"CREATE TABLE archive_{number} (id INTEGER PRIMARY KEY, {columns})")
        db.execute("CREATE TABLE invoices (id INTEGER PRIMARY KEY, customer TEXT, total REAL)")
        db.execute("CREATE TABLE zz_visits (id INTEGER PRIMARY KEY, place_code TEXT)")
    budget = BudgetSettings(schema_tokens=400)
    found = Settings(tmp_path / "merit.toml", DatabaseSettings("large", f"sqlite:///{database}"), budget=budget)
    model = ToldModel("SELECT count(*) FROM zz_visits")

    def shows(agent: LiveAgent) -> bool:
        agent.ask("How many people came by at the northern gate?", execute=False)
        receipt = agent.history()[-1].receipt
        return receipt is not None and "zz_visits" in receipt.tables

    with open_live(found, tmp_path / "own", model) as agent, open_live(found, tmp_path / "own", model) as other:
        answer = agent.ask("How many people came by at the northern gate?")
        assert not shows(agent)
        agent.confirm(answer.id)
        assert shows(agent)
        assert shows(other)
        other.withdraw(answer.id)
        assert not shows(other)
        assert not shows(agent)


# Uses


def test_uses_are_followed_to_any_depth(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(COUNT))
    before = agent.ask("How many orders?")
    entry = agent.confirm(agent.ask(FIRST).id).entries
    chat = agent.chat()
    second = chat.ask(SECOND)
    third = chat.ask("And now?")  # follows one that was shown the entry
    learned = agent.confirm(second.id).entries
    with closing(FileStore(tmp_path / "own" / "memory")) as store:
        curate.delete(store, entry[0], "so that only what was learned from it is shown")
    fourth = agent.ask("How many orders have we got?")
    assert fourth.recalled == learned
    kept = agent.confirm(fourth.id).entries
    events = History(tmp_path / "own").events()
    found = uses_of(entry, events)
    assert [(use.asked.id, use.depth) for use in found] == [(second.id, 1), (third.id, 1), (fourth.id, 2)]
    assert [use.learned for use in found] == [learned, (), kept]
    assert found[1].question == f"{SECOND} | And now?"
    assert found[2].through == learned
    assert uses_of(kept, events) == []
    assert before.id not in {use.asked.id for use in found}


# Any history


STEPS = ("ask", "confirm", "reject", "correct", "withdraw", "delete", "stale", "fresh", "open again")


@pytest.mark.parametrize("seed", range(tries(250)))
def test_whatever_happens_nothing_illegal_is_shown_and_the_audit_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("merit.live.opening.open_encoder", _encoder_opened_once)
    chance = random.Random(seed)
    steps = chance.choices(STEPS, [6, 4, 2, 2, 5, 1, 2, 2, 1], k=40)
    agent = open_shop(tmp_path, Model(COUNT), memory=MemorySettings(keep="agreed", recall="agreed"))
    for step in ["ask", *steps, "ask"]:
        agent = _do(agent, tmp_path, step, chance.randrange(8))
    agent.close()
    found = audit_live(tmp_path / "own")
    assert found.contradictions == ()
    assert found.shown > 0


def _do(agent: LiveAgent, folder: Path, step: str, number: int) -> LiveAgent:
    answers = agent.history()
    answer = answers[number % len(answers)].id if answers else ""
    memory = agent._parts.memory
    listed = entries_in(folder / "own" / "memory")
    said = agent._parts.history.find(answer)[1] if answer else None
    match step:
        case "ask":
            log = fold(folder / "own" / "memory")
            legal = {key for key, logged in log.entries.items() if logged.state(log.last)[0] is EntryState.PRESENT}
            assert {*agent.ask(f"How many orders in {number % 3}?").recalled} <= legal
        case "confirm" if said is None:
            agent.confirm(answer)
        case "reject" if said is None:
            agent.reject(answer)
        case "correct" if said is None:
            agent.correct(answer, PAID)
        case "withdraw" if said is not None:
            agent.withdraw(answer)
        case "delete" if listed and listed[number % len(listed)].deleted is None:
            memory.delete(listed[number % len(listed)].entry.id, "a test")
        case "stale" | "fresh" if listed:
            memory.mark_stale({listed[number % len(listed)].entry.id: "a test"}, stale=step == "stale")
        case "open again":
            agent.close()
            return open_shop(folder, Model(COUNT), memory=MemorySettings(keep="agreed", recall="agreed"))
        case _:
            pass
    return agent
