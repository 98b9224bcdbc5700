"""The tools over the official client in memory: typed results, truthful annotations, few tokens, many calls at once."""

import asyncio
import hashlib
import json
from pathlib import Path

import anyio
import jsonschema
import pytest

from making.clock import COMES_S
from making.live import COUNT, PAID, ToldModel
from making.mcp_client import ERAS, Served, agreeing, refusal, result, text
from mcp import Client
from merit.mcp.results import MOST_ROWS
from merit.selection.token_estimate import estimated_tokens

QUESTION = "How many orders are there?"


@pytest.mark.parametrize("era", ERAS)
def test_a_question_is_answered_with_a_typed_result(serve: Served, era: str) -> None:
    async def call() -> None:
        async with serve(ToldModel(COUNT), era=era) as (client, agent):
            answer = await result(client, "ask", question=QUESTION)
            assert (answer["status"], answer["sql"], answer["rows"]) == ("answered", COUNT, [[3]])
            asked = agent.why(answer["id"]).asked
            assert (asked.question, asked.author, asked.sql) == (QUESTION, "ada", COUNT)

    asyncio.run(call())


def test_every_result_fits_its_published_schema(serve: Served) -> None:
    async def call() -> None:
        async with serve(ToldModel(COUNT), person=agreeing()) as (client, _):
            schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
            answer = await result(client, "ask", question=QUESTION)
            calls: dict[str, dict[str, object]] = {
                "repair": {"question": QUESTION, "sql": PAID},
                "feedback": {"answer": answer["id"], "verdict": "confirm"},
                "recall": {"question": QUESTION},
                "describe": {},
            }
            found = {name: await result(client, name, **arguments) for name, arguments in calls.items()}
            assert sorted(schemas) == sorted([*calls, "ask"])
            for name, value in {**found, "ask": answer}.items():
                schema = schemas[name]
                assert schema is not None
                jsonschema.validate(value, schema)
                assert set(schema["properties"]) == set(value), "nothing is returned that is not described"
            assert found["recall"]["entries"][0]["author"] == "ada"

    asyncio.run(call())


def test_descriptions_take_less_than_2000_tokens(serve: Served) -> None:
    """Everything that a client may put into a model's prompt: tools with schemas, resources, prompt, instructions."""

    async def call() -> str:
        async with serve(None) as (client, _):
            listed = [
                *(await client.list_tools()).tools,
                *(await client.list_resources()).resources,
                *(await client.list_resource_templates()).resource_templates,
                *(await client.list_prompts()).prompts,
            ]
            values = [item.model_dump(by_alias=True, exclude_none=True, mode="json") for item in listed]
            return json.dumps([*values, client.instructions])

    assert estimated_tokens(asyncio.run(call())) < 2000


