"""Feedback through a program: only a person's yes is recorded, and nothing says more than what happened."""

import asyncio
from pathlib import Path

import pytest

from making.live import COUNT, PAID, ToldModel
from making.mcp_client import ERAS, Dialogue, Served, agreeing, refusal, result
from merit.live.auditing.audit import audit_live
from merit.memory import Grade

QUESTION = "How many orders are there?"


@pytest.mark.parametrize("era", ERAS)
def test_a_person_who_agrees_confirms(serve: Served, era: str, tmp_path: Path) -> None:
    async def call() -> None:
        person = agreeing()
        async with serve(ToldModel(COUNT), era=era, person=person) as (client, agent):
            answer = await result(client, "ask", question=QUESTION)
            feedback = await result(client, "feedback", answer=answer["id"], verdict="confirm")
            assert (feedback["recorded"], feedback["by"], feedback["author"]) == ("confirmed", "person", "ada")
            (shown,) = person.shown
            assert QUESTION in shown
            assert COUNT in shown
            word = agent.why(answer["id"]).feedback
            assert word is not None
            assert (word.author, word.through) == ("ada", "mcp"), "who said it, and through which program"
            (listed,) = agent.parts.memory.listed()
            assert (listed.entry.grade, listed.entry.provenance.author) == (Grade.CONFIRMED, "ada")
            assert [
                entry["id"] for entry in (await result(client, "recall", question=QUESTION))["entries"]
            ] == feedback["entries"]

    asyncio.run(call())
    found = audit_live(tmp_path / "own")
    assert (found.contradictions, found.through) == ((), 1)
    assert any("1 word which came through other programs" in item for item in found.on_trust)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("person", [Dialogue("decline"), Dialogue("cancel"), Dialogue(agree=False)])
def test_a_person_who_does_not_agree_leaves_no_trace(serve: Served, era: str, person: Dialogue) -> None:
    async def call() -> None:
        async with serve(ToldModel(COUNT), era=era, person=person, suggestions=True) as (client, agent):
            answer = await result(client, "ask", question=QUESTION)
            for verdict in ("confirm", "reject", "correct"):
                feedback = await result(client, "feedback", answer=answer["id"], verdict=verdict, sql=PAID)
                assert (feedback["recorded"], feedback["by"], feedback["entries"]) == ("nothing", "nobody", [])
            assert agent.why(answer["id"]).feedback is None
            assert agent.parts.memory.listed() == []

    asyncio.run(call())


@pytest.mark.parametrize("era", ERAS)
def test_a_program_that_cannot_ask_a_person_is_refused(serve: Served, era: str) -> None:
    """It must not be able to turn its own guess into a person's word, nor to take one back."""

    async def call() -> None:
        async with serve(ToldModel(COUNT), era=era) as (client, agent):
            answer = (await result(client, "ask", question=QUESTION))["id"]
            for verdict in ("confirm", "reject", "correct", "withdraw"):
                if verdict == "withdraw":
                    agent.confirm(answer, author="ada")
                sentence = await refusal(client, "feedback", answer=answer, verdict=verdict, sql=PAID)
                assert sentence.endswith(f"the person can type `merit {verdict} {answer}`")
                assert (agent.why(answer).feedback is not None) is (verdict == "withdraw")

    asyncio.run(call())


@pytest.mark.parametrize(("verdict", "sql"), [("confirm", COUNT), ("correct", PAID)])
def test_a_programs_suggestion_waits_for_a_person(serve: Served, verdict: str, sql: str, tmp_path: Path) -> None:
    async def call() -> None:
        async with serve(ToldModel(COUNT), suggestions=True) as (client, agent):
            answer = await result(client, "ask", question=QUESTION)
            given = sql if verdict == "correct" else ""
            feedback = await result(client, "feedback", answer=answer["id"], verdict=verdict, sql=given)
            assert (feedback["recorded"], feedback["by"], feedback["author"]) == ("suggested", "program", "mcp")
            (listed,) = agent.parts.memory.listed()
            assert (listed.entry.grade, listed.entry.provenance.author) == (Grade.EXECUTED, "mcp (program of ada)")
            assert listed.entry.delta == sql
            assert agent.why(answer["id"]).feedback is None, "nobody has judged it"
            assert (await result(client, "recall", question=QUESTION))["entries"] == []
            again = await result(client, "feedback", answer=answer["id"], verdict=verdict, sql=given)
            assert (again["recorded"], again["notes"]) == ("nothing", ["it is known already"])
            await refusal(client, "feedback", answer=answer["id"], verdict="reject")

    asyncio.run(call())
    assert audit_live(tmp_path / "own").contradictions == ()


