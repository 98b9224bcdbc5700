"""The ladder: a person's word, the user's checks, agreement, execution; nothing is kept or shown above what it earned."""

from pathlib import Path
from typing import Any

import pytest

from making.shop import COUNT, PAID, Model, open_shop
from merit.errors import InputError
from merit.live import AnswerStatus, LiveAgent
from merit.live.judging.checks import applying, composed
from merit.memory import Grade, entries_in
from merit.settings import CheckSettings, MemorySettings
from merit.types import Sampling

NEVER_NEGATIVE = CheckSettings("counts are not negative", "SELECT * FROM answer WHERE number < 0")
NEVER_THREE = CheckSettings("never three", "SELECT * FROM answer WHERE number = 3", question="*how many*")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))


def shop(tmp_path: Path, answer: Any = COUNT, **more: Any) -> tuple[LiveAgent, Model]:
    model = Model(answer)
    return open_shop(tmp_path, model, **more), model


def kept(tmp_path: Path) -> list[tuple[str, Grade]]:
    """What is remembered and not deleted: SQL and grade."""
    listed = entries_in(tmp_path / "own" / "memory")
    return [(item.entry.delta, item.entry.grade) for item in listed if item.deleted is None]


# Grades


def test_what_passes_a_check_is_tested_and_shown_as_tested(tmp_path: Path) -> None:
    agent, model = shop(tmp_path, checks=(NEVER_NEGATIVE,))
    with agent:
        assert agent.ask("How many orders are there?").passed == ("counts are not negative",)
        assert kept(tmp_path) == [(COUNT, Grade.TESTED)]
        agent.ask("How many orders do we have?")
    assert "[Tested answer 1]" in model.prompts[-1]
    assert "[Confirmed" not in model.prompts[-1]


def test_what_fails_a_check_is_never_kept_and_says_which(tmp_path: Path) -> None:
    agent, _ = shop(tmp_path, checks=(NEVER_NEGATIVE, NEVER_THREE), memory=MemorySettings(keep="executed"))
    with agent:
        answer = agent.ask("How many orders are there?")
        assert answer.status is AnswerStatus.UNSURE
        assert answer.remarks == ("the check 'never three' failed: the answer has rows that it says must not be",)
        assert agent.history()[-1].failed == ("never three",)
    assert kept(tmp_path) == []


def test_a_check_that_cannot_run_is_not_passed(tmp_path: Path) -> None:
    check = CheckSettings("profit", "SELECT * FROM answer WHERE profit < 0")
    agent, _ = shop(tmp_path, checks=(check,))
    with agent:
        said = agent.ask("How many?").remarks
    assert said == ("the check 'profit' failed: it could not run (SQLITE_ERROR: no such column: profit)",)
    assert kept(tmp_path) == []


@pytest.mark.parametrize(("keep", "grades"), [("tested", []), ("agreed", [Grade.AGREED]), ("confirmed", [])])
def test_what_merely_agrees_is_kept_only_where_the_file_says_so(tmp_path: Path, keep: str, grades: list[Grade]) -> None:
    agent, _ = shop(tmp_path, memory=MemorySettings(keep=keep))
    with agent:
        agent.ask("How many?")
    assert [grade for _, grade in kept(tmp_path)] == grades


def test_what_merely_ran_is_kept_as_that(tmp_path: Path) -> None:
    agent, _ = shop(
        tmp_path, lambda _, sampling: f"SELECT {sampling.seed or 0}", memory=MemorySettings(keep="executed")
    )
    with agent:
        agent.ask("How many?")
    assert [grade for _, grade in kept(tmp_path)] == [Grade.EXECUTED]


@pytest.mark.parametrize(("recall", "shown"), [("tested", False), ("agreed", True)])
def test_below_the_wanted_grade_nothing_is_shown(tmp_path: Path, recall: str, shown: bool) -> None:
    agent, model = shop(tmp_path, memory=MemorySettings(keep="agreed", recall=recall))
    with agent:
        agent.ask("How many orders are there?")
        answer = agent.ask("How many orders do we have?")
    assert ("[Agreed answer 1]" in model.prompts[-1]) is bool(answer.recalled) is shown


# Which checks apply


@pytest.mark.parametrize(
    ("check", "applies"),
    [
        ({}, True),
        ({"question": "*ORDERS*"}, True),
        ({"question": "orders*"}, False),
        ({"table": "orders"}, True),
        ({"table": "main.Orders"}, True),
        ({"table": "order"}, False),
        ({"metric": "net revenue"}, True),
        ({"metric": "revenue per"}, False),
        ({"question": "*orders*", "table": "people"}, False),
    ],
)
def test_a_check_applies_by_question_table_and_metric(check: dict[str, str], applies: bool) -> None:
    found = applying([CheckSettings("c", "", **check)], "Net  revenue of orders?", 'SELECT 1 FROM "Orders"', "sqlite")
    assert bool(found) is applies