def _files(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_annotations_are_true(serve: Served, tmp_path: Path) -> None:
    """What is said to be read-only leaves every file as it is; what asks writes to the history; nothing else changes."""

    async def call() -> None:
        async with serve(ToldModel(COUNT), person=agreeing()) as (client, _):
            hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
            answer = await result(client, "ask", question=QUESTION)
            calls: dict[str, dict[str, object]] = {
                "recall": {"question": QUESTION},
                "describe": {"table": "orders"},
                "ask": {"question": "How many?"},
                "repair": {"question": "How many?", "sql": COUNT},
                "feedback": {"answer": answer["id"], "verdict": "reject"},
            }
            for name, arguments in calls.items():
                before = _files(tmp_path)
                first = await result(client, name, **arguments)
                changed = {path for path, content in _files(tmp_path).items() if before.get(path) != content}
                hint = hints[name]
                assert hint is not None
                assert hint.read_only_hint is (not changed)
                assert hint.destructive_hint is (name == "feedback")
                assert hint.open_world_hint is (name in ("ask", "repair")), "a model is asked"
                assert not any(path.endswith("shop.sqlite") for path in changed)
                if hint.idempotent_hint:
                    assert first == await result(client, name, **arguments)

    asyncio.run(call())


def test_a_given_statement_is_executed_grounded_and_voted_on(serve: Served) -> None:
    async def call() -> None:
        async with serve(ToldModel(COUNT)) as (client, _):
            wrong = await result(client, "repair", question=QUESTION, sql="SELECT count(*) FROM order")
            assert (wrong["status"], wrong["rows"]) == ("answered", [[3]])
            outvoted = await result(client, "repair", question=QUESTION, sql=PAID)
            assert (outvoted["status"], outvoted["sql"], outvoted["rows"]) == ("answered", COUNT, [[3]])
        async with serve(None) as (client, _):
            alone = await result(client, "repair", question=QUESTION, sql="SELECT count(*) FROM order")
            assert (alone["status"], alone["rows"]) == ("unsure", [[3]])
            assert alone["notes"] == ["order: there is no such table; orders is"]
            failed = await result(client, "repair", question=QUESTION, sql="DROP TABLE orders")
            assert (failed["status"], failed["rows"], failed["columns"]) == ("failed", [], [])
            assert "no model was named" in await refusal(client, "ask", question=QUESTION)

    asyncio.run(call())


def test_rows_are_capped_and_said_to_be(serve: Served) -> None:
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, {} FROM n"

    async def call() -> None:
        async with serve(None) as (client, _):
            few = await result(client, "repair", question="x", sql=many.format("i * 2"))
            assert (len(few["rows"]), few["row_count"], few["notes"]) == (20, 3000, ["20 rows are shown of 3000"])
            most = await result(client, "repair", question="x", sql=many.format("i"), rows=MOST_ROWS)
            assert len(most["rows"]) == MOST_ROWS
            wide = await client.call_tool(
                "repair", {"question": "x", "sql": many.format("hex(zeroblob(40000))"), "rows": MOST_ROWS}
            )
            assert len(text(wide)) < 100_000
            assert len(json.dumps(wide.structured_content)) < 100_000
            none = await result(client, "repair", question="x", sql=COUNT, rows=0)
            assert (none["rows"], none["row_count"]) == ([], 1)

    asyncio.run(call())


def test_values_of_every_type_can_be_sent(serve: Served) -> None:
    sql = "SELECT 1, 2.5, 'a', NULL, x'00ff', 9e999, 9223372036854775807"

    async def call() -> None:
        async with serve(None) as (client, _):
            (row,) = (await result(client, "repair", question="x", sql=sql))["rows"]
            assert row == [1, 2.5, "a", None, "00ff", "inf", 9223372036854775807]

    asyncio.run(call())


def test_where_rows_are_kept_from_models_they_are_kept_from_callers(serve: Served) -> None:
    async def call() -> None:
        async with serve(None, rows="never") as (client, _):
            called = await client.call_tool("repair", {"question": "x", "sql": "SELECT state FROM orders"})
            assert called.structured_content is not None
            assert (called.structured_content["rows"], called.structured_content["row_count"]) == ([], 3)
            assert "paid" not in text(called) + json.dumps(called.structured_content)
            assert "withheld" in called.structured_content["notes"][0]
            failed = await result(client, "repair", question="x", sql="SELECT 1 + abs(state, total) FROM orders")
            assert "paid" not in json.dumps(failed)
            assert "paid" not in (await result(client, "describe"))["text"], "no example values either"

    asyncio.run(call())


@pytest.mark.parametrize("era", ERAS)
def test_progress_is_told_while_a_question_is_asked(serve: Served, era: str) -> None:
    told: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert progress == len(told) + 1
        told.append(message or "")

    async def call() -> None:
        async with serve(ToldModel(COUNT), era=era) as (client, _):
            await client.call_tool("ask", {"question": QUESTION}, progress_callback=hear)

    asyncio.run(call())
    assert any("asking the model" in sentence for sentence in told)
    assert any("the database returned 1 row" in sentence for sentence in told)


@pytest.mark.parametrize("era", ERAS)
def test_a_cancelled_call_ends_and_the_next_one_is_answered(serve: Served, era: str) -> None:
    async def call() -> None:
        model = ToldModel(600.0, COUNT)
        async with serve(model, era=era) as (client, agent):
            with anyio.move_on_after(0.5) as scope:
                await client.call_tool("ask", {"question": "How long does it take?"})
            assert scope.cancelled_caught
            assert (await result(client, "ask", question=QUESTION))["rows"] == [[3]]
            with anyio.fail_after(COMES_S):
                while agent._asker.under_way:
                    await anyio.sleep(0.01)

    asyncio.run(call())


@pytest.mark.parametrize("era", ERAS)
def test_200_calls_in_parallel(serve: Served, era: str) -> None:
    async def one(client: Client, number: int) -> bool:
        if number % 4 == 0:
            return bool((await result(client, "describe", table="orders"))["tables"] == ["orders"])
        if number % 4 == 1:
            return "no table" in await refusal(client, "describe", table=f"nothing {number}")
        sql = f"SELECT {number} + count(*) FROM orders"
        answer = await result(client, "repair", question=f"Question {number}?", sql=sql)
        return bool(answer["rows"] == [[number + 3]])

    async def call() -> None:
        async with serve(None, era=era) as (client, agent):
            right = await asyncio.gather(*(one(client, number) for number in range(200)))
            assert all(right)
            assert len(agent.history()) == 100

    asyncio.run(call())


def test_resources_and_the_prompt(serve: Served) -> None:
    async def call() -> None:
        async with serve(ToldModel(COUNT)) as (client, agent):
            answer = await result(client, "ask", question=QUESTION)
            (content,) = (await client.read_resource(f"merit://answer/{answer['id']}")).contents
            receipt = json.loads(content.text)  # type: ignore[union-attr]
            assert receipt["receipt"]["prompts"]
            assert (receipt["question"], receipt["sql"]) == (QUESTION, COUNT)
            for uri in ("merit://schema", "merit://schema/orders"):
                (content,) = (await client.read_resource(uri)).contents
                assert "CREATE TABLE orders" in content.text  # type: ignore[union-attr]
            (message,) = (await client.get_prompt("question", {"question": QUESTION})).messages
            assert QUESTION in message.content.text  # type: ignore[union-attr]
            assert len(agent.history()) == 1

    asyncio.run(call())
