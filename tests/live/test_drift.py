"""Drift: exactly the entries that a change of the schema concerns go stale, and they come back when it is undone."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from making.memories import make_entry, make_precedent
from merit.live.schema.drift import Drift, find_drift, statement
from merit.live.schema.lineage import Columns, Lineage, lineage
from merit.live.schema.schemas import CHECKED, LINEAGE, SCHEMAS, KnownSchemas, fingerprint
from merit.live.switch import SWITCHED, switch_off, switched_off
from merit.memory import Entry, Listed, with_id
from merit.sql import SQLiteEngine
from merit.types import Error, Limits, Polarity, Schema, Timeout

TABLES = """
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total REAL);
"""
STATEMENTS = {
    "names": "SELECT name FROM customer",
    "count": "SELECT count(*) FROM orders",
    "totals": "SELECT c.name, sum(o.total) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.name",
    "unqualified": "SELECT name, total FROM customer JOIN orders ON customer_id = customer.id",
    "all": "SELECT * FROM customer",
    "cte": "WITH spent AS (SELECT customer_id, total FROM orders) SELECT max(total) FROM spent",
}


class Shop:
    """A database whose schema changes, and the entries learned on it."""

    def __init__(self, folder: Path) -> None:
        self.path, self.folder = folder / "shop.sqlite", folder / "kept"
        self.change(TABLES)
        learned = fingerprint(self.schema().text())
        entries = [
            with_id(make_precedent(n, sql=sql, schema_fingerprint=learned, dialect="sqlite"))
            for n, sql in enumerate(STATEMENTS.values())
        ]
        self.names = {entry.id: name for entry, name in zip(entries, STATEMENTS, strict=True)}
        self.listed = [Listed(entry) for entry in entries]
        known = self.known()
        for entry in entries:
            known.lineage_of(entry)

    def change(self, script: str) -> None:
        with closing(sqlite3.connect(self.path)) as database:
            database.executescript(script)

    def schema(self) -> Schema:
        with closing(SQLiteEngine(self.path)) as engine:
            return engine.schema()

    def known(self) -> KnownSchemas:
        return KnownSchemas(self.folder, self.schema(), "sqlite")

    def runs(self, sql: str) -> str | None:
        with closing(SQLiteEngine(self.path)) as engine:
            result = engine.execute(sql, Limits())
        return result.message if isinstance(result, Error | Timeout) else None

    def look(self) -> tuple[dict[str, str], set[str]]:
        """Which entries go stale, with the reason, and which come back; they are marked so."""
        known = self.known()
        drift = find_drift(self.listed, known.lineage_of, known.now, self.runs)
        self.listed = [self.marked(item, drift) for item in self.listed]
        return {self.names[id_]: why for id_, why in drift.stale.items()}, {self.names[id_] for id_ in drift.fresh}

    @staticmethod
    def marked(item: Listed, drift: Drift) -> Listed:
        if item.entry.id in drift.fresh:
            return replace(item, stale=None)
        return replace(item, stale=drift.stale.get(item.entry.id, item.stale))


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_nothing_changes_where_the_schema_did_not(shop: Shop) -> None:
    assert shop.look() == ({}, set())


@pytest.mark.parametrize(
    ("change", "stale", "undo"),
    [
        (
            "ALTER TABLE customer RENAME COLUMN name TO full_name",
            dict.fromkeys(["names", "totals", "unqualified"], "customer.name is gone"),
            "ALTER TABLE customer RENAME COLUMN full_name TO name",
        ),
        (
            "ALTER TABLE orders RENAME TO sales",
            dict.fromkeys(["count", "totals", "unqualified", "cte"], "the table orders is gone"),
            "ALTER TABLE sales RENAME TO orders",
        ),
        (
            "ALTER TABLE orders DROP COLUMN total; ALTER TABLE orders ADD COLUMN total TEXT",
            dict.fromkeys(["totals", "unqualified", "cte"], "orders.total was real and is text now"),
            "ALTER TABLE orders DROP COLUMN total; ALTER TABLE orders ADD COLUMN total REAL",
        ),
        ("ALTER TABLE customer DROP COLUMN city", {}, "ALTER TABLE customer ADD COLUMN city TEXT"),
        ("ALTER TABLE customer ADD COLUMN born TEXT", {}, "ALTER TABLE customer DROP COLUMN born"),
        ("CREATE TABLE more (id INTEGER)", {}, "DROP TABLE more"),
        (
            "ALTER TABLE orders ADD COLUMN name TEXT",
            {"unqualified": "does not run any more: ambiguous column name: name"},
            "ALTER TABLE orders DROP COLUMN name",
        ),
    ],
    ids=[
        "rename a column",
        "rename a table",
        "retype",
        "drop",
        "add",
        "a new table",
        "add, so that a name is ambiguous",
    ],
)
def test_exactly_the_affected_entries_go_stale_and_come_back(
    shop: Shop, change: str, stale: dict[str, str], undo: str
) -> None:
    shop.change(change)
    assert shop.look() == (stale, set())
    assert shop.look() == ({}, set())  # said once
    shop.change(undo)
    assert shop.look() == ({}, set(stale))
    assert shop.look() == ({}, set())


def test_a_deleted_entry_stays_as_it_is(shop: Shop) -> None:
    shop.listed = [replace(item, deleted="wrong") for item in shop.listed]
    shop.change("DROP TABLE customer; DROP TABLE orders")
    assert shop.look() == ({}, set())


def test_without_the_schema_of_its_time_a_statement_is_run_again(shop: Shop) -> None:
    for path in [*(shop.folder / SCHEMAS).iterdir(), shop.folder / LINEAGE]:
        path.unlink()
    shop.change("ALTER TABLE orders DROP COLUMN total")
    stale, _ = shop.look()
    assert set(stale) == {"totals", "unqualified", "cte"}
    assert stale["cte"] == "does not run any more: no such column: total"


def test_a_damaged_cache_is_made_anew(shop: Shop) -> None:
    (shop.folder / LINEAGE).write_bytes(b'{"entry": 7}\n\xff\xfe\n[]\n{"entry": "x", "uses": 3}\n' + b"[" * 100_000)
    for path in (shop.folder / SCHEMAS).iterdir():
        path.write_text('{"tables": {"customer": 7}}')
    shop.change("ALTER TABLE customer DROP COLUMN name")
    assert set(shop.look()[0]) == {"names", "totals", "unqualified"}


@pytest.mark.parametrize("text", ["[" * 100_000, '{"tables": ' + "9" * 5000 + "}"])
def test_state_that_came_from_elsewhere_is_as_none(text: str, shop: Shop) -> None:
    (shop.folder / LINEAGE).unlink()
    for path in [*(shop.folder / SCHEMAS).iterdir(), shop.folder / SCHEMAS / CHECKED]:
        path.write_text(text)
    shop.change("ALTER TABLE customer DROP COLUMN name")
    assert set(shop.look()[0]) == {"names", "totals", "unqualified"}
    shop.known().note_checked("memory", 7)
    assert shop.known().checked_until("memory") == 7
    (shop.folder / SWITCHED).write_text('{"\\ud800": "slow"}')
    switch_off(shop.folder, "shop", "wrong")
    assert switched_off(shop.folder, "shop") == "wrong"


def test_a_fingerprint_cannot_lead_out_of_the_folder(shop: Shop) -> None:
    (shop.folder.parent / "elsewhere.json").write_text('{"tables": {"customer": {"name": "blob"}}}')
    entry = with_id(make_precedent(9, sql=STATEMENTS["names"], schema_fingerprint="../../elsewhere"))
    assert shop.known().lineage_of(entry).uses == {"customer": {"name": "text"}}


def test_an_entry_rests_on_its_right_statement() -> None:
    assert statement(make_entry(1, before="SELECT 1", after="SELECT 2")) == "SELECT 2"
    failed: Entry = make_entry(1, polarity=Polarity.NEGATIVE, before="SELECT 1", after="SELECT 2")
    assert statement(failed) == "SELECT 1"


COLUMNS = Columns({"customer": {"id": "integer", "name": "text"}, "sales.orders": {"id": "integer", "total": "real"}})


@pytest.mark.parametrize(
    ("sql", "uses"),
    [
        ("SELECT total FROM sales.orders", {"sales.orders": {"total": "real"}}),
        ("SELECT o.TOTAL FROM Orders o", {"sales.orders": {"total": "real"}}),
        ("SELECT c.id FROM customer c, sales.orders", {"customer": {"id": "integer"}, "sales.orders": {}}),
        ("SELECT id FROM customer, orders", {"customer": {}, "sales.orders": {}}),  # one of the two, but which
        ("SELECT rowid FROM customer", {"customer": {}}),
        (
            "SELECT name FROM customer WHERE EXISTS (SELECT 1 FROM orders o WHERE o.id = customer.id)",
            {"customer": {"id": "integer", "name": "text"}, "sales.orders": {"id": "integer"}},
        ),
    ],
)
def test_lineage_names_what_a_statement_certainly_uses(sql: str, uses: dict[str, dict[str, str]]) -> None:
    assert lineage(sql, COLUMNS, "sqlite").uses == uses


@pytest.mark.parametrize("sql", ["", "SELEC", "DROP TABLE customer", "(" * 5000, "SELECT 'unfinished"])
def test_what_is_not_a_query_has_no_lineage(sql: str) -> None:
    assert lineage(sql, COLUMNS, "sqlite") == Lineage(known=False)


def test_a_chain_of_thousands_has_no_lineage() -> None:
    """The statement of an entry, which may come from a stranger's memory: reading it must not take minutes."""
    query = "SELECT name FROM customer WHERE {} IS NULL"
    assert lineage(query.format("name || " * 2000 + "name"), COLUMNS, "sqlite") == Lineage(known=False)
    assert lineage(query.format("name || " * 200 + "name"), COLUMNS, "sqlite").uses == {"customer": {"name": "text"}}


def test_a_join_of_thousands_has_no_lineage() -> None:
    """sqlglot holds each table against all before it: 9,000 of them took 10 seconds."""
    assert lineage("SELECT 1 FROM " + ", ".join(["customer"] * 400), COLUMNS, "sqlite").known
    assert lineage("SELECT 1 FROM " + ", ".join(["customer"] * 600), COLUMNS, "sqlite") == Lineage(known=False)
    assert lineage(f"SELECT {', '.join(['name'] * 2000)} FROM customer", COLUMNS, "sqlite").known
    assert lineage(f"SELECT {', '.join(['name'] * 6000)} FROM customer", COLUMNS, "sqlite") == Lineage(known=False)
