"""Several questions at once on one event loop, and questions that are stopped half way."""

import asyncio
import threading
from pathlib import Path

import pytest

from making.live import COUNT, PAID, AnsweringModel, ShopOpener, ToldModel
from merit.errors import BudgetSpent
from merit.live import AnswerStatus, History
from merit.settings import BudgetSettings


def test_questions_at_the_same_time_do_not_mix(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(AnsweringModel(lambda prompt: PAID if "How many are paid" in prompt else COUNT))
    questions = [f"How many are {'paid' if number % 2 else 'there'}, {number}?" for number in range(10)]

    async def all_at_once() -> list[tuple[str, object]]:
        answers = await asyncio.gather(*map(agent.ask_async, questions))
        return [(answer.question, answer.rows.rows[0][0] if answer.rows else None) for answer in answers]

    assert asyncio.run(all_at_once()) == [(text, 2 if "paid" in text else 3) for text in questions]
    events = History(tmp_path / "own").answers().values()
    assert sorted(event.question for event in events) == sorted(questions)
    assert [event.calls for event in events] == [4] * 10


def test_two_that_ask_the_same_share_the_calls(ask_shop: ShopOpener) -> None:
    model = ToldModel(COUNT)
    agent = ask_shop(model)

    async def twice() -> list[int]:
        answers = await asyncio.gather(agent.ask_async("How many?"), agent.ask_async("How many?"))
        return [answer.calls for answer in answers]

    assert sum(asyncio.run(twice())) == len(model.prompts) == 4


def test_the_event_loop_is_free_while_one_asks(ask_shop: ShopOpener) -> None:
    agent = ask_shop(ToldModel(COUNT))
    loop_thread, seen = threading.get_ident(), set[int]()
    engine = agent._parts.engine
    execute = engine.execute

    def noting(*given: object) -> object:
        seen.add(threading.get_ident())
        return execute(*given)  # type: ignore[arg-type]

    engine.execute = noting  # type: ignore[assignment, method-assign]
    asyncio.run(agent.ask_async("How many?"))
    assert seen
    assert loop_thread not in seen


def test_a_day_s_limit_holds_for_questions_at_the_same_time(ask_shop: ShopOpener) -> None:
    model = AnsweringModel(lambda _: COUNT)
    agent = ask_shop(model, budget=BudgetSettings(calls_per_day=5))

    async def all_at_once() -> list[object]:
        questions = [agent.ask_async(f"How many, {number}?") for number in range(4)]
        return list(await asyncio.gather(*questions, return_exceptions=True))

    results = asyncio.run(all_at_once())
    assert len(model.prompts) == 5, "calls under way count"
    assert all(isinstance(result, BudgetSpent) or result.reason for result in results)  # type: ignore[attr-defined]


def test_a_question_that_is_cancelled_leaves_nothing_half_done(ask_shop: ShopOpener, tmp_path: Path) -> None:
    model = ToldModel(COUNT, 60.0, COUNT)
    agent = ask_shop(model)

    async def cancelled() -> str:
        asking = asyncio.create_task(agent.ask_async("How many?"))
        while len(model.prompts) < 2:
            await asyncio.sleep(0.001)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        return (await agent.ask_async("How many are there?")).sql

    assert asyncio.run(cancelled()) == COUNT
    stopped, answered = History(tmp_path / "own").answers().values()
    assert (stopped.status, stopped.error, stopped.calls) == (AnswerStatus.FAILED, "it was stopped", 2)
    assert answered.status is AnswerStatus.ANSWERED
    assert agent._asker.under_way == []


def test_plain_code_may_ask_from_several_threads(ask_shop: ShopOpener) -> None:
    agent = ask_shop(ToldModel(COUNT))
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda number=number: answers.append(agent.ask(f"How many, {number}?").sql))
        for number in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [COUNT] * 3
