"""Schemas by the catalogues of servers: several schemas, comments, estimates, partitions, and the cache."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from making.databases import Place, shop
from merit.sql.connect import SchemaFilter, open_engine
from merit.sql.reflect import CatalogueRows, CatalogueTable, cached_schema
from merit.types import Column, Schema, Table


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with shop("postgresql", tmp_path_factory.mktemp("postgresql")) as place:
        for statement in (
            "CREATE SCHEMA sales",
            """CREATE TABLE sales."Order Line" (a INTEGER, b INTEGER, what TEXT[], PRIMARY KEY (b, a))""",
            """CREATE TABLE sales.returned (a INTEGER, b INTEGER, c INTEGER REFERENCES public.customer,
               FOREIGN KEY (b, a) REFERENCES sales."Order Line" (b, a))""",
            "COMMENT ON TABLE sales.returned IS 'What came back\n and why'",
            "COMMENT ON COLUMN sales.returned.c IS 'who'",
            "CREATE TABLE sales.customer (id INTEGER)",
            "CREATE TABLE sales.parted (d DATE) PARTITION BY RANGE (d)",
            "CREATE TABLE sales.part1 PARTITION OF sales.parted FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')",
            "CREATE MATERIALIZED VIEW sales.kept AS SELECT 1 AS one",
            "ANALYZE",
        ):
            place.run(statement)
        yield place


def schema(url: str, **options: object) -> Schema:
    with closing(open_engine(url, **options)) as engine:  # type: ignore[arg-type]
        return engine.schema()


def test_several_schemas_of_postgresql(postgres: Place) -> None:
    text = schema(postgres.url, shown=SchemaFilter(include=("sales",))).text()
    assert text.partition("\n")[2] == (
        "Table: sales.Order Line\n  a integer PRIMARY KEY\n  b integer PRIMARY KEY\n  what text[]\n"
        "Table: sales.returned  -- What came back and why\n"
        "  a integer FOREIGN KEY -> sales.Order Line.a\n  b integer FOREIGN KEY -> sales.Order Line.b\n"
        "  c integer  -- who\n"
        "Table: sales.customer\n  id integer\n"
        "Table: sales.parted\n  d date\n"
        "View: sales.kept\n  one integer"
    )
    names = [table.name for table in schema(postgres.url).tables]
    assert names[:5] == ["customer", "orders", "large", "n", "note"]  # those found without their schema come first
    assert {"sales.customer", "customer"} <= {*names}


def test_keys_lead_to_other_schemas(postgres: Place) -> None:
    tables = {table.name: table for table in schema(postgres.url).tables}
    assert tables["sales.returned"].columns[2].foreign_keys == ("customer.id",)


def test_estimates_of_rows(postgres: Place) -> None:
    rows = {table.name: table.rows for table in schema(postgres.url).tables}
    assert (rows["n"], rows["customer"], rows["large"]) == (1000, 3, None)


def test_a_path_of_schemas_decides_what_is_found_by_itself(postgres: Place) -> None:
    names = [t.name for t in schema(f"{postgres.url}?options=-c%20search_path%3Dsales").tables]
    assert {"customer", "public.customer", "Order Line"} <= {*names}


def test_the_cache_follows_every_change(postgres: Place, tmp_path: Path) -> None:
    first = schema(postgres.url, cache=tmp_path)
    (file,) = (tmp_path / "schemas").iterdir()
    kept = json.loads(file.read_text())
    kept["tables"][0]["comment"] = "from the cache"
    file.write_text(json.dumps(kept))
    assert schema(postgres.url, cache=tmp_path).tables[0].comment == "from the cache"
    for change in (
        "COMMENT ON COLUMN customer.name IS 'first name'",
        "ALTER TABLE customer ADD COLUMN born DATE",
        "ALTER TABLE customer RENAME COLUMN born TO birthday",
        "ALTER TABLE customer DROP COLUMN birthday",
        "CREATE TABLE another (i INTEGER)",
        "DROP TABLE another",
    ):
        postgres.run(change)
        assert schema(postgres.url, cache=tmp_path) == schema(postgres.url), change
    assert schema(postgres.url).tables[0].columns[1].comment == "first name"
    assert first != schema(postgres.url)


def test_the_cache_of_mariadb_follows_every_change(tmp_path: Path) -> None:
    with shop("mariadb", tmp_path) as place:
        schema(place.url, cache=tmp_path)
        (file,) = (tmp_path / "schemas").iterdir()
        kept = json.loads(file.read_text())
        kept["tables"][0]["comment"] = "from the cache"
        file.write_text(json.dumps(kept))
        assert schema(place.url, cache=tmp_path).tables[0].comment == "from the cache"
        place.run("INSERT INTO n VALUES (1)")
        assert schema(place.url, cache=tmp_path).tables[0].comment == "from the cache"  # rows are no change
        with closing(open_engine(place.url, cache=tmp_path)) as cached, closing(open_engine(place.url)) as plain:
            for change in (
                "CREATE TABLE fresh (a INTEGER NOT NULL)",
                "ALTER TABLE fresh ADD COLUMN b INTEGER NOT NULL",
                "ALTER TABLE fresh MODIFY b BIGINT NOT NULL",
                "ALTER TABLE fresh MODIFY b BIGINT NOT NULL COMMENT 'more'",
                "ALTER TABLE fresh COMMENT 'numbers'",
                "ALTER TABLE fresh ADD PRIMARY KEY (b, a)",
                "ALTER TABLE fresh ADD INDEX (a)",
                "ALTER TABLE fresh ADD CONSTRAINT leads FOREIGN KEY (a) REFERENCES customer (id)",
                "ALTER TABLE fresh DROP FOREIGN KEY leads",
                "ALTER TABLE fresh RENAME COLUMN b TO c",
                "CREATE VIEW small AS SELECT a FROM fresh",
                "DROP VIEW small",
                "DROP TABLE note",
            ):
                place.run(change)
                assert cached.schema().text() == plain.schema().text(), change
        assert len(list((tmp_path / "schemas").iterdir())) > 5


def test_a_damaged_cache_is_made_again(tmp_path: Path) -> None:
    whole = Schema("s", (Table("t", (Column("c", "int", True, ("u.d",), "a"),), False, "b", 7),))
    for _ in range(2):
        assert cached_schema(tmp_path, lambda: "same", lambda: whole) == whole
    (file,) = (tmp_path / "schemas").iterdir()
    for damage in (b"", b"{", b'{"db_id": 1}', b'{"db_id": "s", "tables": [{}]}', b"\xff"):
        file.write_bytes(damage)
        assert cached_schema(tmp_path, lambda: "same", lambda: whole) == whole
    (tmp_path / "file").touch()
    assert cached_schema(tmp_path / "file", lambda: "same", lambda: whole) == whole  # nowhere to keep it


def test_other_databases_of_mariadb_when_included(tmp_path: Path) -> None:
    with shop("mariadb", tmp_path) as one, shop("mariadb", tmp_path) as two:
        other = two.url.rpartition("/")[2]
        two.run(f"ALTER TABLE {other}.customer COMMENT 'who buys', MODIFY name VARCHAR(20) COMMENT 'first name'")
        names = [table.name for table in schema(one.url).tables]
        assert names == ["customer", "large", "n", "note", "orders"]
        shown = SchemaFilter(include=(f"{other}.customer", f"{other}.orders"))
        assert schema(one.url, shown=shown).text().partition("\n")[2] == (
            f"Table: {other}.customer  -- who buys\n  id int(11) PRIMARY KEY\n  name varchar(20)  -- first name\n"
            f"  city varchar(20)\nTable: {other}.orders\n  id int(11) PRIMARY KEY\n"
            f"  buyer int(11) FOREIGN KEY -> {other}.customer.id\n  total decimal(10,2)"
        )


def test_schemas_and_comments_of_duckdb(tmp_path: Path) -> None:
    with shop("duckdb", tmp_path) as place:
        place.run("CREATE SCHEMA sales")
        place.run("CREATE TABLE sales.lines (a INTEGER, b INTEGER, PRIMARY KEY (b, a))")
        place.run("COMMENT ON TABLE sales.lines IS 'bought'")
        place.run("COMMENT ON COLUMN sales.lines.a IS 'article'")
        tables = {table.name: table for table in schema(place.url).tables}
        assert tables["sales.lines"].text() == (
            "Table: sales.lines  -- bought\n  a INTEGER PRIMARY KEY  -- article\n  b INTEGER PRIMARY KEY"
        )
        assert tables["n"].rows == 1000


def test_a_catalogue_of_two_tables_of_one_name() -> None:
    catalogue = CatalogueRows(
        [CatalogueTable("a", "t"), CatalogueTable("b", "t", searched=False)],
        [("a", "t", "x", "int", ""), ("b", "t", "x", "int", "")],
        frozenset({("b", "t", "x")}),
        [(("a", "t", "x"), ("b", "t", "x")), (("b", "t", "x"), ("c", "gone", "x"))],
    )
    assert catalogue.schema("d") == Schema(
        "d", (Table("t", (Column("x", "int", False, ("b.t.x",)),)), Table("b.t", (Column("x", "int", True),)))
    )


@pytest.mark.parametrize(
    ("field", "value"), [("name", 5), ("type", None), ("comment", [1]), ("foreign_keys", "abc"), ("primary_key", "x")]
)
def test_a_cached_schema_with_other_types_is_read_anew(field: str, value: object, tmp_path: Path) -> None:
    read = Schema("d", (Table("t", (Column("a", "INT"),)),))
    assert cached_schema(tmp_path, lambda: "f", lambda: read) == read
    (path,) = (tmp_path / "schemas").iterdir()
    record = json.loads(path.read_text())
    record["tables"][0]["columns"][0][field] = value
    path.write_text(json.dumps(record))
    other = Schema("d", (Table("u", (Column("b", "INT"),)),))
    assert cached_schema(tmp_path, lambda: "f", lambda: other) == other
