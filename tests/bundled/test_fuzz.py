"""Fuzzed databases: the same for a seed everywhere, valid by every constraint, and at the edge of what is asked."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merit.bundled import SPARSE, DatabaseSource, Fuzzer, WrittenQuestion, read_shapes, read_sources
from merit.bundled.draw import Draw
from merit.bundled.tables import parents_first
from merit.bundled.values import beside, constants, near, trimmed

SOURCES = read_sources()
FUZZERS = {source.db_id: Fuzzer(source) for source in SOURCES}

SCHEMA = """
CREATE TABLE team (code TEXT PRIMARY KEY, city TEXT, founded INTEGER CHECK (founded > 1800));
CREATE TABLE player (
    player_id INTEGER PRIMARY KEY,
    team_code TEXT NOT NULL REFERENCES team (code),
    captain_id INTEGER REFERENCES player (player_id),
    shirt INTEGER NOT NULL,
    email TEXT UNIQUE,
    born TEXT,
    joined TEXT,
    CHECK (joined IS NULL OR joined >= born),
    UNIQUE (team_code, shirt)
);
CREATE TABLE award (team_code TEXT, year INTEGER, name TEXT NOT NULL, PRIMARY KEY (team_code, year),
    FOREIGN KEY (team_code) REFERENCES team (code)) WITHOUT ROWID;
CREATE TABLE fan (team_code TEXT, year INTEGER, n INTEGER, FOREIGN KEY (team_code, year) REFERENCES award (team_code, year));
"""
ROWS = """
INSERT INTO team VALUES ('AB-1', 'Oslo', 1901), ('AB-2', 'Bergen', 1950), ('AB-3', NULL, NULL);
INSERT INTO player VALUES
    (1, 'AB-1', NULL, 7, 'x@example.org', '1999-01-02', '2020-05-06'), (2, 'AB-1', 1, 8, NULL, '2000-01-01', NULL),
    (3, 'AB-2', NULL, 7, 'y@example.org', '2001-03-04', '2021-01-01'), (5, 'AB-2', 3, 9, NULL, NULL, NULL);
