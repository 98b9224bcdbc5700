"""The tables and columns that a query uses."""

import pytest

from merit.selection import SchemaIndex, estimated_tokens, fingerprint, names_used, open_index
from merit.types import Column, Schema, Table

SCHEMA = Schema(
    "s",
    (
        Table("a.item", (Column("id", "INT"), Column("name", "TEXT"))),
        Table("b.item", (Column("id", "INT"), Column("price", "INT"))),
        Table("b.shop", (Column("shop_id", "INT"), Column("item_id", "INT"), Column("city", "TEXT"))),
    ),
)


def used(sql: str, prefer: dict[str, str] | None = None) -> dict[str, set[str]]:
    index = SchemaIndex(SCHEMA, estimated_tokens)
    found = names_used(sql, index, prefer)
    return {index.tables[table].name: {index.columns[c].name for c in columns} for table, columns in found.items()}


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT City FROM SHOP", {"b.shop": {"city"}}),
        ("SELECT i.name FROM a.item i", {"a.item": {"name"}}),
        ("SELECT * FROM b.item", {"b.item": {"id", "price"}}),
        ("SELECT COUNT(*) FROM shop", {"b.shop": set()}),
        (
            "WITH x AS (SELECT item_id FROM shop) SELECT * FROM x JOIN b.item ON item.id = x.item_id",
            {"b.shop": {"item_id"}, "b.item": {"id", "price"}},
        ),
        ("SELECT city FROM shop s WHERE EXISTS (SELECT 1 FROM b.item WHERE id = s.item_id)", None),
        ("no SQL (", {}),
    ],
)
def test_names_in_a_query(sql: str, names: dict[str, set[str]] | None) -> None:
    expected = {"b.shop": {"city", "item_id"}, "b.item": {"id"}} if names is None else names
    assert used(sql) == expected


def test_a_name_of_several_databases_needs_to_be_known() -> None:
    assert used("SELECT id FROM item") == {}
    assert used("SELECT id FROM item", {"item": "b.item"}) == {"b.item": {"id"}}


def test_an_index_is_kept_until_the_schema_changes() -> None:
    index = open_index(SCHEMA)
    assert open_index(Schema("s", SCHEMA.tables)) is index
    wider = Schema("s", (*SCHEMA.tables, Table("b.new", (Column("id", "INT"),))))
    assert fingerprint(wider, "sqlite", None) != fingerprint(SCHEMA, "sqlite", None)
    assert open_index(wider) is not index
    retyped = Schema("s", (Table("a.item", (Column("id", "TEXT"), Column("name", "TEXT"))), *SCHEMA.tables[1:]))
    assert open_index(retyped) is not index


def test_a_query_of_hundreds_of_tables_is_not_looked_at() -> None:
    assert used("SELECT 1 FROM " + ", ".join(["shop"] * 400)) == {"b.shop": set()}
    assert used("SELECT 1 FROM " + ", ".join(["shop"] * 600)) == {}
