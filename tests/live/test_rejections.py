"""Whom an answer's rejections were for: found as the prompts had them, and read once for a page of answers."""

import random
from dataclasses import replace

import pytest

from making.live import COUNT, PAID, ShopOpener, ToldModel
from merit.live import Asked, LiveAgent
from merit.live.judging.ladder import rejected_in
from merit.live.record.browsing import HistorySearch, search_history
from merit.live.record.events import Confirmed, Corrected, Event, Feedback, Rejected, Withdrawn, event_in, event_record
from merit.live.record.rejections import Rejections
from merit.live.record.visibility import Sight
from merit.runs.text import to_json
from merit.types import Viewer

QUESTION = "How many orders are there?"


@pytest.fixture
def shop(ask_shop: ShopOpener) -> LiveAgent:
    return ask_shop(ToldModel(COUNT))


def write(agent: LiveAgent, events: list[Event]) -> None:
    with agent.parts.history.path.open("a") as file:
        file.writelines(to_json(event_record(event)) + "\n" for event in events)


def rejected(first: Asked, number: int, question: str = QUESTION, earlier: tuple[str, ...] = ()) -> list[Event]:
    """A question that ada asked and rejected for herself, and asked again; what she was answered then rests on that."""
    asked = replace(first, id=f"a{number:011x}", author="ada", question=question, earlier=earlier)
    said = Rejected(asked.id, asked.time, "ada", (), "", "personal:ada")
    return [asked, said, replace(asked, id=f"c{number:011x}")]


def events_read(agent: LiveAgent, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many events are taken apart for bob's first page, which has none of ada's answers."""
    read = [0]

    def counted(*line: object) -> Event:
        read[0] += 1
        return event_in(*line)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr("merit.live.record.history.event_in", counted)
        seen = Sight(agent.parts, Viewer("bob")).sees
        page = search_history(agent.parts.history, HistorySearch(("there",)), 50, "", seen)
    assert [asked.author for asked, _ in page.items] == [""]
    return read[0]


def test_a_page_reads_what_was_rejected_for_a_question_once(shop: LiveAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    first = shop.answer(shop.ask(QUESTION).id)[0]
    write(shop, [event for number in range(60) for event in rejected(first, number)])
    assert events_read(shop, monkeypatch) < 10 * 60


def test_also_of_one_that_was_asked_behind_many_others(shop: LiveAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its text it is one question, but behind each other one it is another."""
    first = shop.answer(shop.ask(QUESTION).id)[0]
    events: list[Event] = []
    for number in range(60):
        before = replace(first, id=f"b{number:011x}", author="ada", question=f"And on day {number}?")
        events += [before, *rejected(first, number, "And in May?", (before.id,))]
    write(shop, events)
    assert events_read(shop, monkeypatch) < 20 * 60


@pytest.mark.parametrize("seed", range(20))
def test_they_are_those_that_the_prompt_had(shop: LiveAgent, seed: int) -> None:
    """The last word that stood decides, for each statement: whoever said it, whenever it was taken back."""
    drawn, history = random.Random(seed), shop.parts.history
    first = shop.answer(shop.ask(QUESTION).id)[0]

    def time() -> str:
        return f"2026-01-01T00:00:{drawn.randrange(10):02}+00:00"

    asked = [
        replace(
            first, id=f"{n:012x}", sql=drawn.choice([COUNT, PAID]), author=drawn.choice(["ada", "bob"]), time=time()
        )
        for n in range(12)
    ]
    words: list[Event] = []
    for _ in range(40):
        answer, scope = drawn.choice(asked).id, drawn.choice(["", "personal:ada", "personal:bob", "team:sales"])
        possible: list[Event] = [
            Rejected(answer, time(), "ada", (), "", scope),
            Confirmed(answer, time(), "ada", (), scope),
            Corrected(answer, time(), "ada", (), drawn.choice([COUNT, PAID]), scope),
            Withdrawn(answer, time(), "ada", (), ""),
        ]
        words.append(drawn.choice(possible))
    write(shop, [*asked, *words])
    rejections, since = Rejections(history), time()
    for each in asked:
        viewer = Viewer(each.author, "sales")
        said: list[tuple[Asked, Feedback]] = [
            (other, word)
            for other, word in history.stood(history.scoped(QUESTION), since, each.time)
            if other.id != each.id and viewer.sees(word.scope or None)
        ]
        expected = sorted(str(rejected.scope) for rejected in rejected_in(said, each.dialect).values())
        assert sorted(map(str, rejections.scopes(each, since, viewer))) == expected
