"""An index in the cache folder: found again by content, made again when damaged."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merit.sql import SQLiteEngine, content_hash
from merit.types import Limits, Result, Rows, Schema
from merit.values import ColumnValues, ValueCaps, ValueIndex, open_values
from merit.values.index_files import load_values, save_values


class CountingEngine(SQLiteEngine):
    """Counts the statements that it runs."""

    statements = 0

    def execute(self, sql: str, limits: Limits) -> Result:
        """Count it and run it."""
        self.statements += 1
        return super().execute(sql, limits)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[CountingEngine]:
    with closing(sqlite3.connect(tmp_path / "d.sqlite")) as database:
        database.executescript("CREATE TABLE t (a TEXT, n REAL); INSERT INTO t VALUES ('x''y', 1), ('é\n', 2.5);")
    engine = CountingEngine(tmp_path / "d.sqlite")
    yield engine
    engine.close()


def opened(
    engine: CountingEngine, schema: Schema, folder: Path, caps: ValueCaps | None = None
) -> tuple[ValueIndex, bool]:
    """The index of the database, and whether the database was asked for it."""
    before = engine.statements
    values = open_values(engine, schema, content_hash(folder / "d.sqlite"), folder / "cache", caps)
    return values, engine.statements > before


def test_a_database_is_read_once(engine: CountingEngine, tmp_path: Path) -> None:
    schema = engine.schema()
    first, asked = opened(engine, schema, tmp_path)
    assert asked
    again, asked = opened(engine, schema, tmp_path)
    assert not asked
    assert again.columns == first.columns
    assert [path.suffix for path in (tmp_path / "cache" / "values").iterdir()] == [".json"]


def test_other_content_and_other_limits_are_read_anew(engine: CountingEngine, tmp_path: Path) -> None:
    schema = engine.schema()
    opened(engine, schema, tmp_path)
    assert opened(engine, schema, tmp_path, ValueCaps(characters=5))[1]
    with closing(sqlite3.connect(tmp_path / "d.sqlite")) as database, database:
        database.execute("INSERT INTO t VALUES ('new', 3)")
    values, asked = opened(engine, schema, tmp_path)
    assert asked
    assert values.mentioned("is it NEW?") == [("t", "a", "new")]


@pytest.mark.parametrize("damage", ["flipped", "cut", "emptied", "folder"])
def test_a_damaged_file_is_noticed(engine: CountingEngine, tmp_path: Path, damage: str) -> None:
    schema = engine.schema()
    first, _ = opened(engine, schema, tmp_path)
    (path,) = (tmp_path / "cache" / "values").iterdir()
    content = path.read_bytes()
    if damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        middle = len(content) // 2
        path.write_bytes(
            {
                "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
                "cut": content[:middle],
                "emptied": b"",
            }[damage]
        )
    again, asked = opened(engine, schema, tmp_path)
    assert asked
    assert again.columns == first.columns
    if damage != "folder":
        assert path.read_bytes() == content


def test_without_a_folder_that_can_be_written_nothing_is_kept(engine: CountingEngine, tmp_path: Path) -> None:
    schema = engine.schema()
    (tmp_path / "cache").write_text("a file, where a folder should be")
    assert opened(engine, schema, tmp_path)[1]
    assert open_values(engine, schema, "", None).columns == opened(engine, schema, tmp_path)[0].columns


def test_what_time_has_cut_is_not_kept(engine: CountingEngine, tmp_path: Path) -> None:
    opened(engine, engine.schema(), tmp_path, ValueCaps(seconds=0))
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("moment", ["abs(random())", "datetime('now')"])
def test_what_depends_on_chance_or_the_clock_is_not_kept(moment: str, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "d.sqlite")) as database:
        database.executescript(
            f"CREATE VIEW v(id, x) AS SELECT 1, 'at ' || {moment};"
            "CREATE VIRTUAL TABLE search USING fts5(x, content='v', content_rowid='id');"
        )
    with closing(CountingEngine(tmp_path / "d.sqlite")) as engine:
        values, _ = opened(engine, engine.schema(), tmp_path)
        assert values.examples("search", "x")
        assert not (tmp_path / "cache").exists()


class Server(CountingEngine):
    """An engine that cannot say what depends on the clock."""

    dialect = "postgresql"  # whose statements for values SQLite understands, too

    def execute(self, sql: str, limits: Limits) -> Result:
        """Run it, without a promise."""
        result = super().execute(sql, limits)
        return replace(result, steady=False) if isinstance(result, Rows) else result


def test_what_a_server_gave_is_kept(engine: CountingEngine, tmp_path: Path) -> None:
    with closing(Server(tmp_path / "d.sqlite")) as server:
        opened(server, server.schema(), tmp_path)
        assert not opened(server, server.schema(), tmp_path)[1]


_VALUE = st.one_of(st.text(max_size=20), st.integers(), st.floats(allow_nan=False))


@settings(max_examples=50, deadline=None)
@given(examples=st.lists(_VALUE, max_size=5), texts=st.lists(st.text(max_size=20), max_size=5), complete=st.booleans())
def test_an_index_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, examples: list[object], texts: list[str], complete: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "kept.json"
    column = ColumnValues("t\ud800", "c", tuple(examples), tuple(texts), complete)  # type: ignore[arg-type]
    save_values(ValueIndex([column]), path)
    read = load_values(path)
    assert read is not None
    assert read.columns == (column,)


@pytest.mark.parametrize(
    "body", ["5", "{", "[[1, 2]]", "[[1, 2, 3, 4, 5]]", '[["t", "a", true, [{}], []]]', '[["t", "a", true, [], [5]]]', "[" * 9999]
)  # fmt: skip
def test_a_file_that_is_no_index_is_made_again(body: str, tmp_path: Path) -> None:
    """Its hash may be right all the same: it is no signature."""
    path = tmp_path / "v.json"
    path.write_text(f"{hashlib.sha256(body.encode()).hexdigest()}\n{body}")
    assert load_values(path) is None