INSERT INTO award VALUES ('AB-1', 2001, 'cup'), ('AB-1', 2002, 'cup'), ('AB-2', 2001, 'shield');
INSERT INTO fan VALUES ('AB-1', 2001, 5), ('AB-2', 2001, 0), (NULL, NULL, 3);
"""


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> DatabaseSource:
    """A schema with every kind of key and check."""
    folder = tmp_path_factory.mktemp("sources") / "team"
    folder.mkdir()
    (folder / "schema.sql").write_text(SCHEMA)
    (folder / "rows.sql").write_text(ROWS)
    asked = "SELECT count(*) FROM player WHERE shirt > 7 AND born LIKE '2001%'"
    return DatabaseSource(folder, (WrittenQuestion("team-1", "?", asked, "easy", None),), ())


def content(db: sqlite3.Connection) -> list[str]:
    return list(db.iterdump())


def violations(db: sqlite3.Connection) -> list[object]:
    broken: list[object] = list(db.execute("PRAGMA foreign_key_check"))
    return broken + [row for row in db.execute("PRAGMA integrity_check") if row != ("ok",)]


@settings(max_examples=60)
@given(db_id=st.sampled_from(sorted(FUZZERS)), seed=st.integers(0, 2**40))
def test_every_constraint_holds(db_id: str, seed: int) -> None:
    with closing(FUZZERS[db_id].database(seed)) as db:
        assert violations(db) == []


@settings(max_examples=100)
@given(seed=st.integers())
def test_every_kind_of_constraint_holds(team: DatabaseSource, seed: int) -> None:
    with closing(Fuzzer(team).database(seed)) as db:
        assert violations(db) == []


def test_sparse_databases_are_small_blank_and_valid(team: DatabaseSource) -> None:
    for source in (SOURCES[0], team):
        fuzzer = Fuzzer(source)
        with closing(source.original()) as original:
            most = sum(len(fuzzer.rows(shape.name)) for shape in read_shapes(original))
            tables = [shape.name for shape in read_shapes(original)]
        for seed in SPARSE[:20]:
            with closing(fuzzer.database(seed)) as db:
                assert violations(db) == []
                rows = sum(db.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for table in tables)
                assert rows <= most * 0.2 + 3 * len(tables)


def test_a_seed_is_one_database() -> None:
    first, again = Fuzzer(SOURCES[0]), Fuzzer(SOURCES[0])
    with closing(first.database(7)) as one, closing(again.database(7)) as same, closing(first.database(8)) as other:
        assert content(one) == content(same)
        assert content(one) != content(other)


def test_the_lots_are_the_same_on_every_version() -> None:
    draw = Draw("a", 1)
    assert [draw.below(1000) for _ in range(5)] == [379, 463, 237, 650, 201]
    assert sorted(Draw(2).some(range(10), 20)) == list(range(10))
    assert len({*Draw(3).some(range(10), 4)}) == 4


def test_databases_meet_the_edges_of_what_is_asked(team: DatabaseSource) -> None:
    fuzzer = Fuzzer(team)
    shirts, born, lonely, blank, tied = set(), set(), 0, 0, 0
    for seed in range(40):
        with closing(fuzzer.database(seed)) as db:
            shirts |= {shirt for (shirt,) in db.execute("SELECT shirt FROM player")}
            born |= {str(day) for (day,) in db.execute("SELECT born FROM player WHERE born IS NOT NULL")}
            lonely += bool(db.execute("SELECT 1 FROM team WHERE code NOT IN (SELECT team_code FROM player)").fetchall())
            blank += bool(db.execute("SELECT 1 FROM team WHERE city IS NULL").fetchall())
            tied += bool(db.execute("SELECT 1 FROM player GROUP BY shirt HAVING count(*) > 1").fetchall())
    assert {6, 7, 8} <= shirts
    assert {"2000-12-31", "2001-01-01", "2001-12-31", "2002-01-01"} <= born
    assert min(lonely, blank, tied) > 5


def test_parents_come_first_and_circles_end(team: DatabaseSource) -> None:
    with closing(team.original()) as db:
        assert [shape.name for shape in parents_first(read_shapes(db)[::-1])] == ["team", "award", "fan", "player"]
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript("CREATE TABLE a (x PRIMARY KEY REFERENCES b); CREATE TABLE b (y PRIMARY KEY REFERENCES a);")
        assert [shape.name for shape in parents_first(read_shapes(db))] == ["a", "b"]


def test_constants_belong_to_the_column_before_them() -> None:
    sql = """SELECT name, COUNT(*) FROM t WHERE Price BETWEEN 3 AND 4.5 AND t.name IN ('O''Hara', 'x') LIMIT 2"""
    assert constants([sql], {"price", "name"}) == {"price": [3, 4.5], "name": ["O'Hara", "x", 2]}


@pytest.mark.parametrize(
    ("constant", "own", "declared", "some"),
    [
        (5, [1], "INTEGER", {4, 5, 6}),
        (2.5, [1.0], "REAL", {1.5, 2.0, 2.5, 3.0}),
        ("Oslo", ["Oslo"], "TEXT", {"Oslo", "OSLO", "oslo", "Osl"}),
        ("%er%", ["Bergen"], "TEXT", {"er", "xerx", "ER"}),
        ("2024-02-29", ["2020-01-01"], "TEXT", {"2024-02-28", "2024-02-29", "2024-03-01"}),
        ("2024-02", ["2020-01-01 10:00"], "TEXT", {"2024-01-31 10:00", "2024-02-29 10:00", "2024-03-01 10:00"}),
        ("2024", ["2020-01-01"], "DATE", {"2023-12-31", "2024-12-31", "2025-01-01"}),
        ("oslo", ["Bergen", "Oslo"], "TEXT", {"Oslo", "OSLO", "oslo"}),
        (30, ["2024-01-01 10:00"], "TEXT", {"2024-01-01 10:00", "2024-01-31 10:00", "2024-02-01 10:00"}),
        ("12", ["2024-01-01 10:05"], "TEXT", {"2024-01-01 12:00", "2024-01-01 11:59"}),
        ("12", ["2024-01-01T10:05:31"], "TEXT", {"2024-01-01T12:00:31", "2024-01-01T11:59:31"}),
    ],
)
def test_near_misses(
    constant: int | float | str, own: list[str | int | float | None], declared: str, some: set[object]
) -> None:
    assert some <= {*near([constant], own, declared)}


def test_spaces_only_where_questions_ignore_them_and_rows_have_them() -> None:
    sql = "SELECT 1 FROM t WHERE LOWER(TRIM(t.City)) = 'oslo' AND TRIM(name) = 'x' AND TRIM('y') = 'y'"
    assert trimmed([sql]) == {"city", "name"}
    untidy = near(["oslo"], ["Oslo", "Bergen "], "TEXT", trim=True)
    assert {" Oslo", "Oslo ", "OSLO ", " oslo"} <= {*untidy}
    assert "Bergen " not in untidy  # a value that is not asked for stays as rare as it is
    for own, trim in ((["Oslo", "Bergen"], True), (["Oslo", "Bergen "], False)):
        assert not [text for text in near(["oslo"], own, "TEXT", trim=trim) if str(text) != str(text).strip()]


def test_spaces_where_columns_are_compared_with_each_other() -> None:
    assert {" Oslo", "OSLO ", "bergen", " Bergen"} <= {*near([], ["Oslo", "Bergen "], "TEXT", trim=True)}


def test_what_cannot_be_near_is_left_out() -> None:
    assert near(["Paris", 3], ["Oslo"], "TEXT") == []
    assert near(["%Y"], ["Oslo"], "TEXT") == []
    assert near(["2024-13-01", "much"], ["2020-01-01"], "TEXT") == []
    assert near(["Paris"], [1], "INTEGER") == []


def test_values_beside_others() -> None:
    assert beside(3, -1) == 2
    assert beside("2024-02-28", 2) == "2024-03-01"
    assert beside("2024-02-28 23:59", 1) == "2024-02-29 00:00"
    assert beside("word", 1) == "word"
    assert beside(None, 1) is None
    assert beside("9999-12-31", 400) == "9999-12-31"


def test_a_table_may_be_empty(tmp_path: Path) -> None:
    folder = tmp_path / "void"
    folder.mkdir()
    (folder / "schema.sql").write_text("CREATE TABLE a (x INTEGER PRIMARY KEY);")
    (folder / "rows.sql").write_text("")
    with closing(Fuzzer(DatabaseSource(folder, (), ())).database(1)) as db:
        assert db.execute("SELECT count(*) FROM a").fetchone() == (0,)
