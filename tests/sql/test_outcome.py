"""The fingerprint of a result, by which candidates vote where no reference decides."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from merit.sql.outcome import fingerprint
from merit.types import Row, Value

VALUES = st.none() | st.integers(-9, 9) | st.sampled_from([0.1, 0.5, 2.0, -3.25]) | st.sampled_from(["a", "2", b"a"])


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=4))
def test_rows_and_columns_in_another_order_are_the_same_result(rows: list[Row]) -> None:
    columns = {repr(sorted(map(repr, column))) for column in zip(*rows, strict=True)}
    assume(len(columns) == 3)  # columns with the same values keep the order they are in
    turned: list[Row] = [(third, first, second) for first, second, third in reversed(rows)]
    assert fingerprint(turned) == fingerprint(rows)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT avg(x) FROM t", "SELECT sum(x) / count(x) FROM t"),
        ("SELECT sum(x) FROM t", "SELECT sum(x) FROM (SELECT x FROM t ORDER BY x DESC)"),
        ("SELECT count(*) FROM t", "SELECT sum(1.0) FROM t"),
        ("SELECT 0.1 + 0.2", "SELECT 0.3"),
    ],
)
def test_ways_to_compute_the_same_number_agree(one: str, other: str) -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE t (x REAL)")
        database.executemany("INSERT INTO t VALUES (?)", [(0.1 * i,) for i in range(1, 20_000)])
        results = [database.execute(sql).fetchall() for sql in (one, other)]
    assert fingerprint(results[0]) == fingerprint(results[1])


@pytest.mark.parametrize(
    ("one", "other"), [(1.0, 1.000001), (0.0, 1e-30), (2**60, 2**60 + 1), (1, "1"), ("a", b"a"), (None, 0)]
)
def test_other_values_are_another_result(one: Value, other: Value) -> None:
    assert fingerprint([(one,)]) != fingerprint([(other,)])


def test_a_large_result_is_rounded_too() -> None:
    rows: list[Row] = [(0.1 * i + 0.2, "x" * 50) for i in range(30_000)]
    other: list[Row] = [(0.1 * i + 0.1 + 0.1, "x" * 50) for i in range(30_000)]
    assert rows != other
    assert fingerprint(rows) == fingerprint(other)


def test_no_rows_are_an_empty_text() -> None:
    assert fingerprint([]) == ""
