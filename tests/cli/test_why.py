"""`merit why`, `merit withdraw`, `merit memory uses` and `merit audit FOLDER`: as a person types them."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from making.commands import good, merit, refused
from making.shop import COUNT, PAID, Model, open_shop
from merit.errors import AuditFailed, InputError
from merit.live import LiveAgent
from merit.models import open_encoder

_encoder_opened_once = cache(open_encoder)
URL = "sqlite:///shop.sqlite"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveAgent]:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("merit.live.opening.open_encoder", _encoder_opened_once)
    monkeypatch.chdir(tmp_path)
    with open_shop(tmp_path, Model(lambda prompt, _: PAID if "Confirmed answer" in prompt else COUNT)) as agent:
        yield agent


def test_why_shows_the_receipt(shop: LiveAgent) -> None:
    entry = shop.confirm(shop.ask("How many orders are there?").id, author="ada").entries[0]
    answer = shop.ask("How many paid orders are there?\x1b[2J")
    said = good("why", answer.id[:6], "--folder", "own").output
    lines = said.splitlines()
    assert lines[0] == "How many paid orders are there?\\x1b[2J"
    assert f"memory     {entry}  confirmed by ada on " in said
    assert "           How many orders are there?" in lines
    assert "tables     orders (id, state, total); sha256 " in said
    assert "values     of orders.state" in lines
    assert "settings   method precedent_grounded, candidates 8, " in said
    assert "votes      1. prompt 1: result 1: SELECT count(*)" in said
    assert "model      told" in lines
    record = json.loads(good("why", answer.id, "--folder", "own", "--json").output)
    assert record["entries"][0]["author"] == "ada"
    assert record["receipt"]["prompts"][0] == record["first_prompt_sha256"]
    assert "there is no answer 'zz'" in refused("why", "zz", "--folder", "own")


def test_who_asked_is_shown(shop: LiveAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = shop.ask("How many orders are there?", author="ada")
    assert f"answer     {answer.id}, asked on " in good("why", answer.id, "--folder", "own").output
    assert " by ada, about shop" in " ".join(good("why", answer.id, "--folder", "own").output.split())
    monkeypatch.setattr("merit.live.opening.open_completer", lambda _, **_more: Model(COUNT))
    command = ("--database", URL, "--folder", "own", "--name", "shop", "--model", "openai:told")
    good("ask", "How many are open?", *command, "--author", "bob")
    listed = good("history", "--folder", "own").output.splitlines()
    assert listed[0].endswith("How many orders are there?  (ada)")
    assert listed[1].endswith("How many are open?  (bob)")
    assert good("history", "--folder", "own", "--author", "bob").output.splitlines() == listed[1:]
    with pytest.raises(InputError, match="the author"):
        shop.ask("How many?", author="\ud800")


def test_why_without_memory_shows_the_difference(shop: LiveAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.confirm(shop.ask("How many orders are there?").id)
    answer = shop.ask("How many paid orders are there?")
    assert answer.sql == PAID
    monkeypatch.setattr("merit.live.opening.open_completer", lambda _, **_more: Model(COUNT))
    command = ("why", answer.id, "--without-memory", "--database", URL, "--folder", "own", "--name", "shop")
    lines = good(*command, "--model", "openai:told").output.splitlines()
    assert lines[1] == "then       answered, 100% of the votes; now 1 row"
    assert lines[3] == "without    answered, 100% of the votes"
    assert lines[-1] == "other SQL, other rows"
    record = json.loads(good(*command, "--model", "openai:told", "--json").output)
    assert (record["same_sql"], record["same_rows"], record["without_memory"]["sql"]) == (False, False, COUNT)
    assert "no model was named" in refused(*command)


def test_withdraw_works_while_the_database_is_down(shop: LiveAgent) -> None:
    answers = [shop.ask(f"How many orders are there? {number}").id for number in range(3)]
    for answer in answers:
        shop.confirm(answer, author="ada")
    Path("shop.sqlite").unlink()
    named = ("--database", "mysql://ann:secret@127.0.0.1:1/shop", "--folder", "own")
    assert "is about the database 'shop', and this one is 'bakery'" in refused(
        "withdraw", answers[0], *named, "--name", "bakery"
    )
    good("withdraw", answers[0], *named)
    good("withdraw", answers[1], "--folder", "own")  # the history says which database it is about
    Path("merit.toml").write_text(
        '[database]\nname = "shop"\nurl = "sqlite:///shop.sqlite"\n[model]\nuri = "openai:m"\n'
    )
    good("withdraw", answers[2], "--folder", "own")


def test_withdraw_says_what_rests_on_it(shop: LiveAgent) -> None:
    first = shop.ask("How many orders are there?")
    (entry,) = shop.confirm(first.id, author="ada").entries
    second = shop.ask("How many paid orders are there?")
    options = ("--database", URL, "--folder", "own", "--name", "shop")
    said = good("withdraw", first.id, "--reason", "too early", *options).output
    command = f"memory uses own {entry}"
    assert said.startswith(f"{first.id}: withdrawn; 1 entry deleted; 1 later answer rests on it: `")
    assert said.endswith(f"{command}`\n")
    uses = good(*command.split()).output.splitlines()
    assert uses[0] == f"{entry}: 1 later answer"
    assert uses[-1].endswith(" ask 'How many paid orders are there?' --folder own")
    (use,) = json.loads(good(*command.split(), "--json").output)["answers"]
    assert (use["answer"], use["depth"], use["through"], use["learned"]) == (second.id, 1, [entry], [])
    assert "nothing was said about it" in refused("withdraw", first.id, *options)
    assert json.loads(good("history", "--folder", "own", "--json").output.splitlines()[0])["feedback"] is None


def test_delete_says_it_too(shop: LiveAgent) -> None:
    (entry,) = shop.confirm(shop.ask("How many orders are there?").id).entries
    assert good("memory", "uses", "own", entry).output == f"{entry}: no later answer was shown it\n"
    shop.ask("How many paid orders are there?")
    said = good("memory", "delete", "own", entry, "--reason", "wrong", "--json").output
    assert json.loads(said) == {"deleted": entry, "later_answers": 1}


def test_audit_of_a_folder_of_answers(shop: LiveAgent) -> None:
    shop.confirm(shop.ask("How many orders are there?").id)
    shop.ask("How many paid orders are there?")
    said = good("audit", "own").output
    assert said.startswith("own: holds. 2 answers, 1 word about them, 1 shown entry, 1 entry in the memory\n")
    assert "taken on trust:\n- that people said what the history says" in said
    path = Path("own/history.jsonl")
    path.write_text(path.read_text().replace('"status":"answered"', '"status":"unsure"'))
    result = merit("audit", "own")
    assert isinstance(result.exception, AuditFailed)
    assert str(result.exception) == "own: does not hold: 2 contradictions between its answers, words and memory"
    assert result.output.count("is unsure, and its votes give answered") == 2
    record = json.loads(merit("audit", "own", "--json").output)
    assert (record["holds"], record["runs"], len(record["folders"][0]["findings"]["contradictions"])) == (False, [], 2)
