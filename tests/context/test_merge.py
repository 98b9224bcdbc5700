"""Several sources together: who holds, what contradicts, and what the schema does not have."""

from dataclasses import replace

import pytest

from making.semantics import SHOP
from merit.context import Context, Meaning, Metric, Notes, Relationship, comments_of, enriched, merge
from merit.context.context import NotedTable
from merit.grounding import ground
from merit.types import Cause, Column, Schema, Status, Table, Verdict


def notes(source: str, description: str, *, name: tuple[str, ...] = ("sales", "orders"), **columns: str) -> Notes:
    meanings = {column: Meaning(text) for column, text in columns.items()}
    return Notes(source, {"it": NotedTable(name, Meaning(description), meanings)})


def test_the_first_description_holds_and_the_other_is_told() -> None:
    context = merge(SHOP, [notes("a", "Orders", total="Gross"), notes("b", "Purchases", total="gross.", id="Key")])
    assert context.tables["sales.orders"].description == "Orders"
    assert context.columns["sales.orders", "id"].description == "Key"
    assert context.contradictions == ('sales.orders: a says "Orders", b says "Purchases"; the first one holds',)


def test_synonyms_of_all_sources_count() -> None:
    first, second = notes("a", ""), notes("b", "")
    first.tables["it"].meaning = Meaning("", ("Sales", "purchases"))
    second.tables["it"].meaning = Meaning("", ("sales", "orders", "bookings"))
    assert merge(SHOP, [first, second]).tables["sales.orders"].synonyms == ("Sales", "purchases", "bookings")


def test_metrics_and_terms_that_contradict_are_told() -> None:
    first, second = Notes("a"), Notes("b")
    for one, expression in ((first, "SUM(total)"), (second, "SUM(net)")):
        one.metrics.append(Metric("revenue", expression))
        one.glossary["TAC"] = expression
        one.rules.append("Be exact.")
    context = merge(SHOP, [first, second])
    assert [metric.expression for metric in context.metrics] == ["SUM(total)"]
    assert context.glossary == {"TAC": "SUM(total)"}
    assert context.rules == ("Be exact.",)
    assert len(context.contradictions) == 2


@pytest.mark.parametrize(
    "written", [("ORDERS",), ("sales", "orders"), ("WH", "SALES", "ORDERS"), ("wh", "sales", "Orders")]
)
def test_a_table_is_found_with_any_qualifier_and_in_any_case(written: tuple[str, ...]) -> None:
    assert list(merge(SHOP, [notes("a", "Orders", name=written)]).tables) == ["sales.orders"]


@pytest.mark.parametrize("written", [("raw", "orders"), ("payments",), ()])
def test_a_table_that_is_not_there_is_listed(written: tuple[str, ...]) -> None:
    context = merge(SHOP, [notes("a", "Orders", name=written)])
    assert context.tables == {}
    assert context.missing == (f"a: table {'.'.join(written)}".strip(),)


def test_two_tables_that_could_be_one_are_not_guessed() -> None:
    both = Notes("dbt")
    both.tables["raw"] = NotedTable(("raw", "customers"), Meaning("Raw"))
    both.tables["model"] = NotedTable(("analytics", "customers"), Meaning("Clean"))
    context = merge(SHOP, [both])
    assert context.tables == {}
    assert "one of several that could be customers; set 'schema' in [context]" in context.missing[0]
    assert merge(SHOP, [both], "Analytics").tables["customers"].description == "Clean"


def test_a_name_without_qualifier_that_two_tables_have_is_not_guessed() -> None:
    twice = Schema("x", (Table("a.t", (Column("c", ""),)), Table("b.t", (Column("c", ""),))))
    assert merge(twice, [notes("n", "T", name=("t",))]).missing == ("n: table t",)
    assert list(merge(twice, [notes("n", "T", name=("b", "t"))]).tables) == ["b.t"]


def test_names_that_differ_by_case_alone_are_told_apart() -> None:
    twice = Schema("x", (Table("T", (Column("c", ""), Column("C", ""))), Table("t", (Column("c", ""),))))
    context = merge(twice, [notes("n", "T", name=("T",), C="large")])
    assert list(context.tables) == ["T"]
    assert list(context.columns) == [("T", "C")]


