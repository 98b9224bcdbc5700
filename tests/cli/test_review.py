"""`merit memory review`, `merit memory purge` and `merit history`: finding, judging and erasing what was asked."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from making.commands import good, refused
from making.shop import COUNT, PAID, Model, open_shop
from merit.cli import check as checking
from merit.cli import review as reviewing
from merit.live import LiveAgent
from merit.live.judging.review import waiting
from merit.live.measuring.regression import RegressionCase, RegressionResult
from merit.memory import Grade, entries_in
from merit.settings import MemorySettings
from merit.types import Sampling


def answered(prompt: str, sampling: Sampling) -> str:
    return f"SELECT {sampling.seed or 0} AS paid" if "odd" in prompt else PAID if "settled" in prompt.lower() else COUNT


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveAgent]:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    with open_shop(tmp_path, Model(answered), memory=MemorySettings(keep="agreed")) as agent:
        yield agent


def questions(folder: Path = Path("own")) -> list[str]:
    return [item.question for item in waiting(folder)]


def test_the_most_useful_waits_first(shop: LiveAgent) -> None:
    for question in ("Once?", "Twice settled?", "An odd one?", "twice settled"):
        shop.ask(question)
    assert questions() == ["twice settled", "An odd one?", "Once?"]
    shop.confirm(shop.ask("TWICE settled?").id)
    assert questions() == ["An odd one?", "Once?"], "the same SQL for the same question is judged once"


def test_in_a_pipe_it_is_a_list(shop: LiveAgent) -> None:
    answer = shop.ask("How many settled orders?")
    line = good("memory", "review", "--folder", "own").output
    assert line == f"{answer.id}\tanswered\t1x\tHow many settled orders?\t{PAID}\n"
    (item,) = map(json.loads, good("memory", "review", "--folder", "own", "--json").output.splitlines())
    assert (item["id"], item["asked"], item["agreement"]) == (answer.id, 1, 1.0)
    assert good("memory", "review", "--folder", "own", "--name", "other").output == "nothing waits for review\n"


def test_each_choice_is_the_command_of_that_name(shop: LiveAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    for question in ("One?", "Two?", "Three?", "Four?", "Five?"):
        shop.ask(question)
    typed = iter(["y", "n", "it counts", "x", "c", "SELECT nothing", "c", PAID, "s", "q"])
    monkeypatch.setattr(click, "prompt", lambda *_, **__: next(typed))
    reviewing._go_through(waiting(Path("own")), shop, Path("own") / "memory", "ada", "delete")
    said = [(event["feedback"] or {}).get("kind") for event in in_history()]
    assert sorted(filter(None, said)) == ["confirmed", "corrected", "rejected"]
    assert len(questions()) == 2
    assert next(typed, "all were used") == "all were used"
    live = [listed.entry for listed in entries_in(Path("own/memory")) if listed.deleted is None]
    assert sorted(entry.grade for entry in live) == [Grade.AGREED] * 2 + [Grade.CONFIRMED] * 3


def test_answers_that_contradict_each_other_come_first(
    shop: LiveAgent, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(click, "prompt", lambda *_, **__: "q")
    answers = [shop.ask("How many?").id for _ in range(2)]
    for answer, sql in zip(answers, (PAID, "SELECT 7"), strict=True):
        shop.correct(answer, sql, author="ada")
    reviewing._go_through([], shop, Path("own") / "memory", "bob", "merit memory delete own")
    said = capsys.readouterr().out
    assert said.index("contradict each other") < said.index("SELECT 7") < said.index(PAID)  # the newest first
    assert "merit memory delete own ID" in said
    assert said.endswith("nothing waits for review\n")


@pytest.mark.parametrize("name", ["[/]x", "[link=http://evil.example]x"])
def test_markup_in_an_id_of_a_history_from_elsewhere_is_shown(
    shop: LiveAgent, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    answer, history = shop.ask("How many?"), Path("own/history.jsonl")
    history.write_text(history.read_text().replace(f'"id":"{answer.id}"', f'"id":{json.dumps(name)}'))
    monkeypatch.setattr(click, "prompt", lambda *_, **__: "q")
    reviewing._go_through(waiting(Path("own")), shop, Path("own") / "memory", "ada", "delete")
    assert f"  {name}  shop  answered" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["[/]x", "[link=http://evil.example]x"])
def test_markup_in_the_name_of_a_checked_question_is_shown(capsys: pytest.CaptureFixture[str], name: str) -> None:
    checking._show(RegressionResult((RegressionCase(name, "How many?", COUNT, "", "failed", False, None),), True))
    assert f"wrong  {name}  How many?" in capsys.readouterr().out


def test_entries_from_elsewhere_wait_too(shop: LiveAgent, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shop.ask("One?")
    good("memory", "export", "own", "--out", "entries.jsonl")
    good("memory", "import", "new/memory", "entries.jsonl")
    (item,) = waiting(tmp_path / "new")
    assert (item.is_entry, item.state, item.sql) == (True, "agreed", COUNT)
    typed = iter(["c", "y"])
    monkeypatch.setattr(click, "prompt", lambda *_, **__: next(typed))
    reviewing._go_through([item], shop, tmp_path / "new" / "memory", "ada", "delete")
    assert waiting(tmp_path / "new") == []


def test_a_rejection_also_takes_back_an_example_from_elsewhere(shop: LiveAgent, tmp_path: Path) -> None:
    shop.confirm(shop.ask("How many orders do we have?").id)
    good("memory", "export", "own", "--out", "entries.jsonl")
    good("memory", "import", "new/own/memory", "entries.jsonl")
    with open_shop(tmp_path / "new", Model(COUNT)) as other:
        answer = other.ask("how many orders do we have")
        assert len(answer.recalled) == 1
        other.reject(answer.id)
        assert other.ask("How many orders do we have now?").recalled == ()


def in_history(*options: str) -> list[Any]:
    return [json.loads(line) for line in good("history", "--folder", "own", *options, "--json").output.splitlines()]


def test_history_is_searched(shop: LiveAgent) -> None:
    first, second = shop.ask("How many settled orders?"), shop.ask("How many orders?")
    shop.ask("An odd one?")
    shop.reject(first.id, author="ada")

    def found(*options: str) -> list[str]:
        return [event["id"] for event in in_history(*options)]

    assert found("settled", "MANY") == [first.id]
    assert found("many") == [first.id, second.id]
    assert found("--feedback", "rejected") == found("--author", "ada") == [first.id]
    assert found("many", "--feedback", "none") == [second.id]
    assert len(found("--status", "unsure")) == 1
    assert found("--name", "other") == found("--since", "2999-01-01") == []
    assert len(found("--since", "2020-01-01", "--name", "shop")) == 3
    assert good("history", "nowhere", "--folder", "own").output == "no such question\n"
    assert refused("history", "--folder", "own", "--since", "May") == "--since May: not a day; write it as 2026-11-16"


def test_purge_takes_ids_by_their_beginning_and_asks_first(shop: LiveAgent) -> None:
    first, second = shop.ask("How many settled orders?"), shop.ask("How many orders?")
    assert "give --yes" in refused("memory", "purge", "own", "--answer", first.id[:8])
    said = good("memory", "purge", "own", "--answer", first.id[:8], "--yes").output
    assert said == "purged 1 entry, 1 event of the history and 0 replies of the model\n"
    assert [event["id"] for event in in_history()] == [second.id]
    (entry,) = [listed.entry.id for listed in entries_in(Path("own/memory"))]
    good("memory", "delete", "own", entry, "--reason", "old")
    assert json.loads(good("memory", "purge", "own", "--deleted", "--yes", "--json").output)["entries"] == 1
    assert entries_in(Path("own/memory")) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "say what to purge: --entry, --answer, --author, --database or --deleted"),
        (("--answer", "zz"), "there is no answer 'zz'"),
        (("--entry", "zz"), "there is no entry 'zz'"),
        (("--author", ""), "an id or a name is empty; say what to purge"),
    ],
)
def test_a_purge_of_nothing_is_told(shop: LiveAgent, options: tuple[str, ...], said: str) -> None:
    shop.ask("How many?")
    assert said in refused("memory", "purge", "own", *options, "--yes")
