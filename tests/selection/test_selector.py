"""What goes into a prompt, and why."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from merit.prompts.tables import create_tables
from merit.selection import Selection, Selector, estimated_tokens
from merit.types import Column, Schema, Table
from merit.values import ColumnValues, ValueIndex

QUESTION = "What is the total amount of the invoices of each customer, by city?"


def shown(selection: Selection) -> dict[str, set[str]]:
    return {table.name: {column.name for column in table.columns} for table in selection.schema.tables}


def test_a_schema_that_fits_goes_in_whole(large: Schema) -> None:
    selection = Selector(large, budget=100_000).select(QUESTION)
    assert selection.whole
    assert selection.schema == large
    assert selection.text == create_tables(large)
    assert selection.tables[0].reasons == ("the whole schema fits",)


def test_a_larger_one_is_cut_to_the_budget_and_the_text_says_so(large: Schema) -> None:
    selection = Selector(large, budget=300).select(QUESTION)
    assert not selection.whole
    assert selection.tokens <= 300
    assert estimated_tokens(selection.text) <= 300
    assert selection.text.endswith(
        f"-- Not shown: {selection.left_out_columns} columns of these tables and {selection.left_out_tables} other tables."
    )


def test_the_text_says_every_type_once_for_the_usual_one(large: Schema) -> None:
    shop = replace(large.tables[0], columns=(*large.tables[0].columns, Column("NOTE", "VARCHAR(20)")))
    selection = Selector(Schema("all", (shop, *large.tables[1:])), budget=300).select(f"{QUESTION} With its note.")
    assert selection.text.startswith("-- Columns without a type are INTEGER.\n")
    lines = [line.strip().rstrip(",").removesuffix(" PRIMARY KEY") for line in selection.text.split("\n")]
    for column in (column for table in selection.schema.tables for column in table.columns):
        assert (column.name if column.type == "INTEGER" else f"{column.name} {column.type}") in lines
    assert "NOTE VARCHAR(20)" in lines
    assert "CITY" in lines


def test_no_type_is_left_out_where_a_column_has_none(large: Schema) -> None:
    schema = Schema("all", (*large.tables, Table("plant.LOOSE", (Column("ANYTHING", ""),))))
    text = Selector(schema, budget=300).select(QUESTION).text
    assert "without a type" not in text
    assert "CITY INTEGER" in text


def test_what_the_question_names_is_in(large: Schema) -> None:
    found = shown(Selector(large, budget=300).select(QUESTION))
    assert {"TOTAL_AMT", "CUSTOMER_KEY"} <= found["shop.INVOICE"]
    assert {"CITY", "CUSTOMER_KEY"} <= found["shop.CUSTOMER"]


def test_a_table_whose_whole_name_is_asked_for_is_in_whatever_its_database(large: Schema) -> None:
    alone = Table("elsewhere.PROJECT", (Column("ID", "INTEGER", True), Column("TITLE", "TEXT")))
    schema = Schema("all", (*large.tables, alone))
    asked = "What is the total amount of the invoices of each customer, by city and project?"
    assert "elsewhere.PROJECT" in shown(Selector(schema, budget=300).select(asked))


def test_run_together_names_are_read(large: Schema) -> None:
    assert "shop.INVOICELINE" in shown(Selector(large, budget=200).select("Which lines are there?"))


def test_declared_keys_stay_with_their_table(large: Schema) -> None:
    found = shown(Selector(large, budget=300).select("What was the reason of each refund?"))
    assert {"REFUND_ID", "INVOICE_REF", "REASON"} <= found["shop.REFUND"]


def test_a_foreign_key_is_declared_only_to_a_table_that_is_in(large: Schema) -> None:
    for budget in (60, 120, 300):
        selection = Selector(large, budget=budget).select("What was the reason of each refund?")
        names = shown(selection)
        keys = [key for t in selection.schema.tables for c in t.columns for key in c.foreign_keys]
        assert all(key.rpartition(".")[0] in names for key in keys)


def test_each_table_and_column_says_why_it_is_in(large: Schema) -> None:
    selection = Selector(large, budget=300).select(QUESTION)
    tables = {table.name: table for table in selection.tables}
    assert any("its name has customer" in reason for reason in tables["shop.CUSTOMER"].reasons)
    columns = {column.name: column.reasons for column in tables["shop.CUSTOMER"].columns}
    assert "primary key" in columns["CUSTOMER_KEY"]
    assert "its name has city" in columns["CITY"]
    assert all(column.reasons for table in selection.tables for column in table.columns)


def test_what_a_failed_query_lacked_comes_in(large: Schema) -> None:
    selector = Selector(large, budget=150)
    plain = selector.select(QUESTION)
    assert "plant.SENSOR_7" not in shown(plain)
    wider = selector.select(QUESTION, missing=["SENSOR_7", "PRODUCT.COLOUR"])
    assert {"READING_7_3"} <= shown(wider)["plant.SENSOR_7"]
    assert "COLOUR" in shown(wider)["shop.PRODUCT"]
    assert next(t for t in wider.tables if t.name == "plant.SENSOR_7").reasons[0] == "was missing"


def test_confirmed_questions_bring_their_tables(large: Schema) -> None:
    selector = Selector(large, budget=150)
    asked = "How well does the boiler run?"
    assert "plant.SENSOR_31" not in shown(selector.select(asked))
    earlier = selector.confirmed()
    earlier.add("How well did the boiler run yesterday?", "SELECT reading_31_5 FROM sensor_31")
    selection = selector.select(asked, earlier=earlier)
    assert "READING_31_5" in shown(selection)["plant.SENSOR_31"]
    reasons = next(t for t in selection.tables if t.name == "plant.SENSOR_31").reasons
    assert "1 confirmed question used it, such as 'How well did the boiler run yesterday?'" in reasons


def test_nothing_confirmed_is_as_no_memory(large: Schema) -> None:
    selector = Selector(large, budget=300)
    earlier = selector.confirmed()
    earlier.add("What?", "this is no SQL at all (")
    assert selector.select(QUESTION, earlier=earlier) == selector.select(QUESTION)


def test_a_value_that_the_question_mentions_brings_its_column(large: Schema) -> None:
    values = ValueIndex([ColumnValues("plant.SENSOR_9", "READING_9_4", (), ("Wigglesworth",), True)])
    selection = Selector(large, budget=200, values=values).select("Anything about Wigglesworth?")
    assert "READING_9_4" in shown(selection)["plant.SENSOR_9"]


def test_the_same_question_gets_the_same_selection(large: Schema) -> None:
    texts = {Selector(large, budget=250).select(QUESTION).text for _ in range(3)}
    assert len(texts) == 1


@given(st.text(max_size=80), st.integers(1, 400))
def test_any_question_and_budget(question: str, budget: int) -> None:
    tables = tuple(Table(f"t{n}", tuple(Column(f"c{m} ü", "TEXT", m == 0) for m in range(n + 1))) for n in range(12))
    selection = Selector(Schema("s", (*tables, Table("empty", ()))), budget=budget).select(question)
    assert selection.tokens <= max(budget, 30)  # the line on what is not shown is always there
    assert all(table.columns for table in selection.schema.tables) or selection.whole
