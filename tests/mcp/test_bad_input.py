"""Calls that are wrong: each gets one sentence, and the server goes on."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making.fuzzing import tries
from making.live import COUNT, ToldModel
from making.mcp_client import ERAS, Served, agreeing, refusal, result
from mcp import MCPError

CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a number for a text": ("ask", {"question": 5}, "question: Input should be a valid string"),
    "nothing for a text": ("ask", {}, "question: Field required"),
    "null for a text": ("ask", {"question": None}, "question: Input should be a valid string"),
    "an empty question": ("ask", {"question": " "}, "the question is empty"),
    "a huge question": ("ask", {"question": "x" * 200_000}, "the question has 200000 characters"),
    "a lone surrogate": ("ask", {"question": "\ud800"}, "not valid text"),
    "too many rows": ("ask", {"question": "x", "rows": 1000}, "rows: Input should be less than or equal to 200"),
    "rows below none": ("ask", {"question": "x", "rows": -1}, "rows: Input should be greater than or equal to 0"),
    "an unknown argument": ("ask", {"question": "x", "limit": 5}, "ask has no argument 'limit'"),
    "an unknown tool": ("drop", {"table": "orders"}, "Unknown tool: drop"),
    "a tool with a huge name": ("x" * 100_000, {}, "Unknown tool: "),
    "no SQL": ("repair", {"question": "x", "sql": ""}, "there is no SQL to repair"),
    "huge SQL": ("repair", {"question": "x", "sql": f"SELECT {'1' * 200_000}"}, "the SQL has 200007 characters"),
    "SQL that is not UTF-8": ("repair", {"question": "x", "sql": "SELECT '\udcff'"}, "not valid text"),
    "a merely similar table": ("describe", {"table": "order"}, "did you mean 'orders'?"),
    "a table by a path": ("describe", {"table": "../../etc/passwd"}, "there is no table"),
    "an unknown verdict": ("feedback", {"answer": "x", "verdict": "approve"}, "verdict: Input should be 'confirm'"),
    "an unknown answer": ("feedback", {"answer": "x", "verdict": "confirm"}, "there is no answer 'x'"),
    "an empty answer": ("feedback", {"answer": "", "verdict": "confirm"}, "there is no answer ''"),
    "consent given by the caller": (
        "feedback",
        {"answer": "x", "verdict": "confirm", "consent": {"action": "accept", "data": {"agree": True}}},
        "feedback has no argument 'consent'",
    ),
}


@pytest.mark.parametrize("era", ERAS)
def test_a_wrong_call_is_told_in_one_sentence(serve: Served, era: str) -> None:
    async def call() -> None:
        async with serve(ToldModel(COUNT), era=era, person=agreeing()) as (client, agent):
            for name, (tool, arguments, expected) in CALLS.items():
                sentence = await refusal(client, tool, **arguments)
                assert expected in sentence, name
                assert len(sentence) < 2000, name
                assert "history.jsonl" not in sentence, "where it is kept is not the caller's business"
            assert agent.history() == []
            assert (await result(client, "ask", question="How many?"))["rows"] == [[3]]

    asyncio.run(call())


URIS = [
    "merit://answer/nothing",
    "merit://answer/..%2F..%2Fetc%2Fpasswd",
    "merit://answer/../../etc/passwd",
    "merit://answer/%2Fetc%2Fpasswd",
    "merit://answer/%00",
    "merit://answer/",
    "merit://schema/nothing",
    "merit://schema/..%2Fhistory.jsonl",
    "merit://history",
    "file:///etc/passwd",
    "merit://answer/" + "x" * 50_000,
]


@pytest.mark.parametrize("era", ERAS)
def test_resources_name_answers_and_tables_and_nothing_else(serve: Served, era: str) -> None:
    async def call() -> None:
        async with serve(ToldModel(COUNT), era=era) as (client, _):
            await result(client, "ask", question="How many?")
            for uri in URIS:
                with pytest.raises(MCPError) as raised:
                    await client.read_resource(uri)
                assert "history.jsonl" not in str(raised.value).removeprefix(f"Unknown resource: {uri}")
                assert "Traceback" not in str(raised.value)

    asyncio.run(call())


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=50),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=8), values, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["question", "sql", "rows", "table", "answer", "verdict", "reason", "other"]), ANYTHING, max_size=4
)


def test_whatever_is_sent_there_is_an_answer(serve: Served) -> None:
    """A result or one sentence, never a crash; a crash would be an error that names only the tool."""
    tools = ["ask", "repair", "recall", "describe", "feedback"]

    async def call(calls: list[tuple[str, dict[str, Any]]]) -> None:
        async with serve(ToldModel(COUNT), person=agreeing()) as (client, _):
            for tool, arguments in calls:
                called = await client.call_tool(tool, arguments)
                text = called.content[0].text  # type: ignore[union-attr]
                assert not called.is_error or text != f"Error executing tool {tool}", (tool, arguments)

    calls: list[tuple[str, dict[str, Any]]] = []

    @settings(max_examples=tries(10))
    @given(st.sampled_from(tools), ARGUMENTS)
    def collect(tool: str, arguments: dict[str, Any]) -> None:
        calls.append((tool, arguments))

    collect()
    asyncio.run(call(calls))
