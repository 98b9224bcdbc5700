"""Random histories of asking, judging, withdrawing, deleting, drift and undoing: what is recalled is always legal."""

import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from making.fuzzing import tries
from making.live import AnsweringModel, ShopOpener
from merit.errors import InputError
from merit.live import LiveAgent
from merit.live.auditing.audit import audit_live
from merit.live.schema.drift import statement
from merit.memory import Deletion, FileStore, Staleness, entries_in
from merit.settings import AskingSettings
from merit.types import Restoration

WORDS = ("orders", "paid orders", "open orders", "large orders")
STATEMENTS = ("SELECT count(*) FROM orders", "SELECT count(state) FROM orders", "SELECT max(total) FROM orders")
FEW = {"asking": AskingSettings(candidates=2)}
STEPS = 25


def fold(folder: Path) -> set[str]:
    """The entries that may be recalled now, by a naive restatement of the log."""
    state: dict[str, set[str]] = {}
    if not (folder / "memory" / "memory.jsonl").exists():
        return set()
    with closing(FileStore(folder / "memory", writable=False)) as store:
        for _, change in store.since(0):
            marks = state.setdefault(change.id, set())
            if isinstance(change, Deletion):
                marks.add("deleted")
            elif isinstance(change, Restoration):
                marks.discard("deleted")
            elif isinstance(change, Staleness):
                (marks.add if change.stale else marks.discard)("stale")
            else:
                marks.add("there")
    return {identity for identity, marks in state.items() if marks == {"there"}}


class Walk:
    """One history, and everything that can happen in it."""

    def __init__(self, ask_shop: ShopOpener, folder: Path, seed: int) -> None:
        self.chance, self.folder, self.open = random.Random(seed), folder, ask_shop
        self.agent = self.opened()
        self.renamed = False

    def opened(self) -> LiveAgent:
        return self.open(AnsweringModel(lambda _prompt: self.chance.choice(STATEMENTS)), **FEW)

    def again(self) -> None:
        self.agent.close()
        self.agent = self.opened()

    def ask(self) -> None:
        before = fold(self.folder / "own")
        answer = self.agent.ask(f"How many {self.chance.choice(WORDS)} number {self.chance.randrange(3)}?")
        assert set(answer.recalled) <= before
        gone = "state" if self.renamed else "status"
        shown = [item.entry for item in entries_in(self.folder / "own" / "memory") if item.entry.id in answer.recalled]
        assert not any(re.search(rf"\b{gone}\b", statement(entry)) for entry in shown), (
            "the column has another name now"
        )

    def judge(self) -> None:
        answer = self.some_answer()
        word = self.chance.choice(["confirm", "reject", "correct"])
        if word == "confirm":
            self.agent.confirm(answer)
        elif word == "reject":
            self.agent.reject(answer)
        else:
            self.agent.correct(answer, STATEMENTS[0])

    def withdraw(self) -> None:
        self.agent.withdraw(self.some_answer())

    def delete(self) -> None:
        there = sorted(fold(self.folder / "own"))
        if there:
            self.agent.close()
            with closing(FileStore(self.folder / "own" / "memory")) as store:
                store.append([Deletion(self.chance.choice(there), "a person said so")])
            self.agent = self.opened()

    def drift(self) -> None:
        """Rename a column, or undo it; the agent notices when it is opened."""
        names = ("status", "state") if self.renamed else ("state", "status")
        with closing(sqlite3.connect(self.folder / "shop.sqlite")) as database:
            database.execute(f"ALTER TABLE orders RENAME COLUMN {names[0]} TO {names[1]}")
        self.renamed = not self.renamed
        self.again()

    def some_answer(self) -> str:
        asked = self.agent.history()
        if not asked:
            raise InputError("nothing was asked yet")
        return self.chance.choice(asked).id


@pytest.mark.parametrize("seed", range(max(3, tries(300))))
def test_nothing_is_recalled_that_was_not_legal(ask_shop: ShopOpener, tmp_path: Path, seed: int) -> None:
    walk = Walk(ask_shop, tmp_path, seed)
    happened: dict[str, int] = {}
    for _ in range(STEPS):
        step = walk.chance.choice(["ask", "ask", "judge", "judge", "withdraw", "delete", "drift", "again"])
        try:
            getattr(walk, step)()
        except InputError:
            continue  # judged already, nothing to take back, or a statement that does not run any more
        happened[step] = happened.get(step, 0) + 1
    walk.agent.close()
    assert "ask" in happened
    assert seed > 2 or {"judge", "drift"} <= set(happened)  # the walks of every test run
    listed = {item.entry.id for item in entries_in(tmp_path / "own" / "memory") if item.recallable}
    assert listed == fold(tmp_path / "own")
    assert audit_live(tmp_path / "own").contradictions == ()
