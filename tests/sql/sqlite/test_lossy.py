"""Text that is not UTF-8 is read as Python's own SQLite gives it to the official evaluators."""

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from merit.sql import SQLiteSandbox
from merit.sql.sqlite.lossy import decoded
from merit.types import Limits, Rows

LIMITS = Limits(timeout_s=60.0)
HALF_PAIRS = [(0x78, 0xD800), (0xD800, 0x41), (0xDC00, 0x42, 0x43), (0xDC00, 0xD800, 0xDC00), (0xD83D, 0xDE00), ()]
UNITS = st.lists(st.one_of(st.integers(0, 0xFFFF), st.integers(0xD7FE, 0xE001)), max_size=12)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SQLiteSandbox]:
    with closing(SQLiteSandbox(frozen=True)) as made:
        yield made


def official(connection: sqlite3.Connection, sql: str) -> list[tuple[object, ...]]:
    connection.text_factory = lambda data: data.decode(errors="ignore")
    return connection.execute(sql).fetchall()


@pytest.mark.parametrize("order", ["le", "be"])
def test_half_a_pair_is_read_as_sqlite_reads_it(sandbox: SQLiteSandbox, tmp_path: Path, order: str) -> None:
    path = tmp_path / "pairs.sqlite"
    with closing(apsw.Connection(str(path))) as db:
        db.execute(f"PRAGMA encoding='UTF-16{order}'; CREATE TABLE t (a)")
        for units in HALF_PAIRS:
            raw = struct.pack(f"{'<' if order == 'le' else '>'}{len(units)}H", *units)
            db.execute(f"INSERT INTO t VALUES (CAST(x'{raw.hex()}' AS TEXT)), (x'{raw.hex()}')")
    for sql in ("SELECT a FROM t", "SELECT a FROM t WHERE rowid > 2"):  # with the text that is not UTF-8, and without
        result = sandbox.execute(path, sql, LIMITS, lossy=True)
        assert isinstance(result, Rows), result
        with closing(sqlite3.connect(path)) as connection:
            assert result.rows == official(connection, sql)


@given(units=UNITS, odd=st.booleans())
def test_any_units_are_read_as_sqlite_reads_them(units: list[int], odd: bool) -> None:
    raw = struct.pack(f"<{len(units)}H", *units) + b"x" * odd
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA encoding='UTF-16le'")
        assert official(connection, f"SELECT CAST(x'{raw.hex()}' AS TEXT)") == [(decoded(raw, "UTF-16le"),)]


@pytest.mark.parametrize("width", [1000, 1001, 2000])
def test_a_row_of_many_columns_is_read_too(sandbox: SQLiteSandbox, tmp_path: Path, width: int) -> None:
    path = tmp_path / "wide.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE w ({', '.join(f'c{number}' for number in range(width))})")
        values = "CAST(x'66ff6f' AS TEXT), x'66ff6f', 1, 2.5, x'', '', 'é'"
        connection.execute(f"INSERT INTO w (c0, c1, c2, c3, c4, c5, c6) VALUES ({values})")
        connection.commit()
        result = sandbox.execute(path, "SELECT * FROM w", LIMITS, lossy=True)
        assert isinstance(result, Rows), result
        assert result.rows == official(connection, "SELECT * FROM w")
    assert result.rows[0][:8] == ("fo", b"f\xffo", 1, 2.5, b"", "", "é", None)
