"""The audit of live answers: honest folders hold whatever was done in them, and forged receipts are caught."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from making.shop import COUNT, PAID, Model, open_shop
from merit.live import LiveAgent
from merit.live.auditing.audit import audit_live
from merit.live.record.purging import Purge, purge_all
from merit.memory import FileStore, Memory, Precedent, Provenance, curate, with_id
from merit.memory.format4 import log_line
from merit.models import open_encoder
from merit.settings import AskingSettings, BudgetSettings, CheckSettings, MemorySettings
from merit.types import Grade, Sampling, Status

AGREED = MemorySettings(keep="agreed", recall="tested")
_encoder_opened_once = cache(open_encoder)
Line = dict[str, Any]


@pytest.fixture(autouse=True, scope="module")
def _surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MERIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patched.setattr("merit.live.opening.open_encoder", _encoder_opened_once)
        yield


def answering(prompt: str, _: Sampling) -> str:
    return PAID if "paid" in prompt.rpartition("uestion")[2].lower() else COUNT


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which entries were kept, confirmed, superseded, corrected, rejected, withdrawn, deleted and stale."""
    folder = tmp_path_factory.mktemp("honest")
    with open_shop(folder, Model(answering), memory=AGREED) as agent:
        first = agent.ask("How many orders are there?")
        confirmed = agent.confirm(first.id, author="ada")
        second = agent.ask("How many paid orders are there?")
        third = agent.ask("How many orders do we have?")
        corrected = agent.correct(third.id, PAID, author="bob")
        agent.reject(agent.ask("How many orders have we got?").id, author="bob")
        agent._parts.memory.mark_stale({corrected.entries[0]: "a column is gone"})
        agent.ask("How many orders were there?")
        agent._parts.memory.mark_stale({corrected.entries[0]: "it is back"}, stale=False)
        agent.withdraw(first.id, reason="too early", author="ada")
        agent.ask("How many orders will there be?")
        agent.confirm(first.id, author="ada")
        chat = agent.chat()
        chat.ask("How many orders are in the shop?")
        agent.confirm(chat.ask("And how many paid?").id, author="ada")
    assert confirmed.entries[0] in read(folder / "own")[0][3]["recalled"]
    assert second.recalled
    return folder


def read(own: Path) -> tuple[list[Line], list[Line]]:
    """Answers and words; the memory's log."""
    files = (own / "history.jsonl", own / "memory" / "memory.jsonl")
    history, log = ([json.loads(line) for line in file.read_text().splitlines()] for file in files)
    return history, log


def contradictions(own: Path) -> list[str]:
    return list(audit_live(own).contradictions)


# Honest folders


def test_an_honest_folder_holds_and_says_what_is_taken_on_trust(honest: Path) -> None:
    found = audit_live(honest / "own")
    assert found.contradictions == ()
    assert (found.answers, found.words, found.purged, found.without_receipt) == (8, 6, 0, 0)
    assert found.shown > 5
    assert len(found.on_trust) == 3


@pytest.mark.parametrize("what", ["first answer", "bob", "ada", "entry", "deleted"])
def test_what_is_purged_does_not_make_it_fail(honest: Path, tmp_path: Path, what: str) -> None:
    own = tmp_path / "own"
    shutil.copytree(honest / "own", own)
    history, log = read(own)
    confirmed = history[1]["entries"]
    with closing(FileStore(own / "memory")) as store:
        deleted = tuple(curate.deleted_ids(store))
    wanted = {
        "first answer": Purge(answers=(history[0]["id"],)),
        "bob": Purge(authors=("bob",)),
        "ada": Purge(authors=("ada",)),
        "entry": Purge(entries=tuple(confirmed)),
        "deleted": Purge(entries=deleted),
    }[what]
    assert purge_all(own, wanted).entries > 0
    assert contradictions(own) == []
    assert len(read(own)[1]) == len(log)
    if what == "entry":
        found = audit_live(own)
        assert found.purged > 0
        assert f"what {found.purged} purged entries said" in found.on_trust[-1]


