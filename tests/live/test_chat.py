"""A conversation: follow-up questions see questions and SQL before them, never rows, and receipts name what they saw."""

from pathlib import Path

import pytest

from making.shop import COUNT, PAID, Model, open_shop
from merit.live.asking.chat import MOST_TURNS
from merit.memory import Cue, Memory, Recall, RecallPolicy, entries_in


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))


def test_a_follow_up_sees_questions_and_sql_and_no_rows(tmp_path: Path) -> None:
    model = Model(lambda prompt, _: PAID if "only the paid" in prompt else "SELECT state FROM orders WHERE total = 7")
    with open_shop(tmp_path, model, rows="never") as agent:
        chat = agent.chat()
        first = chat.ask("Which orders?")
        assert "EARLIER IN THIS CONVERSATION" not in model.prompts[-1]
        second = chat.ask("And only the paid ones?")
        shown = "EARLIER IN THIS CONVERSATION:\n<data>\nQuestion: Which orders?\nSQL: SELECT state FROM orders WHERE total = 7\n</data>"
        assert shown in model.prompts[-1]
        assert "'open'" not in model.prompts[-1]
        assert [asked.earlier for asked in agent.history()] == [(), (first.id,)]
        chat.ask("And now?")
        assert agent.history()[-1].earlier == (first.id, second.id)
        agent.ask("How many?")
    assert "EARLIER IN THIS CONVERSATION" not in model.prompts[-1], "another conversation"


def test_a_correction_is_what_the_conversation_goes_on_with(tmp_path: Path) -> None:
    model = Model(COUNT)
    with open_shop(tmp_path, model) as agent:
        chat = agent.chat()
        agent.correct(chat.ask("How many paid orders?").id, PAID)
        agent.reject(chat.ask("And in May?").id)
        chat.ask("And in June?")
    assert (
        f"Question: How many paid orders?\nSQL: {PAID}\nQuestion: And in May?\nSQL: (rejected)\n" in model.prompts[-1]
    )


def test_what_is_learned_from_a_follow_up_stands_by_itself(tmp_path: Path) -> None:
    with open_shop(tmp_path, Model(COUNT)) as agent:
        chat = agent.chat()
        chat.ask("How many orders?")
        agent.confirm(chat.ask("And in May?").id)
    (entry,) = [listed.entry for listed in entries_in(tmp_path / "own" / "memory")]
    assert entry.question == "How many orders? | And in May?"


def test_the_same_words_in_another_conversation_are_another_question(tmp_path: Path) -> None:
    with open_shop(tmp_path, Model(COUNT)) as agent:
        first, second = agent.chat(), agent.chat()
        first.ask("How many orders?")
        second.ask("How many paid orders?")
        agent.reject(first.ask("And in May?").id)
        assert second.ask("And in May?").remarks == ()
        third = agent.chat()
        third.ask("How many orders?")
        assert third.ask("and in may").remarks != ()


def test_a_long_conversation_does_not_grow_the_prompt_without_end(tmp_path: Path) -> None:
    model = Model(COUNT)
    with open_shop(tmp_path, model) as agent:
        chat = agent.chat()
        for number in range(MOST_TURNS + 2):
            chat.ask(f"Number {number}?")
    assert "Question: Number 0?" not in model.prompts[-1]
    assert model.prompts[-1].count("Question: Number") == MOST_TURNS


def test_every_candidate_of_a_follow_up_is_recalled_for_by_the_whole_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for, recall = list[str](), Memory.recall

    def noted(memory: Memory, cue: Cue, policy: RecallPolicy) -> Recall:
        asked_for.append(cue.question)
        return recall(memory, cue, policy)

    monkeypatch.setattr(Memory, "recall", noted)
    with open_shop(tmp_path, Model(COUNT)) as agent:
        chat = agent.chat()
        chat.ask("How many orders?")
        asked_for.clear()
        chat.ask("And in May?")
    assert len(asked_for) > 1
    assert set(asked_for) == {"How many orders? | And in May?"}
