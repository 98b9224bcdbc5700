"""Reading the values of a real database, whatever is in it, within limits."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merit.sql import SQLiteEngine, SQLiteSandbox
from merit.types import Cause, Column, Error, Health, Limits, Result, Rows, Schema, Table
from merit.values import BuiltValues, ColumnValues, ValueCaps, build_values


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SQLiteSandbox]:
    with closing(SQLiteSandbox()) as sandbox:
        yield sandbox


def built(sandbox: SQLiteSandbox, path: Path, script: str, caps: ValueCaps | None = None) -> BuiltValues:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script)
    engine = SQLiteEngine(path, shared=sandbox)
    return build_values(engine, engine.schema(), caps)


def only(values: BuiltValues) -> ColumnValues:
    (column,) = values.index.columns
    return column


def test_every_column_has_examples_the_frequent_ones_first(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    values = built(
        sandbox,
        tmp_path / "d.sqlite",
        """
        CREATE TABLE t (n INTEGER, x REAL, day DATE, kind TEXT, photo BLOB, empty TEXT);
        INSERT INTO t VALUES (3, 0.5, '2020-01-02', 'new', x'00ff', NULL), (1, 1e9, '2020-01-01', 'old', NULL, '');
        INSERT INTO t VALUES (3, -2.25, '2020-01-03', 'old', NULL, ' '), (4, NULL, NULL, 'old', NULL, NULL);
        """,
    )
    assert [(column.column, column.examples) for column in values.index.columns] == [
        ("n", (3, 1, 4)),
        ("x", (0.5, 1e9, -2.25)),
        ("day", ("2020-01-02", "2020-01-01", "2020-01-03")),
        ("kind", ("old", "new")),
        ("photo", ()),
        ("empty", ()),
    ]
    assert [column.texts for column in values.index.columns if column.texts] == [
        ("2020-01-01", "2020-01-02", "2020-01-03"),
        ("new", "old"),
    ]
    assert values.unread == ()


def test_texts_are_found_in_a_column_of_any_type_and_name(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    values = built(
        sandbox,
        tmp_path / "d.sqlite",
        """CREATE TABLE "a ""b"" [c]" ("it's; --" INTEGER); INSERT INTO "a ""b"" [c]" VALUES (1), ('many'), (x'61');""",
    )
    assert only(values) == ColumnValues('a "b" [c]', "it's; --", (1, "many"), ("many",), complete=True)


def test_caps_per_column_and_in_all(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    script = "CREATE TABLE t (a TEXT, b TEXT, c TEXT); INSERT INTO t VALUES ('a1','b1','c1'),('a2','b2','c1'),('a3','b3','c1');"
    caps = ValueCaps(texts_per_column=2, texts=3)
    values = built(sandbox, tmp_path / "d.sqlite", script, caps)
    assert [(len(column.texts), column.complete) for column in values.index.columns] == [
        (2, False),
        (1, False),
        (0, False),
    ]
    assert values.unread == ()
    caps = ValueCaps(texts_per_column=3, texts=7)
    values = built(sandbox, tmp_path / "d.sqlite", script, caps)
    assert [(len(column.texts), column.complete) for column in values.index.columns] == [
        (3, True),
        (3, True),
        (1, True),
    ]


def test_long_texts_are_left_out(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    script = "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('short'), (printf('%.*c', 101, 'x')), (printf('%.*c', 3000000, 'x'));"
    assert only(built(sandbox, tmp_path / "d.sqlite", script)).texts == ("short",)


def test_a_huge_cell_behind_a_nul_costs_its_column_only(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    script = """
        CREATE TABLE t (a TEXT, b TEXT);
        INSERT INTO t VALUES (CAST(x'6100' || zeroblob(3000000) AS TEXT), 'good'), ('fine', 'better');
    """
    values = built(sandbox, tmp_path / "d.sqlite", script)
    assert values.index.columns[1].texts == ("better", "good")
    assert all(len(text) <= 100 for column in values.index.columns for text in column.texts)


def test_text_that_is_not_utf8_does_not_hide_the_others(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    script = "CREATE TABLE t (a); INSERT INTO t VALUES ('Zürich'), (CAST(x'fffe41' AS TEXT)), ('Bern'), (7);"
    assert only(built(sandbox, tmp_path / "d.sqlite", script)).texts == ("Bern", "Zürich")


def test_views_are_not_read(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS i FROM n"
    values = built(sandbox, tmp_path / "d.sqlite", f"CREATE TABLE t (a); CREATE VIEW v AS {slow};")
    assert [column.table for column in values.index.columns] == ["t"]


def test_what_is_not_read_in_time_is_said(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    script = "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES ('x', 'y');"
    values = built(sandbox, tmp_path / "d.sqlite", script, ValueCaps(seconds=0))
    assert values.unread == ("t.a", "t.b")
    assert values.index.mentioned("x y") == []
    assert all(not column.complete for column in values.index.columns)


def test_a_database_that_is_gone_is_not_read(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    schema = Schema("gone", (Table("t", (Column("a", "TEXT"),)),))
    values = build_values(SQLiteEngine(tmp_path / "gone.sqlite", shared=sandbox), schema)
    assert values.unread == ("t.a",)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.sets(st.text(st.characters(codec="utf-8"), max_size=40), max_size=10))
def test_all_texts_come_back_as_they_are(sandbox: SQLiteSandbox, tmp_path: Path, texts: set[str]) -> None:
    path = tmp_path / "any.sqlite"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE t (a TEXT)")
        database.executemany("INSERT INTO t VALUES (?)", [(text,) for text in sorted(texts)])
    engine = SQLiteEngine(path, shared=sandbox)
    column = only(build_values(engine, engine.schema()))
    assert set(column.texts) == {text for text in texts if text.strip() and "\0" not in text}
    assert all(str(example).isprintable() for example in column.examples)


class ScriptedEngine:
    """An engine that notes what it is asked, and answers always the same."""

    def __init__(self, dialect: str, answer: Result) -> None:
        self.dialect = dialect
        self.statements: list[str] = []
        self._answer = answer

    def execute(self, sql: str, limits: Limits) -> Result:
        """The answer."""
        assert limits.timeout_s <= 5
        self.statements.append(sql)
        return self._answer

    def schema(self) -> Schema:
        """Not asked for."""
        raise NotImplementedError

    def health(self) -> Health:
        """Not asked for."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing to do."""


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        (
            "postgresql",
            """SELECT "a`""b" FROM "t" WHERE "a`""b" IS NOT NULL AND LENGTH(CAST("a`""b" AS TEXT)) <= 100""",
        ),
        ("duckdb", """SELECT "a`""b" FROM "t" WHERE "a`""b" IS NOT NULL AND LENGTH(CAST("a`""b" AS TEXT)) <= 100"""),
        ("mariadb", """SELECT `a``"b` FROM `t` WHERE `a``"b` IS NOT NULL AND LENGTH(CAST(`a``"b` AS CHAR)) <= 100"""),
    ],
)
def test_other_engines_are_asked_in_their_own_words(dialect: str, statement: str) -> None:
    engine = ScriptedEngine(dialect, Error(Cause.DBMS, "no"))
    values = build_values(engine, Schema("d", (Table("t", (Column('a`"b', "TEXT"),)),)))
    assert engine.statements == [f"{statement} LIMIT 1001"]
    assert not values.index.columns[0].texts


def test_a_lone_surrogate_is_left_out() -> None:
    engine = ScriptedEngine("postgresql", Rows(("a",), [("half \ud800",), ("whole",)]))
    values = build_values(engine, Schema("d", (Table("t", (Column("a", "TEXT"),)),)))
    assert only(values) == ColumnValues("t", "a", ("whole",), ("whole",), complete=True)


def test_a_result_that_was_cut_is_not_complete() -> None:
    engine = ScriptedEngine("postgresql", Rows(("a",), [("x",), ("y",)], truncated=True))
    values = build_values(engine, Schema("d", (Table("t", (Column("a", "TEXT"),)),)))
    assert only(values) == ColumnValues("t", "a", ("x", "y"), ("x", "y"), complete=False)
    assert values.index.nearest("t", "a", "X") is None
