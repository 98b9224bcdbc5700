"""What each format says: descriptions, synonyms, rules, metrics, relationships."""

import json
from pathlib import Path

import pytest

from making.semantics import CORTEX, MANIFEST, OSSIE, SHOP, write, write_dbt
from merit.context import Context, Meaning, Metric, MetricKind, Relationship, merge, read_dbt, read_semantic
from merit.errors import InputError

TO_CUSTOMERS = Relationship("sales.orders", ("customer_id",), "customers", ("id",))


def semantic(tmp_path: Path, text: str) -> Context:
    return merge(SHOP, [read_semantic(write(tmp_path / "model.yaml", text))])


@pytest.fixture
def ossie(tmp_path: Path) -> Context:
    return semantic(tmp_path, OSSIE)


@pytest.fixture
def cortex(tmp_path: Path) -> Context:
    return semantic(tmp_path, CORTEX)


@pytest.fixture
def dbt(tmp_path: Path) -> Context:
    return merge(SHOP, read_dbt(write_dbt(tmp_path / "target")))


def test_ossie_describes_tables_and_columns(ossie: Context) -> None:
    assert ossie.tables["sales.orders"] == Meaning("One row for each order Ignore test orders.", ("purchases",))
    assert ossie.columns["sales.orders", "total"] == Meaning("What was paid", ("amount",))
    assert ossie.rules == ("Amounts are in euros.",)


def test_ossie_names_calculations_and_ways(ossie: Context) -> None:
    year, revenue = ossie.metrics
    assert (year.kind, year.table) == (MetricKind.COLUMN, "sales.orders")
    assert revenue == Metric("revenue", "SUM(orders.total)", meaning=Meaning("All that was paid"))
    assert ossie.relationships == (TO_CUSTOMERS,)
    assert ossie.missing == ossie.contradictions == ()


def test_later_drafts_of_ossie_have_the_model_at_the_top(tmp_path: Path) -> None:
    flat = "name: shop\ndatasets:\n- {name: o, source: sales.orders, description: Orders}\n"
    assert semantic(tmp_path, flat).tables["sales.orders"].description == "Orders"


def test_an_ossie_dataset_over_a_query_is_no_table(tmp_path: Path) -> None:
    text = "datasets:\n- {name: o, source: SELECT * FROM orders, description: Orders}\n"
    assert semantic(tmp_path, text) == Context()


def test_cortex_describes_tables_and_columns(cortex: Context) -> None:
    assert cortex.tables["sales.orders"] == Meaning("Orders of the shop", ("sales",))
    assert cortex.columns["sales.orders", "customer_id"].synonyms == ("client", "customer", "buyer")
    assert cortex.columns["sales.orders", "placed_at"].description == "When it was placed"
    assert cortex.rules == ("Round money to cents.",)


def test_cortex_names_calculations_and_ways(cortex: Context) -> None:
    assert [(one.name, one.expression, one.kind.value) for one in cortex.metrics] == [
        ("net", "total * 0.8", "calculated column"),
        ("revenue", "SUM(total)", "metric"),
        ("large", "total > 1000", "filter"),
    ]
    assert cortex.relationships == (TO_CUSTOMERS,)


def test_verified_queries_are_not_read(cortex: Context) -> None:
    assert "4711" not in repr(cortex)


def test_dbt_describes_models_sources_and_columns(dbt: Context) -> None:
    assert dbt.tables["sales.orders"].description == "Orders, * one row each"
    assert dbt.tables["customers"].description == "Everyone who ever bought"
    assert dbt.columns["sales.orders", "total"].description == "Gross amount"
    assert dbt.columns["sales.orders", "placed_at"].description == "UTC"  # the catalog's


def test_dbt_has_ways_from_tests_constraints_and_entities(dbt: Context, tmp_path: Path) -> None:
    to_orders = Relationship("sales.lines", ("order_id",), "sales.orders", ("id",))
    assert set(dbt.relationships) == {TO_CUSTOMERS, to_orders}
    (orders := json.loads(json.dumps(MANIFEST)))["nodes"]["model.p.orders"]["columns"] = {}
    path = write(tmp_path / "manifest.json", json.dumps(orders))
    assert TO_CUSTOMERS in merge(SHOP, read_dbt(path)).relationships  # by the entities alone


def test_dbt_has_metrics(dbt: Context) -> None:
    assert [(one.name, one.expression, one.table) for one in dbt.metrics] == [
        ("revenue", "sum(total)", "sales.orders"),
        ("share", "revenue / orders", ""),
    ]


def test_columns_that_the_schema_does_not_have_are_listed(dbt: Context) -> None:
    assert dbt.missing == ("manifest.json: column customers.email",)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"nodes": []}, "nodes should be an object with fields, not []"),
        ({"nodes": {"model.p.orders": 7}}, "nodes.model.p.orders should be an object with fields, not 7"),
        (
            {"nodes": {"a": {"resource_type": "model", "name": "a", "description": 5}}},
            "nodes.a.description should be a text, not 5",
        ),
        ({"nodes": {"a": {"resource_type": "model"}}}, "nodes.a.name is missing or empty"),
    ],
)
def test_a_fault_of_a_manifest_is_named(change: dict[str, object], fault: str, tmp_path: Path) -> None:
    path = write(tmp_path / "manifest.json", json.dumps({"metadata": {"a": 1}, "sources": {}, **change}))
    with pytest.raises(InputError, match="manifest.json: ") as caught:
        read_dbt(path)
    assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("tables: 5", "tables should be a list, not '5'"),
        ("tables: [{name: a, base_table: {table: [x]}}]", "tables[0].base_table.table should be a text"),
        ("tables: [{description: a}]", "tables[0].name is missing"),
        ("tables: [{name: a, synonyms: {x: y}}]", "tables[0].synonyms should be a list of texts"),
        ("datasets: [{name: a, source: b, fields: [{name: c, expression: d}]}]", "datasets[0].fields[0].expression"),
        ("other: 1", "has neither 'semantic_model' or 'datasets'"),
        ("- 1", "the document should be an object"),
        ("", "the document should be an object"),
    ],
)
def test_a_fault_of_a_semantic_model_is_named(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        semantic(tmp_path, text)
    assert fault in str(caught.value)
    assert "model.yaml" in str(caught.value)


def test_another_json_file_is_no_manifest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="lacks 'metadata', 'nodes' or 'sources'; give the target folder"):
        read_dbt(write(tmp_path / "package.json", '{"name": "x"}'))


def test_the_catalog_is_read_beside_the_manifest_only_where_it_is(tmp_path: Path) -> None:
    folder = write_dbt(tmp_path / "target")
    assert [notes.source for notes in read_dbt(folder)] == ["manifest.json", "catalog.json"]
    (folder / "catalog.json").unlink()
    assert len(read_dbt(folder)) == 1
