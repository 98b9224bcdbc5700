"""Receipts: an answer's record says what entered its prompts and what decided; asking again without memory compares."""

import asyncio
import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from making.live import COUNT, PAID, AnsweringModel, ShopOpener, ToldModel
from merit.errors import BudgetSpent, InputError
from merit.live import AnswerStatus, History, LiveAgent, Receipt
from merit.live.record.events import event_record, read_event
from merit.settings import AskingSettings, BudgetSettings

QUESTION = "How many orders are paid?"


def receipt_of(agent: LiveAgent) -> Receipt:
    receipt = agent.history()[-1].receipt
    assert receipt is not None
    return receipt


def test_a_receipt_says_what_entered_the_prompts(ask_shop: ShopOpener) -> None:
    model = ToldModel(COUNT, PAID)
    agent = ask_shop(model, rules={"paid": "an order is paid if its state says so"})
    entry = agent.confirm(agent.ask("How many orders are there?").id, author="ada").entries[0]
    model.prompts.clear()
    answer = agent.ask(QUESTION)
    receipt = receipt_of(agent)
    assert {shown.id for shown in receipt.shown} == {entry} == {*answer.recalled}
    numbers = sorted(number for shown in receipt.shown for number in shown.candidates)
    assert numbers == list(range(1, len(answer.attempts) + 1)), "each candidate was shown it once"
    assert all(shown.score > 1 and shown.dense and shown.lexical for shown in receipt.shown)
    assert receipt.positions == (1,) * len(answer.attempts)
    assert receipt.tables == {"orders": ("id", "state", "total")}
    assert receipt.values == ("orders.state",), "the column, and not its value"
    assert any("an order is paid if" in note for note in receipt.notes)
    sent = dict.fromkeys(hashlib.sha256(prompt.encode()).hexdigest() for prompt in model.prompts)
    assert receipt.prompts == tuple(sent)
    assert receipt.settings == {
        "candidates": 8,
        "least": None,
        "enough": 0.5,
        "execute": True,
        "rows": "prompt",
        "keep": "tested",
        "votes": True,
        "recall_grade": "tested",
        "recall_databases": "any",
    }


def test_votes_are_on_record_without_a_hash_of_any_row(ask_shop: ShopOpener) -> None:
    model = ToldModel(
        "SELECT count(*) FROM ordrs", "SELECT nothing FROM nowhere", COUNT, PAID, "SELECT 1 WHERE 0", COUNT
    )
    agent = ask_shop(model, asking=AskingSettings(candidates=6))
    answer = agent.ask("How many?")
    asked = agent.history()[-1]
    found = [(vote.result, vote.weight, vote.statement) for vote in receipt_of(agent).candidates]
    assert found == [(1, 0.3, 1), (None, 1.0, 2), (1, 1.0, 3), (2, 1.0, 4), (0, 1.0, 5), (1, 1.0, 6)]
    assert asked.tried[3].sql == COUNT
    assert answer.attempts[0].verdict.result not in (None, "")
    line = json.dumps(event_record(asked))
    assert not any(attempt.verdict.result and attempt.verdict.result in line for attempt in answer.attempts)


def test_a_field_of_the_method_that_differs_is_on_record(ask_shop: ShopOpener) -> None:
    agent = ask_shop(ToldModel(COUNT))
    method = agent._asker.method
    assert method.recall is not None
    other = replace(method, temperature=0.3, recall=replace(method.recall, precedents=2))
    asyncio.run(replace(agent._asker, method=other).ask("How many?", execute=False))
    settings = receipt_of(agent).settings
    assert (settings["execute"], settings["candidates"]) == (False, 1)
    differing = {name: value for name, value in settings.items() if name.startswith("method.")}
    assert differing == {"method.temperature": 0.3, "method.recall.precedents": 2}


