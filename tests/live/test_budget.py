"""A budget ends the asking: per question and per day, by calls, tokens, seconds and money."""

import json
import time
from pathlib import Path

import pytest

from making.clock import STALL_S
from making.live import COUNT, PAID, ShopOpener, ToldModel
from merit.errors import BudgetSpent, InputError
from merit.live import AnswerStatus, History
from merit.live.budget import Account
from merit.models import Usage
from merit.settings import AskingSettings, BudgetSettings

SLOW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
PRICES = (1_000_000.0, 2_000_000.0)  # a prompt token costs 1, an output token 2
LONG = 600  # tokens of a shop's prompt, as merit estimates them, are below it


@pytest.mark.parametrize(
    ("budget", "field"),
    [
        (BudgetSettings(calls=2), "'calls'"),
        (BudgetSettings(tokens=3 * LONG), "'tokens'"),
        (BudgetSettings(cost=3 * LONG, prices=PRICES), "'cost'"),
        (BudgetSettings(calls_per_day=2), "'calls_per_day'"),
        (BudgetSettings(tokens_per_day=3 * LONG), "'tokens_per_day'"),
        (BudgetSettings(cost_per_day=3 * LONG, prices=PRICES), "'cost_per_day'"),
    ],
)  # fmt: skip
def test_a_limit_ends_the_asking_and_the_best_so_far_stands(
    ask_shop: ShopOpener, budget: BudgetSettings, field: str
) -> None:
    model = ToldModel(COUNT, COUNT, PAID, tokens=(LONG, 5))
    answer = ask_shop(model, budget=budget).ask("How many?")
    assert 2 <= len(model.prompts) < 4, "without a limit, there would be four or more"
    assert (answer.sql, answer.status) == (COUNT, AnswerStatus.ANSWERED)
    assert "another call would go beyond the limit of" in answer.reason
    assert field in answer.reason
    assert (answer.calls, answer.prompt_tokens) == (len(model.prompts), LONG * len(model.prompts))


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (BudgetSettings(tokens=5), r"beyond the limit of 5 for a question \('tokens' in \[budget\]\); allow more"),
        (BudgetSettings(cost=1.0, prices=PRICES), r"beyond the limit of 1 for a question \('cost' in"),
        (BudgetSettings(tokens_per_day=5), r"limit of 5 for a day \('tokens_per_day' in \[budget\]\); ask tomorrow"),
    ],
)  # fmt: skip
def test_where_nothing_could_be_asked_one_sentence_says_so(
    ask_shop: ShopOpener, tmp_path: Path, budget: BudgetSettings, said: str
) -> None:
    model = ToldModel(COUNT)
    with pytest.raises(BudgetSpent, match=said):
        ask_shop(model, budget=budget).ask("How many?")
    assert model.prompts == []
    assert History(tmp_path / "own").events() == [], "nothing was spent"


def test_a_day_adds_up_over_questions_and_over_agents(ask_shop: ShopOpener) -> None:
    budget = BudgetSettings(calls_per_day=5)
    ask_shop(ToldModel(COUNT), budget=budget).ask("How many orders are there?")
    model = ToldModel(COUNT)
    again = ask_shop(model, budget=budget)
    answer = again.ask("How many are there?")
    assert len(model.prompts) == 1, "four calls were made before"
    assert "'calls_per_day'" in answer.reason
    assert answer.status is AnswerStatus.UNSURE, "one candidate alone agrees with nothing"
    with pytest.raises(BudgetSpent, match="ask tomorrow"):
        again.ask("How many, then?")


def test_what_another_day_took_does_not_count(ask_shop: ShopOpener, tmp_path: Path) -> None:
    ask_shop(ToldModel(COUNT)).ask("How many orders are there?")
    path = tmp_path / "own" / "history.jsonl"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "time": "2020-01-01T00:00:00+00:00"}, separators=(",", ":")) + "\n")
    assert not ask_shop(ToldModel(COUNT), budget=BudgetSettings(calls_per_day=5)).ask("How many?").reason


def test_a_history_that_was_written_anew_is_added_up_anew(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(COUNT), budget=BudgetSettings(calls_per_day=7))
    agent.ask("How many orders are there?")
    (tmp_path / "own" / "history.jsonl").write_text("")
    assert not agent.ask("How many are there?").reason


@pytest.mark.timed
def test_a_model_that_hangs_is_left_when_the_time_is_over(ask_shop: ShopOpener) -> None:
    agent = ask_shop(ToldModel(COUNT, 600.0), budget=BudgetSettings(seconds=2))
    started = time.monotonic()
    answer = agent.ask("How many?")
    assert time.monotonic() - started < 2 * STALL_S
    assert answer.rows is not None, "the first candidate ran"
    assert "the 2 s for a question are over ('seconds' in [budget])" in answer.reason
    assert answer.calls == 2, "a call that was not waited for may have to be paid"
    with pytest.raises(BudgetSpent, match="are over"):
        ask_shop(ToldModel(600.0), budget=BudgetSettings(seconds=0.1)).ask("How many, now?")


@pytest.mark.timed
def test_a_statement_ends_with_the_question_s_time(ask_shop: ShopOpener) -> None:
    started = time.monotonic()
    answer = ask_shop(ToldModel(SLOW), budget=BudgetSettings(seconds=1)).ask("How many numbers are there?")
    assert time.monotonic() - started < STALL_S, "a statement alone may take 30 s"
    assert answer.status is AnswerStatus.FAILED
    assert "timed out" in str(answer.error)


def test_what_came_from_the_cache_takes_nothing(ask_shop: ShopOpener) -> None:
    agent = ask_shop(ToldModel(COUNT))
    assert agent.ask("How many?").calls == 4
    answer = agent.ask("How many?")
    assert (answer.calls, answer.prompt_tokens, answer.status) == (0, 0, AnswerStatus.ANSWERED)


def test_a_question_that_failed_counts_for_the_day(ask_shop: ShopOpener, tmp_path: Path) -> None:
    class Failing(ToldModel):
        async def complete(self, *given: object) -> None:  # type: ignore[override]
            if self.prompts:
                raise InputError("the server is gone; start it")
            return await super().complete(*given)  # type: ignore[arg-type, return-value]

    with pytest.raises(InputError, match="the server is gone"):
        ask_shop(Failing(COUNT)).ask("How many?")
    (event,) = History(tmp_path / "own").answers().values()
    assert (event.status, event.calls, event.error) == (AnswerStatus.FAILED, 1, "the server is gone; start it")


def test_a_call_that_was_just_answered_counts_once() -> None:
    account = Account(BudgetSettings(calls_per_day=2), Usage)
    with account.calling("SELECT"):
        assert account.taken.calls == 1
        account.sent.calls += 1  # as its answer does, before the question goes on
        assert account.taken.calls == 1
    assert account.taken.calls == 1


def test_money_needs_prices(ask_shop: ShopOpener) -> None:
    with pytest.raises(InputError, match="a limit on cost needs 'prices'"):
        ask_shop(ToldModel(COUNT), budget=BudgetSettings(cost=1.0))


def test_agreement_ends_the_asking_where_that_is_allowed(ask_shop: ShopOpener) -> None:
    model = ToldModel(COUNT)
    answer = ask_shop(model, asking=AskingSettings(least=2)).ask("How many?")
    assert (len(model.prompts), answer.status, answer.reason) == (2, AnswerStatus.ANSWERED, "")