def test_confirming_an_entry_by_its_id_and_importing_hold(honest: Path, tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    shutil.copytree(honest / "own", own)
    kept = asked(read(own)[0], "paid orders are there")["kept"][0]
    with closing(FileStore(own / "memory")) as store:
        curate.confirm(store, kept)
        curate.export(store, tmp_path / "entries.jsonl")
    assert contradictions(own) == []
    other.mkdir()
    with open_shop(other, Model(COUNT)) as agent:
        agent.ask("How many?")
    with closing(FileStore(other / "own" / "memory")) as store:
        curate.import_entries(store, tmp_path / "entries.jsonl")
    found = audit_live(other / "own")
    assert found.contradictions == ()
    assert f"that {found.imported} entries from elsewhere, imported or" in found.on_trust[-1]


def test_what_another_process_confirms_meanwhile_is_not_shown(tmp_path: Path) -> None:
    agents: list[LiveAgent] = []
    judged: list[str] = []

    def answer(prompt: str, sampling: Sampling) -> str:
        if "we got" in prompt and sampling.seed and not judged:
            judged.append(agents[0].confirm(first.id).answer)
        return f"SELECT {sampling.seed or 0} AS number"

    with open_shop(tmp_path, Model(COUNT)) as other, open_shop(tmp_path, Model(answer)) as agent:
        agents.append(other)
        first = other.ask("How many orders are there?")
        answered = agent.ask("How many orders have we got?")
        asked = agent.history()[-1]
    assert judged
    assert asked.receipt is not None
    assert asked.position == 0
    assert asked.receipt.positions[0] == 0 < asked.receipt.positions[-1]
    assert answered.recalled == ()
    assert contradictions(tmp_path / "own") == []


@pytest.mark.parametrize("method", ["precedent_grounded", "resample", "merit", "iterative", "zero_shot"])
def test_answers_of_every_kind_hold(tmp_path: Path, method: str) -> None:
    def answer(prompt: str, sampling: Sampling) -> str:
        asked, seed = prompt.rpartition("uestion")[2], sampling.seed or 0
        if "cars" in asked:
            return "-- UNANSWERABLE: no cars"
        if "broken" in asked:
            return "SELECT nothing FROM nowhere"
        if "mixed" in asked:
            return ["SELECT x FROM y", COUNT, "SELECT 1 WHERE 0", "SELECT count(*) AS number FROM ordrs"][seed % 4]
        return COUNT

    checks = (CheckSettings("never three", "SELECT 1 FROM answer WHERE number = 3", question="*checked*"),)
    more: dict[str, Any] = {"memory": AGREED, "checks": checks, "asking": AskingSettings(candidates=6, least=3)}
    with open_shop(tmp_path, Model(answer), method=method, **more) as agent:
        for question in ("How many?", "Which cars?", "A broken one?", "A mixed one?", "A checked one?"):
            agent.ask(question)
        agent.reject(agent.ask("How many?").id)
        agent.ask("How many?")
        agent.ask("Not executed?", execute=False)
        agent.ask("Without memory?", memory=False)
    with open_shop(tmp_path, Model(answer), method=method, budget=BudgetSettings(calls=2)) as agent:
        agent.ask("A mixed one?")
        assert len(agent.history()) == 9
    assert contradictions(tmp_path / "own") == []


def test_answers_of_the_first_format_hold(honest: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(honest / "own", own)
    history, log = read(own)
    for line in history:
        if line["kind"] == "asked":
            line["receipt"] = None
    write(own, history, log)
    found = audit_live(own)
    assert found.contradictions == ()
    assert found.without_receipt == 8
    history[2]["recalled"] = ["pre-0000000000000000"]
    write(own, history, log)
    assert "which the memory never had" in contradictions(own)[0]


# Forged ones


def write(own: Path, history: list[Line], log: list[Line]) -> None:
    for file, lines in ((own / "history.jsonl", history), (own / "memory" / "memory.jsonl", log)):
        text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
        file.write_text(text)


def asked(history: list[Line], question: str) -> Line:
    return next(line for line in history if line["kind"] == "asked" and line["question"] == f"How many {question}?")


def show(line: Line, identity: str, position: int | None = None) -> None:
    """Forge that the first prompt of an answer showed an entry."""
    line["recalled"].append(identity)
    line["receipt"]["shown"].append({"id": identity, "candidates": [1], "score": 1.0, "dense": 0.5, "lexical": None})
    if position is not None:
        line["position"] = position
        line["receipt"]["positions"] = [position for _ in line["receipt"]["positions"]]


def learned(history: list[Line], question: str) -> str:
    """The first entry that a person's word on an answer left."""
    answer = asked(history, question)["id"]
    return str(next(line["entries"][0] for line in history if line.get("answer") == answer))


def unknown(history: list[Line], _: list[Line]) -> None:
    show(asked(history, "paid orders are there"), "pre-0000000000000000")


def later(history: list[Line], _: list[Line]) -> None:
    show(asked(history, "paid orders are there"), learned(history, "orders do we have"))


def deleted(history: list[Line], _: list[Line]) -> None:
    show(asked(history, "orders will there be"), learned(history, "orders are there"))


def stale(history: list[Line], _: list[Line]) -> None:
    show(asked(history, "orders were there"), learned(history, "orders do we have"))


def unsure(history: list[Line], _: list[Line]) -> None:
    show(asked(history, "orders will there be"), asked(history, "paid orders are there")["kept"][0])


def itself(history: list[Line], log: list[Line]) -> None:
    line = asked(history, "paid orders are there")
    show(line, line["kept"][0], position=log[-1]["sequence"])


def beyond(history: list[Line], log: list[Line]) -> None:
    asked(history, "paid orders are there")["receipt"]["positions"][-1] = log[-1]["sequence"] + 1


def backwards(history: list[Line], _: list[Line]) -> None:
    asked(history, "paid orders are there")["receipt"]["positions"][-1] = 0


def scope(history: list[Line], _: list[Line]) -> None:
    asked(history, "paid orders are there")["receipt"]["settings"]["recall_databases"] = "other"


def no_recall(history: list[Line], _: list[Line]) -> None:
    asked(history, "paid orders are there")["receipt"]["settings"]["recall_grade"] = None


def another_list(history: list[Line], _: list[Line]) -> None:
    asked(history, "paid orders are there")["recalled"].clear()


def source(_: list[Line], log: list[Line]) -> None:
    for line in log:
        if line["kind"] == "precedent":
            line["provenance"]["position"] += 100


def sql(history: list[Line], _: list[Line]) -> None:
    asked(history, "orders will there be")["sql"] = "SELECT 7"


def status(history: list[Line], _: list[Line]) -> None:
    asked(history, "orders will there be")["status"] = "unsure"


def agreement(history: list[Line], _: list[Line]) -> None:
    asked(history, "orders will there be")["agreement"] = 0.5


def votes(history: list[Line], _: list[Line]) -> None:
    for number, vote in enumerate(asked(history, "orders will there be")["receipt"]["candidates"]):
        vote["result"] = number + 1


def prompt(history: list[Line], _: list[Line]) -> None:
    asked(history, "orders will there be")["first_prompt_sha256"] = "0" * 64


def no_prompt(history: list[Line], _: list[Line]) -> None:
    asked(history, "orders will there be")["receipt"]["candidates"][-1]["prompt"] = 99


def nobody(history: list[Line], _: list[Line]) -> None:
    history[1]["answer"] = "0123456789ab"


def too_early(history: list[Line], _: list[Line]) -> None:
    history[0], history[1] = history[1], history[0]


def no_entry(history: list[Line], _: list[Line]) -> None:
    history[1]["entries"] = ["pre-0000000000000000"]


def another_sql(history: list[Line], _: list[Line]) -> None:
    next(line for line in history if line["kind"] == "corrected")["sql"] = "SELECT 7"


def another_answer(history: list[Line], _: list[Line]) -> None:
    history[1]["entries"] = [learned(history, "orders do we have")]


def poison(_: list[Line], log: list[Line]) -> None:
    provenance = Provenance("live", "feedbeef0000", "shop", 1, 0, "live:feedbeef0000", "mallory", "2026-11-16")
    right = Status.CORRECT
    entry = with_id(Precedent("", "How many?", "", "SELECT 7", right, right, Grade.CONFIRMED, provenance))
    log.append(json.loads(log_line(entry, log[-1]["sequence"] + 1)))


def taken_back(history: list[Line], _: list[Line]) -> None:
    answer = asked(history, "orders do we have")["id"]
    said = next(line for line in history if line.get("answer") == answer)
    history.append({**said, "kind": "withdrawn", "reason": ""})
    del history[-1]["sql"], history[-1]["scope"]


def nothing_said(history: list[Line], _: list[Line]) -> None:
    withdrawn = next(line for line in history if line["kind"] == "withdrawn")
    history.append({**withdrawn, "answer": asked(history, "orders will there be")["id"]})


def twice_judged(history: list[Line], _: list[Line]) -> None:
    history.append(history[-1])


def twice(history: list[Line], _: list[Line]) -> None:
    history.append(asked(history, "orders will there be"))


def edited(_: list[Line], log: list[Line]) -> None:
    next(line for line in reversed(log) if line["kind"] == "precedent")["sql"] = "SELECT 7"


def sure(history: list[Line], _: list[Line]) -> None:
    asked(history, "orders are there")["kept"] = history[1]["entries"]


def follows(history: list[Line], _: list[Line]) -> None:
    asked(history, "orders will there be")["earlier"] = ["0123456789ab"]


FORGERIES: dict[Callable[[list[Line], list[Line]], None], str] = {
    unknown: "was shown pre-0000000000000000 for candidate 1, which the memory never had",
    later: "which was committed as number",
    deleted: "which was deleted since number",
    stale: r"which was stale since number \d+ \(a column is gone\)",
    unsure: "which is agreed, and the least is tested",
    itself: "which was learned from itself",
    beyond: r"knew the memory up to number \d+, and its log ends at",
    backwards: "has positions that go back",
    scope: "which is about the database shop, out of scope",
    no_recall: "and nothing was to be recalled",
    another_list: "lists other entries as recalled than its receipt shows",
    source: "which comes from position",
    sql: "has SQL that is not among its candidates",
    status: "is unsure, and its votes give answered",
    agreement: "says that 50% of the votes agree, and it is 100%",
    votes: "is answered, and its votes give unsure",
    prompt: "has a first prompt that is not the first of its receipt",
    no_prompt: "has a candidate whose prompt is not on record",
    nobody: "was confirmed, and there is no such answer",
    too_early: "was confirmed, before it was asked",
    no_entry: "left pre-0000000000000000, which the memory does not have",
    another_sql: "which says another SQL than was said to be right",
    another_answer: "which is about another question",
    poison: "the memory has it, and no standing word or kept answer in the history accounts for it",
    taken_back: "no standing word or kept answer in the history accounts for it",
    nothing_said: "was withdrawn, and nothing had been said about it",
    twice_judged: "was confirmed, and had been judged already",
    twice: "is there twice",
    edited: "does not say what its id stands for; it was edited",
    sure: "as confirmed, without a person's word",
    follows: "follows 0123456789ab, which was not asked before it",
}


@pytest.mark.parametrize(("forge", "said"), FORGERIES.items(), ids=[forge.__name__ for forge in FORGERIES])
def test_a_forgery_is_caught(
    honest: Path, tmp_path: Path, forge: Callable[[list[Line], list[Line]], None], said: str
) -> None:
    own = tmp_path / "own"
    shutil.copytree(honest / "own", own)
    history, log = read(own)
    forge(history, log)
    write(own, history, log)
    found = contradictions(own)
    assert any(re.search(said, sentence) for sentence in found), found


def test_what_is_poisonous_is_recalled_until_it_is_found(honest: Path, tmp_path: Path) -> None:
    """The forged entry is a whole one: recall alone cannot tell."""
    own = tmp_path / "own"
    shutil.copytree(honest / "own", own)
    history, log = read(own)
    poison(history, log)
    write(own, history, log)
    with Memory(own / "memory", None) as memory:
        assert memory.entry(log[-1]["id"]).delta == "SELECT 7"
