"""Confirmed questions, asked again: with the memory of their time and without, and as a test suite."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from click.testing import CliRunner

from making.live import COUNT, PAID, AnsweringModel, ShopOpener
from merit.cli.main import cli
from merit.errors import InputError
from merit.live.measuring.proof import ProofVerdict
from merit.settings import AskingSettings

FEW = {"asking": AskingSettings(candidates=2)}
MANY = [
    f"How many orders of customer {number} are settled?" for number in range(1, 27)
]  # as many as tell no difference
QUESTIONS = MANY[:6]


def shown(prompt: str) -> bool:
    """Whether a prompt shows the right statement, as a confirmed example."""
    return PAID in prompt


def learned(ask_shop: ShopOpener, questions: Sequence[str] = QUESTIONS) -> None:
    """A history: the model is wrong each time, and a person corrects it."""
    with ask_shop(AnsweringModel(lambda _prompt: COUNT), **FEW) as agent:
        for question in questions:
            agent.correct(agent.ask(question).id, PAID, author="ada")


def test_a_memory_that_helps_is_told_from_one_that_does_nothing_or_harms(ask_shop: ShopOpener, tmp_path: Path) -> None:
    learned(ask_shop, MANY)
    history = (tmp_path / "own" / "history.jsonl").read_bytes()
    memory = (tmp_path / "own" / "memory" / "memory.jsonl").read_bytes()
    rights, verdicts = [], []
    for answer in (
        lambda prompt: PAID if shown(prompt) else COUNT,  # it follows examples
        lambda _prompt: PAID,  # it needs none
        lambda prompt: COUNT if shown(prompt) else PAID,  # they confuse it
    ):
        with ask_shop(AnsweringModel(answer), **FEW) as agent:
            proof = agent.prove()
        rights.append([(turn.with_memory.right, turn.without.right) for turn in proof.turns])
        verdicts.append(proof.verdict)
        low, high = proof.interval
        assert low <= proof.difference <= high
    assert verdicts == [ProofVerdict.HELPS, ProofVerdict.NO_DIFFERENCE, ProofVerdict.HARMS]
    first, later = rights[0][0], rights[0][1:]
    assert first == (False, False)  # nothing was known yet when it was asked
    assert set(later) == {(True, False)}
    assert set(rights[1]) == {(True, True)}
    assert rights[2] == [(True, True), *[(False, True)] * (len(MANY) - 1)]
    assert (tmp_path / "own" / "history.jsonl").read_bytes() == history  # nothing is learned from it
    assert (tmp_path / "own" / "memory" / "memory.jsonl").read_bytes() == memory


def test_what_it_takes_is_known_before(ask_shop: ShopOpener) -> None:
    learned(ask_shop)
    with ask_shop(AnsweringModel(lambda _prompt: PAID), **FEW) as agent:
        assert (agent.proof_cost().questions, agent.proof_cost().calls) == (6, 24)
        assert agent.proof_cost(limit=2).calls == 8
        assert agent.proof_cost().tokens == 24 * 15
        assert len(agent.prove(limit=2).turns) == 2


def test_the_gate_says_what_is_worse_than_before(ask_shop: ShopOpener, tmp_path: Path) -> None:
    learned(ask_shop)
    with ask_shop(AnsweringModel(lambda prompt: PAID if shown(prompt) else COUNT), **FEW) as agent:
        result = agent.check()
        assert (result.right, result.first, result.worse) == (6, True, [])  # five others show how each is answered
        agent.accept(result)
    with ask_shop(AnsweringModel(lambda _prompt: COUNT), **FEW) as agent:
        result = agent.check()
        assert (result.right, len(result.worse)) == (0, 6)
        assert {case.given for case in result.cases} == {COUNT}
        suite = fromstring(result.junit())
        assert (suite.get("tests"), suite.get("failures")) == ("6", "6")
        assert COUNT in str(suite[0][0].text)
    (tmp_path / "own" / "check.json").write_text("{")
    with ask_shop(AnsweringModel(lambda _prompt: PAID), **FEW) as agent:
        assert agent.check().first  # a damaged file is as none


def test_the_gate_does_not_pass_over_what_a_change_of_the_schema_made_stale(
    ask_shop: ShopOpener, tmp_path: Path
) -> None:
    model = AnsweringModel(lambda prompt: PAID if prompt.rfind("are paid?") > prompt.rfind("are there?") else COUNT)
    with ask_shop(model, **FEW) as agent:
        for question in ("How many orders are paid?", "How many orders are there?"):
            agent.confirm(agent.ask(question).id)
        agent.accept(agent.check())
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as db:
        db.execute("ALTER TABLE orders RENAME COLUMN state TO stage")
    with ask_shop(model, **FEW) as agent:
        result = agent.check()
        assert [case.question for case in result.worse] == ["How many orders are paid?"]
        assert result.worse[0].reason == "the confirmed statement went stale: orders.state is gone"
        assert len(agent.prove().turns) == 1  # a proof leaves it out, as its page says
        agent.accept(result)
        assert agent.check().worse == []


def test_a_switched_off_memory_is_not_recalled(ask_shop: ShopOpener) -> None:
    learned(ask_shop)
    model = AnsweringModel(lambda prompt: PAID if shown(prompt) else COUNT)
    with ask_shop(model, **FEW) as agent:
        assert agent.ask(QUESTIONS[0]).sql == PAID
        agent.switch_memory("it harms")
    with ask_shop(model, **FEW) as agent:
        answer = agent.ask("How many orders are settled?")
        assert (answer.sql, answer.recalled) == (COUNT, ())
        with pytest.raises(InputError, match="nothing to prove"):
            agent.prove()
        agent.switch_memory(None)
    with ask_shop(model, **FEW) as agent:
        assert agent.ask("How many orders are settled?").sql == PAID


def test_the_commands(ask_shop: ShopOpener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learned(ask_shop)
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "answers.jsonl"
    script.write_text(json.dumps({"reply": PAID}))
    options = ["--database", str(tmp_path / "shop.sqlite"), "--model", f"scripted:{script}"]
    options += ["--folder", str(tmp_path / "own"), "--name", "shop"]
    refused = CliRunner().invoke(cli, ["prove", *options])
    assert "at most 96 calls" in refused.output
    assert "--yes" in str(refused.exception)
    proof = json.loads(CliRunner().invoke(cli, ["prove", "--yes", "--json", *options]).stdout)
    assert (proof["questions"], proof["difference"], proof["verdict"]) == (6, 0.0, "the history is too short to tell")
    passed = CliRunner().invoke(cli, ["check", "--junit", "out.xml", *options])
    assert passed.exit_code == 0, passed.output
    assert "6 of 6 right; the first check" in passed.output
    assert fromstring(Path("out.xml").read_bytes()).get("failures") == "0"
    nowhere = CliRunner().invoke(cli, ["check", "--junit", "none/out.xml", *options])
    assert "to write to" in str(nowhere.exception)
    script.write_text(json.dumps({"reply": COUNT}))
    worse = CliRunner().invoke(cli, ["check", *options])
    assert worse.exit_code == 1
    assert "0 of 6 right; 6 worse and 0 better than at the last check" in worse.output
