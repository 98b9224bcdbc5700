"""A given statement in place of the model's first candidate: judged, grounded, shown as failed, and on record as given."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from making.live import COUNT, PAID, ShopOpener, ToldModel
from merit.errors import InputError
from merit.live import AnswerStatus, LiveAgent, connect
from merit.live.asking.recalling import recall
from merit.live.auditing.audit import audit_live
from merit.live.describing import describe
from merit.settings import AskingSettings, BudgetSettings

QUESTION = "How many orders are paid?"


def test_it_has_one_vote_and_no_prompt(ask_shop: ShopOpener, tmp_path: Path) -> None:
    model = ToldModel(PAID)
    agent = ask_shop(model)
    agent.confirm(agent.ask("How many orders are there?", sql=COUNT).id, author="ada")
    model.prompts.clear()
    answer = agent.ask(QUESTION, sql=COUNT)
    assert (answer.status, answer.sql) == (AnswerStatus.ANSWERED, PAID), "the model outvotes it"
    assert answer.attempts[0].sql == COUNT
    asked = agent.history()[-1]
    assert asked.receipt is not None
    prompts = [vote.prompt for vote in asked.receipt.candidates]
    assert (prompts[:2], None in prompts[1:]) == ([None, 0], False)
    assert asked.first_prompt_sha256 == asked.receipt.prompts[0]
    assert len(model.prompts) == len(answer.attempts) - 1
    assert all(1 not in shown.candidates for shown in asked.receipt.shown), "nothing was shown for it"
    assert audit_live(tmp_path / "own").contradictions == ()


def test_the_next_prompt_shows_why_it_failed(ask_shop: ShopOpener) -> None:
    model = ToldModel(PAID)
    agent = ask_shop(model)
    answer = agent.ask(QUESTION, sql="SELECT absent FROM nowhere")
    assert answer.status is AnswerStatus.ANSWERED
    assert "SELECT absent FROM nowhere" in model.prompts[0]
    assert "no such table: nowhere" in model.prompts[0]


def test_it_is_grounded_like_any_candidate(ask_shop: ShopOpener) -> None:
    answer = ask_shop(ToldModel(COUNT)).ask("How many?", sql="SELECT count(*) FROM order")
    assert answer.attempts[0].written is not None
    assert (answer.attempts[0].sql, answer.status) == ("SELECT COUNT(*) FROM orders", AnswerStatus.ANSWERED)


@pytest.fixture
def unmodelled(ask_shop: ShopOpener, tmp_path: Path) -> LiveAgent:
    ask_shop(ToldModel(COUNT)).close()
    return connect(str(tmp_path / "shop.sqlite"), model=None, folder=tmp_path / "own", name="shop")


def test_without_a_model_it_is_the_only_candidate(unmodelled: LiveAgent, tmp_path: Path) -> None:
    with unmodelled as agent:
        for sql, status in ((COUNT, AnswerStatus.UNSURE), ("DROP TABLE orders", AnswerStatus.FAILED)):
            answer = agent.ask(QUESTION, sql=sql)
            assert (answer.status, len(answer.attempts), answer.calls) == (status, 1, 0)
            asked = agent.why(answer.id).asked
            assert asked.receipt is not None
            assert (asked.first_prompt_sha256, asked.receipt.prompts) == ("", ())
            assert asked.receipt.settings["candidates"] == 1
        with pytest.raises(InputError, match="no model was named"):
            agent.ask(QUESTION)
    assert audit_live(tmp_path / "own").contradictions == ()


def test_what_a_person_rejected_stays_rejected(ask_shop: ShopOpener) -> None:
    agent = ask_shop(ToldModel(COUNT), asking=AskingSettings(candidates=2))
    agent.reject(agent.ask(QUESTION, sql=COUNT).id, reason="all of them", author="ada")
    answer = agent.ask(QUESTION, sql=COUNT)
    assert answer.status is AnswerStatus.UNSURE
    assert "rejected" in answer.remarks[0]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("", "there is no SQL"),
        (" \n", "there is no SQL"),
        ("-- UNANSWERABLE: because", "there is no SQL"),
        ("x" * 100_001, "100001 characters"),
        ("SELECT '\udcff'", "not valid text"),
    ],
)
def test_what_is_no_statement_is_refused(ask_shop: ShopOpener, sql: str, said: str) -> None:
    agent = ask_shop(ToldModel(COUNT))
    with pytest.raises(InputError, match=said):
        agent.ask(QUESTION, sql=sql)
    assert agent.history() == []


def test_the_memory_is_recalled_without_asking(ask_shop: ShopOpener) -> None:
    model = ToldModel(COUNT)
    agent = ask_shop(model)
    entries = agent.confirm(agent.ask("How many orders are there?").id, author="ada").entries
    agent.reject(agent.ask(QUESTION).id, reason="only paid ones", author="ada")
    model.prompts.clear()
    found = recall(agent, QUESTION)
    assert [match.entry.id for match in found.matches] == list(entries)
    assert [rejected.sql for rejected in found.rejected] == [COUNT]
    assert (model.prompts, len(agent.history())) == ([], 2)
    with pytest.raises(InputError, match="empty"):
        recall(agent, " ")


def test_a_schema_is_described(ask_shop: ShopOpener) -> None:
    parts = ask_shop(ToldModel(COUNT)).parts
    whole, table = describe(parts), describe(parts, table="ORDERS")
    assert (whole.tables, whole.left_out) == (("orders",), 0)
    assert "state TEXT, -- 'paid', 'open'" in whole.text == table.text
    with pytest.raises(InputError, match=r"there is no table 'order'; did you mean 'orders'\?"):
        describe(parts, table="order")


def test_a_schema_that_is_too_large_is_described_by_its_names_or_for_a_question(
    ask_shop: ShopOpener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_shop(ToldModel(COUNT)).close()
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as db:
        for number in range(60):
            db.execute(f"CREATE TABLE warehouse_{number} (shelf_{number} INTEGER, place TEXT)")
        db.commit()
    monkeypatch.setattr("merit.live.describing._MOST_NAMES", 50)
    parts = ask_shop(ToldModel(COUNT), budget=BudgetSettings(schema_tokens=500)).parts
    names = describe(parts)
    assert (len(names.tables), names.left_out) == (50, 11)
    assert "61 tables, too many to show" in names.text
    chosen = describe(parts, "Which orders are paid?")
    assert "CREATE TABLE orders" in chosen.text
    assert (len(chosen.tables) + chosen.left_out, chosen.left_out > 30) == (61, True)
