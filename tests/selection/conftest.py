"""A schema that is too large for its budget: a shop, and many tables that nobody asks for."""

import pytest

from merit.types import Column, Schema, Table


def table(name: str, *columns: str, keys: tuple[str, ...] = (), links: dict[str, str] | None = None) -> Table:
    known = links or {}
    return Table(
        name,
        tuple(Column(c, "INTEGER", c in keys, (known[c],) if c in known else ()) for c in columns),
    )


@pytest.fixture
def large() -> Schema:
    shop = [
        table("shop.CUSTOMER", "CUSTOMER_KEY", "FULL_NAME", "CITY", "BIRTH_DATE", "LOAD_STAMP", keys=("CUSTOMER_KEY",)),
        table("shop.INVOICE", "INVOICE_KEY", "CUSTOMER_KEY", "TOTAL_AMT", "DUE_DATE", "LOAD_STAMP"),
        table("shop.INVOICELINE", "INVOICE_KEY", "PRODUCT_KEY", "QTY", "LOAD_STAMP"),
        table("shop.PRODUCT", "PRODUCT_KEY", "PRODUCT_NAME", "SHELF_PRICE", "COLOUR", "LOAD_STAMP"),
        table(
            "shop.REFUND",
            "REFUND_ID",
            "INVOICE_REF",
            "REASON",
            keys=("REFUND_ID",),
            links={"INVOICE_REF": "shop.INVOICE.INVOICE_KEY"},
        ),
    ]
    other = [
        table(f"plant.SENSOR_{n}", *(f"READING_{n}_{m}" for m in range(12)), "LOAD_STAMP", keys=(f"READING_{n}_0",))
        for n in range(60)
    ]
    return Schema("all", (*shop, *other))