@pytest.mark.parametrize(
    ("check", "statement"),
    [
        ("SELECT 1 FROM answer;", "WITH answer AS (\nSELECT 2\n) SELECT 1 FROM answer"),
        ("with a as (select 1) select 1 from answer", "WITH answer AS (\nSELECT 2\n), a as (select 1) select 1 from answer"),
        ("WITH RECURSIVE a AS (SELECT 1) SELECT 1 FROM answer", "WITH RECURSIVE answer AS (\nSELECT 2\n), a AS (SELECT 1) SELECT 1 FROM answer"),
    ],
)  # fmt: skip
def test_a_check_reads_the_answer_under_its_name(check: str, statement: str) -> None:
    assert composed(check, "SELECT 2;") == statement


def test_an_answer_cannot_comment_a_check_away(tmp_path: Path) -> None:
    check = CheckSettings("never three", "SELECT * FROM answer /* c */ WHERE number = 3 /* ) */")
    tails = [" /* ", " -- ) SELECT 1 WHERE 0", " /* */ -- x"]
    answer = lambda prompt, _: COUNT + next(tail for tail in tails if f"tail {tails.index(tail)}" in prompt)  # noqa: E731
    agent, _ = shop(tmp_path, answer, checks=(check,))
    with agent:
        for number in range(len(tails)):
            assert agent.ask(f"How many, tail {number}?").passed == ()
    assert kept(tmp_path) == []


# A person's word


def test_a_confirmation_takes_the_place_of_a_tested_entry(tmp_path: Path) -> None:
    agent, _ = shop(tmp_path, checks=(NEVER_NEGATIVE,))
    with agent:
        agent.confirm(agent.ask("How many?").id)
    assert kept(tmp_path) == [(COUNT, Grade.CONFIRMED)]


def test_a_rejected_answer_is_no_example_any_more_however_sure_it_was(tmp_path: Path) -> None:
    agent, model = shop(tmp_path, checks=(NEVER_NEGATIVE,))
    with agent:
        agent.confirm(agent.ask("How many paid orders are there?").id, author="ada")
        second = agent.ask("how many paid orders are  there")
        agent.reject(second.id, author="bob", reason="it counts open ones, too")
        assert kept(tmp_path) == []
        agent.ask("How many orders are paid?")
    assert "Confirmed answer" not in model.prompts[-1]
    assert "Tested answer" not in model.prompts[-1]


def test_a_rejected_statement_is_not_given_again_with_confidence(tmp_path: Path) -> None:
    agent, model = shop(tmp_path)
    with agent:
        agent.reject(agent.ask("How many paid orders?").id, reason="open ones, too")
        again = agent.ask("how many paid orders")
        day = agent.history()[0].time[:10]
        assert again.status is AnswerStatus.UNSURE
        assert again.remarks == (f"this SQL was rejected on {day}: open ones, too",)
        assert f"{COUNT} (this SQL was rejected on {day}: open ones, too)" in model.prompts[-1]
        other = agent.ask("How many orders?")
    assert (other.status, other.remarks) == (AnswerStatus.ANSWERED, ())


def test_another_candidate_wins_over_a_rejected_one(tmp_path: Path) -> None:
    def answer(_prompt: str, sampling: Sampling) -> str:
        return PAID if (sampling.seed or 0) % 4 == 3 else COUNT

    agent, _ = shop(tmp_path, answer)
    with agent:
        first = agent.ask("How many paid orders?")
        assert first.sql == COUNT
        agent.reject(first.id)
        assert agent.ask("How many paid orders?").sql == PAID


def test_the_last_word_on_a_statement_holds(tmp_path: Path) -> None:
    agent, _ = shop(tmp_path)
    with agent:
        agent.reject(agent.ask("How many?").id)
        agent.confirm(agent.ask("How many?").id)
        assert agent.ask("How many?").remarks == ()


def test_what_was_corrected_counts_as_rejected(tmp_path: Path) -> None:
    agent, model = shop(tmp_path, checks=(NEVER_NEGATIVE,))
    with agent:
        agent.correct(agent.ask("How many paid orders?").id, PAID)
        assert {grade for _, grade in kept(tmp_path)} == {Grade.CONFIRMED}
        again = agent.ask("How many paid orders?")
    assert again.status is AnswerStatus.UNSURE
    assert f"SQL: {PAID}" in model.prompts[-1]


def test_where_there_was_no_answer_a_correction_is_no_change(tmp_path: Path) -> None:
    agent, _ = shop(tmp_path, "-- UNANSWERABLE: no cars")
    with agent:
        answer = agent.ask("How many cars?")
        assert answer.status is AnswerStatus.UNANSWERABLE
        agent.correct(answer.id, "SELECT 0 AS cars")
        again = agent.ask("How many cars?")
    assert kept(tmp_path) == [("SELECT 0 AS cars", Grade.CONFIRMED)]
    assert again.remarks == ()


def test_feedback_may_come_from_another_process_days_later(tmp_path: Path) -> None:
    first, _ = shop(tmp_path)
    second, model = shop(tmp_path)
    with first, second:
        answer = first.ask("How many orders are there?")
        second.confirm(answer.id, author="bob")
        with pytest.raises(InputError, match=rf"{answer.id}: was confirmed already, on .* by bob"):
            first.confirm(answer.id, author="ada")
        assert len(second.ask("How many orders have we?").recalled) == 1
        assert len(first.ask("How many orders have we got?").recalled) == 1
    assert model.prompts
