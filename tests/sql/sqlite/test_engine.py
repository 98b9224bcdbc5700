"""One SQLite file as an Engine: what it runs, and its schema by its own catalogue."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merit.data import load
from merit.errors import DatabaseUnusable
from merit.sql import SQLiteEngine, SQLiteSandbox
from merit.sql.sqlite import catalogue
from merit.types import Cause, Column, Engine, Error, Limits, Result, Rows, Schema, Table, Timeout

SHOP = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, city TEXT);
CREATE TABLE item (code TEXT, size INT, price NUMERIC(10, 2), PRIMARY KEY (code, size)) WITHOUT ROWID;
CREATE TABLE "order" (
    id INTEGER PRIMARY KEY,
    buyer INT REFERENCES Customer,
    item_code TEXT, item_size INT,
    gift_for INT REFERENCES customer(ID),
    total REAL GENERATED ALWAYS AS (item_size * 2.0),
    FOREIGN KEY (item_code, item_size) REFERENCES item
);
CREATE VIEW big AS SELECT id, total AS amount, 1 + 1 AS two FROM "order" WHERE total > 10;
CREATE INDEX by_buyer ON "order" (buyer);
CREATE TRIGGER t AFTER INSERT ON customer BEGIN SELECT 1; END;
"""
SHOP_TEXT = """\
Database: shop
Table: customer
  id INTEGER PRIMARY KEY
  name VARCHAR(20)
  city TEXT
Table: item
  code TEXT PRIMARY KEY
  size INT PRIMARY KEY
  price NUMERIC(10, 2)
Table: order
  id INTEGER PRIMARY KEY
  buyer INT FOREIGN KEY -> customer.id
  item_code TEXT FOREIGN KEY -> item.code
  item_size INT FOREIGN KEY -> item.size
  gift_for INT FOREIGN KEY -> customer.id
  total REAL
View: big
  id INTEGER
  amount REAL
  two"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SQLiteSandbox]:
    with closing(SQLiteSandbox()) as shared:
        yield shared


def make(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)
    return path


def schema(sandbox: SQLiteSandbox, path: Path) -> Schema:
    return SQLiteEngine(path, shared=sandbox).schema()


@pytest.mark.parametrize("frozen", [True, False])
def test_it_satisfies_the_protocol(database: Path, frozen: bool) -> None:
    own = SQLiteEngine(database, frozen=frozen)
    engine: Engine = own
    with closing(engine):
        assert engine.dialect == "sqlite"
        assert engine.execute("SELECT name FROM t WHERE id = 1", Limits()) == Rows(("name",), [("one",)])
        missing = Error(Cause.DBMS, "no such table: nope", "SQLITE_ERROR")
        assert engine.execute("SELECT * FROM nope", Limits()) == missing
        slow = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c"
        assert engine.execute(slow, Limits(timeout_s=0.2)) == Timeout(0.2)
        assert [table.name for table in engine.schema().tables][:1] == ["t"]


def test_closing_an_engine_leaves_a_shared_sandbox_open(sandbox: SQLiteSandbox, database: Path) -> None:
    first, second = SQLiteEngine(database, shared=sandbox), SQLiteEngine(database, shared=sandbox)
    assert first.execute("SELECT 1", Limits()) == Rows(("1",), [(1,)])
    first.close()
    assert second.execute("SELECT 1", Limits()) == Rows(("1",), [(1,)])
    assert sandbox._idle


def test_closing_an_engine_ends_its_own_processes(database: Path) -> None:
    engine = SQLiteEngine(database)
    engine.execute("SELECT 1", Limits())
    (worker,) = engine._sandbox._idle
    engine.close()
    assert worker.pid is None


def test_a_shared_sandbox_says_itself_whether_files_are_frozen(sandbox: SQLiteSandbox, database: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        SQLiteEngine(database, frozen=True, shared=sandbox)


def test_tables_columns_types_keys_and_views(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    assert schema(sandbox, make(tmp_path / "shop.sqlite", SHOP)).text() == SHOP_TEXT


def test_a_key_lists_its_targets_in_the_order_they_were_declared(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = make(
        tmp_path / "keys.sqlite",
        """
        CREATE TABLE a (x INTEGER PRIMARY KEY); CREATE TABLE b (y INTEGER PRIMARY KEY);
        CREATE TABLE c (z INT REFERENCES a REFERENCES b(y) REFERENCES gone(x) REFERENCES gone REFERENCES a(nope));
        """,
    )
    (column,) = schema(sandbox, path).tables[2].columns
    assert column.foreign_keys == ("a.x", "b.y")  # what is not there is left out


def test_only_the_case_of_ascii_letters_is_ignored(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = make(
        tmp_path / "case.sqlite",
        "CREATE TABLE É (x INTEGER PRIMARY KEY); CREATE TABLE é (y INTEGER PRIMARY KEY); CREATE TABLE c (z REFERENCES É)",
    )
    (column,) = schema(sandbox, path).tables[2].columns
    assert column.foreign_keys == ("É.x",)


def test_full_text_tables_are_shown_without_what_they_are_made_of(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = make(
        tmp_path / "search.sqlite",
        """
        CREATE VIRTUAL TABLE Pages USING fts5(title, body); CREATE TABLE pages_data2 (x);
        CREATE VIRTUAL TABLE box USING rtree(id, low, high);
        """,
    )
    tables = {table.name: [column.name for column in table.columns] for table in schema(sandbox, path).tables}
    assert tables == {"Pages": ["title", "body"], "pages_data2": ["x"], "box": ["id", "low", "high"]}


def test_it_is_the_schema_of_the_benchmark(sandbox: SQLiteSandbox, root: Path) -> None:
    dataset = load("spider", root)
    for db_id, published in dataset.schemas.items():
        own = schema(sandbox, dataset.files("db")[db_id][0])
        names = [(table.name, [(c.name, c.primary_key, c.foreign_keys) for c in table.columns]) for table in own.tables]
        assert names == [
            (table.name, [(c.name, c.primary_key, c.foreign_keys) for c in table.columns]) for table in published.tables
        ]


def test_every_real_database_has_the_columns_of_its_tables_file(sandbox: SQLiteSandbox, real_data: Path) -> None:
    dataset = load("spider", real_data / "spider")
    files = dataset.files("db")
    for db_id in sorted(files)[:40]:
        own = schema(sandbox, files[db_id][0])
        actual = {table.name.lower(): {column.name.lower() for column in table.columns} for table in own.tables}
        for table in dataset.schemas[db_id].tables:
            if table.name.startswith("sqlite_"):  # SQLite's own, which some files list too
                continue
            assert {column.name.lower() for column in table.columns} == actual[table.name.lower()], (db_id, table.name)


# Hostile databases.

HOSTILE_NAMES = [
    "it's",
    'say "hi"',
    "a`b[c]d",
    "select",
    "x'); DROP TABLE t; --",
    "line\nbreak",
    "tab\tand\rreturn",
    " leading and trailing ",
    "",
    "é ñ 漢字 🙂",
    "pragma_table_xinfo",
    "pragma_foreign_key_list",
    "%s{}$1?",
    "main.t",
    "/* comment",
    "-- comment",
    "temp",
    "\x1b[31mred",
]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def test_hostile_names_come_back_as_they_are(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = tmp_path / "hostile.sqlite"
    with closing(sqlite3.connect(path)) as db:
        for name in HOSTILE_NAMES:
            db.execute(f"CREATE TABLE {quoted(name)} ({quoted(name)} TEXT PRIMARY KEY, other INT)")
        db.execute(f"CREATE TABLE child (x TEXT REFERENCES {quoted(HOSTILE_NAMES[0])}({quoted(HOSTILE_NAMES[0])}))")
        db.commit()
    *tables, child = schema(sandbox, path).tables
    assert tables == [Table(name, (Column(name, "TEXT", True), Column("other", "INT"))) for name in HOSTILE_NAMES]
    assert child.columns == (Column("x", "TEXT", False, ("it's.it's",)),)


NAMES = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), min_size=1, max_size=12)


@settings(max_examples=40)
@given(names=st.lists(NAMES, min_size=1, max_size=4, unique_by=str.lower))
def test_any_names_come_back_as_they_are(
    sandbox: SQLiteSandbox, tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    names = [name for name in names if not name.lower().startswith("sqlite_")]
    path = tmp_path_factory.mktemp("names") / "any.sqlite"
    with closing(sqlite3.connect(path)) as db:
        for name in names:
            db.execute(f"CREATE TABLE {quoted(name)} ({', '.join(map(quoted, names))})")
    assert schema(sandbox, path).tables == tuple(Table(n, tuple(Column(c, "") for c in names)) for n in names)


def test_what_cannot_be_used_is_left_out(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = make(
        tmp_path / "broken.sqlite", "CREATE TABLE t (a); CREATE TABLE gone (b); CREATE VIEW ok AS SELECT a FROM t"
    )
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE VIEW broken AS SELECT b FROM gone")
        db.execute("PRAGMA writable_schema = 1")
        module = "CREATE VIRTUAL TABLE strange USING nope(x)"
        db.execute("INSERT INTO sqlite_master VALUES ('table', 'strange', 'strange', 0, ?)", (module,))
        db.execute("DELETE FROM sqlite_master WHERE name = 'gone'")
        db.commit()
    assert [table.name for table in schema(sandbox, path).tables] == ["t", "ok"]


def test_a_view_that_never_ends_to_expand_is_left_out(
    sandbox: SQLiteSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = "".join(f"CREATE VIEW v{n + 1} AS SELECT a.x FROM v{n} a, v{n} b;" for n in range(16))
    path = make(tmp_path / "doubling.sqlite", f"CREATE TABLE t (x); CREATE VIEW v0 AS SELECT x FROM t; {views}")
    monkeypatch.setattr(catalogue, "_OBJECT_S", 0.3)
    names = [table.name for table in schema(sandbox, path).tables]
    assert names[:3] == ["t", "v0", "v1"]
    assert "v16" not in names
    monkeypatch.setattr(catalogue, "_READ_S", 0.0)
    with pytest.raises(DatabaseUnusable, match=r"doubling\.sqlite: its schema could not be read within"):
        schema(sandbox, path)


def test_a_table_that_is_late_once_is_not_left_out(
    sandbox: SQLiteSandbox, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine stood still, and not the table is to blame."""
    whole, execute, late = schema(sandbox, database), sandbox.execute, set[str]()

    def late_at_first(database: Path, sql: str, limits: Limits, **options: bool) -> Result:
        if sql.startswith("PRAGMA") and sql not in late:
            late.add(sql)
            return Timeout(limits.timeout_s)
        return execute(database, sql, limits, **options)

    monkeypatch.setattr(sandbox, "execute", late_at_first)
    assert schema(sandbox, database) == whole
    assert len(late) > 4