def test_an_ordinary_answer_is_short_and_comes_back_as_it_was(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(*[f"SELECT {number}, count(*) FROM orders" for number in range(8)]))
    for number in range(5):
        agent.confirm(agent.ask(f"How many orders are in shop {number}?").id, author="ada")
    agent.ask("How many orders are in all shops?")
    *_, line = (tmp_path / "own" / "history.jsonl").read_text().splitlines()
    assert len(line) < 10_000
    asked = agent.history()[-1]
    assert read_event(json.loads(line), "here") == asked
    assert asdict(asked)["receipt"]["candidates"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("prompts", ["x"], "the field 'prompts' should hold sha256 hashes"),
        ("positions", [-1], "the field 'positions' should hold whole numbers"),
        ("values", [1], "the field 'values' should hold lists of texts"),
        ("tables", {"orders": "id"}, "the field 'tables' should hold lists of texts"),
        ("settings", {"rows": []}, "the field 'settings' should hold texts and numbers"),
        ("shown", [{"id": "pre-1"}], "the field 'candidates' is missing"),
        ("candidates", [{"prompt": 0, "statement": "0", "weight": 1.0, "result": 1}], "'statement' should be a number"),
        ("more", 1, "not the fields of a receipt"),
    ],
)
def test_a_damaged_receipt_is_named(ask_shop: ShopOpener, name: str, value: object, said: str) -> None:
    agent = ask_shop(ToldModel(COUNT))
    agent.ask("How many?")
    record = json.loads(json.dumps(event_record(agent.history()[-1])))
    record["receipt"][name] = value
    with pytest.raises(InputError, match=f"here, receipt: .*{said}"):
        read_event(record, "here")


# Why


def test_why_says_whose_entry_it_was_and_what_became_of_it(ask_shop: ShopOpener) -> None:
    agent = ask_shop(ToldModel(COUNT))
    first = agent.ask("How many orders are there?")
    entry = agent.confirm(first.id, author="ada").entries[0]
    second = agent.ask("How many orders do we have?")
    (shown, listed), *_ = agent.why(second.id).entries
    assert (shown.id, listed and listed.entry.provenance.author) == (entry, "ada")
    agent.withdraw(first.id)
    record = agent.why(second.id).record()
    assert record["entries"][0]["deleted"] == f"withdrawn: {first.id}"
    assert (record["entries"][0]["question"], record["feedback"]) == ("How many orders are there?", None)


def remembering(prompt: str) -> str:
    """Answers differently where a confirmed answer is shown."""
    return PAID if "Confirmed answer" in prompt else COUNT


def test_without_memory_the_difference_is_shown_and_nothing_is_kept(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(AnsweringModel(remembering))
    agent.correct(agent.ask("How many orders were settled?").id, PAID)
    answer = agent.ask(QUESTION)
    before = (tmp_path / "own" / "memory" / "memory.jsonl").read_bytes()
    compared = agent.without_memory(answer.id)
    assert (compared.asked.sql, compared.without.sql) == (PAID, COUNT)
    assert (compared.same_sql, compared.same_rows) == (False, False)
    assert compared.without.recalled == ()
    assert compared.record()["without_memory"]["agreement"] == 1.0
    assert [asked.id for asked in agent.history()][-1] == answer.id
    assert (tmp_path / "own" / "memory" / "memory.jsonl").read_bytes() == before
    with pytest.raises(InputError, match="there is no answer"):
        agent.confirm(compared.without.id)


def test_without_memory_a_rejection_is_not_told_either(ask_shop: ShopOpener) -> None:
    model = ToldModel(COUNT)
    agent = ask_shop(model)
    answer = agent.ask(QUESTION)
    agent.reject(answer.id, reason="it counts all")
    again = agent.without_memory(answer.id)
    assert (again.same_sql, again.same_rows, again.without.status) == (True, True, AnswerStatus.ANSWERED)
    assert "it counts all" not in model.prompts[-1]
    agent.ask(QUESTION)
    assert "it counts all" in model.prompts[-1]


def test_a_follow_up_is_asked_again_in_its_conversation(ask_shop: ShopOpener) -> None:
    model = ToldModel(COUNT)
    agent = ask_shop(model)
    chat = agent.chat()
    chat.ask("How many orders are there?")
    agent.without_memory(chat.ask("And paid ones?").id)
    assert "How many orders are there?" in model.prompts[-1]


def test_what_it_takes_counts_for_the_day(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(COUNT), budget=BudgetSettings(calls_per_day=12))
    answer = agent.ask(QUESTION)
    day = agent.history()[-1].time[:10]
    took = History(tmp_path / "own").sent_on(day).calls
    more = agent.ask("Another question?", memory=False).calls
    assert more > 0
    assert History(tmp_path / "own").sent_on(day).calls == took + more
    with pytest.raises(BudgetSpent):
        for number in range(9):
            agent.ask(f"Number {number}?", memory=False)
    assert [asked.id for asked in agent.history()] == [answer.id]