def related(*pairs: tuple[str, str], end: tuple[str, ...] = ("customers",)) -> Notes:
    one = Notes("a", {"start": NotedTable(("orders",)), "end": NotedTable(end)})
    ours, theirs = tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)
    one.relationships.append(Relationship("start", ours, "end", theirs))
    return one


def keys(schema: Schema, context: Context) -> dict[str, tuple[str, ...]]:
    tables = enriched(schema, context).tables
    return {f"{t.name}.{c.name}": c.foreign_keys for t in tables for c in t.columns if c.foreign_keys}


def test_relationships_become_foreign_keys_that_the_schema_lacks() -> None:
    context = merge(SHOP, [related(("CUSTOMER_ID", "ID"))])
    assert keys(SHOP, context) == {"sales.orders.customer_id": ("customers.id",)}
    assert "FOREIGN KEY -> customers.id" in enriched(SHOP, context).text()


def test_a_key_that_the_schema_declares_is_not_there_twice() -> None:
    declared = enriched(SHOP, merge(SHOP, [related(("customer_id", "id"))]))
    assert enriched(declared, merge(declared, [related(("customer_id", "id"))])) == declared


def test_a_relationship_of_several_columns() -> None:
    context = merge(SHOP, [related(("id", "order_id"), ("total", "line"), end=("lines",))])
    assert keys(SHOP, context) == {
        "sales.orders.id": ("sales.lines.order_id",),
        "sales.orders.total": ("sales.lines.line",),
    }


def test_ways_to_different_columns_of_one_table_contradict() -> None:
    context = merge(SHOP, [related(("customer_id", "id")), replace(related(("customer_id", "region")), source="b")])
    assert keys(SHOP, context) == {"sales.orders.customer_id": ("customers.id",)}
    assert len(context.contradictions) == 1


@pytest.mark.parametrize("pairs", [(("customer_id", "nothing"),), (("nothing", "id"),), ()])
def test_a_relationship_of_columns_that_are_not_there_is_listed(pairs: tuple[tuple[str, str], ...]) -> None:
    context = merge(SHOP, [related(*pairs)])
    assert context.relationships == ()
    assert context.missing[0].startswith("a: a column of the relationship start")


def test_comments_of_the_database_are_notes_like_others() -> None:
    context = merge(SHOP, [comments_of(SHOP)])
    assert context.tables["customers"].description == "People who buy"
    assert context.columns["sales.orders", "customer_id"].description == "Who bought"
    assert enriched(SHOP, context) == SHOP


def test_a_schema_has_descriptions_and_synonyms_as_comments() -> None:
    one = notes("a", "", total="Gross.")
    one.tables["it"].columns["total"] = Meaning("Gross.", ("amount", "sum"))
    columns = enriched(SHOP, merge(SHOP, [one])).tables[1].columns
    assert columns[2].comment == "Gross; also called amount, sum"
    assert columns[1].comment == "Who bought"


def test_metrics_of_tables_that_are_not_there_are_listed() -> None:
    one = Notes("a", {"t": NotedTable(("gone",))}, metrics=[Metric("m", "1", "t")])
    context = merge(SHOP, [one])
    assert (context.metrics, context.missing) == ((), ("a: table gone", "a: the table of the metric m"))


def test_grounding_joins_along_a_relationship_that_the_database_does_not_declare() -> None:
    schema = Schema(
        "shop",
        (
            Table("customers", (Column("id", "int"), Column("full_name", "text"))),
            Table("orders", (Column("number", "int"), Column("buyer", "int"), Column("total", "real"))),
        ),
    )
    verdict = Verdict(Status.EXECUTION_ERROR, error="no such column: total", cause=Cause.DBMS)
    sql = "SELECT full_name, total FROM customers"
    assert ground(sql, schema, "sqlite", verdict) is None
    told = merge(schema, [related(("buyer", "id"))])
    grounded = ground(sql, enriched(schema, told), "sqlite", verdict)
    assert grounded is not None
    assert "buyer" in grounded.sql