def test_a_name_that_is_not_text_does_no_harm(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = make(
        tmp_path / "bytes.sqlite", "CREATE TABLE t (a); CREATE TABLE bad_XX (b); CREATE TABLE u (col_XX INT, c)"
    )
    path.write_bytes(path.read_bytes().replace(b"bad_XX", b"bad_\xff\xfe").replace(b"col_XX", b"col_\xff\xfe"))
    tables = {table.name: [column.name for column in table.columns] for table in schema(sandbox, path).tables}
    assert tables == {"t": ["a"], "u": ["col_", "c"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no such database file"), (b"not a database at all, " * 50, "not a database")],
)
def test_a_file_that_cannot_be_read_is_said_so(
    sandbox: SQLiteSandbox, tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "none.sqlite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DatabaseUnusable, match=rf"none\.sqlite: .*{message}"):
        schema(sandbox, path)


def test_reading_a_schema_changes_nothing_and_sees_changes(tmp_path: Path) -> None:
    path = make(tmp_path / "live.sqlite", "CREATE TABLE t (a)")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with closing(SQLiteEngine(path)) as engine:
        assert [table.name for table in engine.schema().tables] == ["t"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == before
        assert list(tmp_path.iterdir()) == [path]
        make(path, "CREATE TABLE u (b)")
        assert [table.name for table in engine.schema().tables] == ["t", "u"]


def test_an_empty_database_has_an_empty_schema(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = make(tmp_path / "empty.sqlite", "CREATE TABLE t (a); DROP TABLE t")
    assert schema(sandbox, path) == Schema("empty", ())
