"""Tables of several schemas: found with their schema, without it, and written with it again."""

import pytest

from merit.grounding import GroundingRule, ground
from merit.types import Cause, Column, Schema, Status, Table, Verdict

SHOP = Schema(
    "shop",
    (
        Table("sales.orders", (Column("id", "int", True), Column("customer_id", "int", False, ("crm.customers.id",)), Column("total", "numeric"))),
        Table("crm.customers", (Column("id", "int", True), Column("name", "text"))),
        Table("crm.notes", (Column("text", "text"),)),
        Table("sales.notes", (Column("text", "text"),)),
    ),
)  # fmt: skip
REFUSED = Verdict(Status.EXECUTION_ERROR, "column o.name does not exist", Cause.DBMS, code="42703")


@pytest.mark.parametrize(
    ("sql", "mended"),
    [
        (
            "SELECT o.name FROM sales.orders o JOIN crm.customers c ON c.id = o.customer_id",
            "SELECT c.name FROM sales.orders AS o JOIN crm.customers AS c ON c.id = o.customer_id",
        ),
        ("SELECT orders.totals FROM sales.orders", "SELECT orders.total FROM sales.orders"),
        ("SELECT total FROM orders", "SELECT total FROM sales.orders"),
        (
            "SELECT o.total, o.name FROM sales.orders o",
            "SELECT o.total, customers.name FROM sales.orders AS o JOIN crm.customers ON o.customer_id = customers.id",
        ),
        ("WITH orders AS (SELECT 1 AS x) SELECT y.names FROM orders, crm.customers y", "WITH orders AS (SELECT 1 AS x) SELECT y.name FROM orders, crm.customers AS y"),
    ],
)  # fmt: skip
def test_names_are_mended_with_their_schema(sql: str, mended: str) -> None:
    found = ground(sql, SHOP, "postgresql", REFUSED)
    assert found is not None
    assert found.sql == mended


def test_a_table_that_two_schemas_have_is_left_alone() -> None:
    assert ground("SELECT text FROM notes", SHOP, "postgresql", REFUSED) is None


def test_the_rule_can_be_switched_off() -> None:
    rules = frozenset(GroundingRule) - {GroundingRule.TABLE_NAME}
    assert ground("SELECT total FROM orders", SHOP, "postgresql", REFUSED, rules) is None