def test_a_suggestion_cannot_bring_back_what_a_person_rejected(serve: Served) -> None:
    async def call() -> None:
        async with serve(ToldModel(COUNT), suggestions=True) as (client, agent):
            first = await result(client, "ask", question=QUESTION)
            second = await result(client, "ask", question=QUESTION)
            agent.reject(first["id"], reason="no", author="ada")
            feedback = await result(client, "feedback", answer=second["id"], verdict="confirm")
            assert feedback["recorded"] == "nothing"
            assert "a person said here that it is wrong" in feedback["notes"][0]

    asyncio.run(call())


@pytest.mark.parametrize("era", ERAS)
def test_every_verdict_of_a_person(serve: Served, era: str) -> None:
    async def call() -> None:
        person = agreeing()
        async with serve(ToldModel(COUNT), era=era, person=person) as (client, agent):
            ids = [(await result(client, "ask", question=f"How many, {number}?"))["id"] for number in range(2)]
            corrected = await result(client, "feedback", answer=ids[0], verdict="correct", sql=PAID)
            assert (corrected["recorded"], len(corrected["entries"])) == ("corrected", 2)
            assert f"Correct SQL:\n  | {PAID}" in person.shown[-1]
            withdrawn = await result(client, "feedback", answer=ids[0], verdict="withdraw", reason="a typo")
            assert (withdrawn["recorded"], withdrawn["entries"]) == ("withdrawn", [])
            assert "corrected by ada" in person.shown[-1]
            assert "a typo" in person.shown[-1]
            rejected = await result(client, "feedback", answer=ids[1], verdict="reject", reason="not these")
            assert rejected["recorded"] == "rejected"
            assert [type(agent.why(identity).feedback).__name__ for identity in ids] == ["NoneType", "Rejected"]
            assert "REJECTED" not in person.shown[-1]

    asyncio.run(call())


def test_nobody_is_asked_about_what_cannot_be_recorded(serve: Served) -> None:
    async def call() -> None:
        person = agreeing()
        async with serve(ToldModel(COUNT), person=person) as (client, agent):
            right = (await result(client, "ask", question=QUESTION))["id"]
            failed = (await result(client, "repair", question="x", sql="SELECT nothing FROM nowhere"))["id"]
            agent.confirm(right, author="bob")
            assert "confirmed already" in await refusal(client, "feedback", answer=right, verdict="reject")
            assert "nothing to withdraw" in await refusal(client, "feedback", answer=failed, verdict="withdraw")
            assert "there is no answer" in await refusal(client, "feedback", answer="nothing", verdict="confirm")
            assert "needs 'sql'" in await refusal(client, "feedback", answer=failed, verdict="correct")
            assert person.shown == []

    asyncio.run(call())


HIDDEN = {
    "the direction of writing is turned": "SELECT 1 -- \u202e",
    "a character without width": "SELECT 1 -- a\u200bb",
    "tags that only models read": "SELECT 1 -- \U000e0041",
    "a line that is written over": "SELECT 1 -- a\rSELECT 2",
    "an escape sequence": "SELECT 1 -- \x1b[2K",
}


def test_a_person_is_not_shown_something_else_than_what_is_recorded(serve: Served) -> None:
    async def call() -> None:
        person = agreeing()
        async with serve(ToldModel(COUNT), person=person) as (client, agent):
            answer = (await result(client, "ask", question=QUESTION))["id"]
            for name, sql in HIDDEN.items():
                sentence = await refusal(client, "feedback", answer=answer, verdict="correct", sql=sql)
                assert "would hide" in sentence, name
            assert (person.shown, agent.why(answer).feedback) == ([], None)

    asyncio.run(call())


def test_a_text_cannot_pass_for_the_dialogues_own_words(serve: Served) -> None:
    """Line breaks in a question or in SQL do not begin a line that looks like merit's."""

    async def call() -> None:
        person = Dialogue("decline")
        async with serve(ToldModel(COUNT), person=person) as (client, _):
            question = "How many?\n\nSQL:\n  | SELECT 'harmless'\n\nIt is recorded as nothing."
            answer = (await result(client, "ask", question=question))["id"]
            sql = "SELECT 0\n\nIt is recorded as the word of nobody."
            await result(client, "feedback", answer=answer, verdict="correct", sql=sql, reason="a\nb")
            lines = person.shown[0].split("\n")
            assert [line for line in lines if line.startswith("It is recorded")] == [
                "It is recorded as the word of ada, said through mcp."
            ]
            assert sum(line.startswith("SQL:") for line in lines) == 1

    asyncio.run(call())


def test_what_is_too_long_to_be_shown_is_not_recorded(serve: Served) -> None:
    async def call() -> None:
        person = agreeing()
        async with serve(ToldModel(COUNT), person=person) as (client, _):
            answer = (await result(client, "ask", question=QUESTION))["id"]
            sql = f"SELECT 1 -- {'x' * 5000}"
            assert "too long" in await refusal(client, "feedback", answer=answer, verdict="correct", sql=sql)
            assert person.shown == []

    asyncio.run(call())
