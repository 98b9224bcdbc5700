"""What can be told from text alone."""

import sqlite3

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from merit.oracle.text import _TOKEN, same_statement


@pytest.mark.parametrize(
    ("sql", "other"),
    [
        ("SELECT a FROM b", "select  A\nfrom B"),
        ("SELECT count( * ) FROM b", "SELECT COUNT(*) FROM b"),
        ("SELECT a FROM b WHERE c = 'X'", "SELECT a FROM b WHERE c='X'"),
    ],
)
def test_case_and_white_space_do_not_make_a_statement(sql: str, other: str) -> None:
    assert same_statement(sql, other)


@pytest.mark.parametrize(
    ("sql", "other"),
    [
        ("SELECT 'A'", "SELECT 'a'"),
        ('SELECT "A"', 'SELECT "a"'),
        ("SELECT 'a b'", "SELECT 'ab'"),
        ("SELECT a < = b", "SELECT a <= b"),
        ("SELECT x'ab'", "SELECT x 'ab'"),
        ("SELECT 1e-5", "SELECT 1e - 5"),
        ("SELECT 1 .5", "SELECT 1.5"),
        ("SELECT a - -1", "SELECT a --1"),
        ("SELECT 1 --\n+ 1", "SELECT 1 -- + 1"),
        ("SELECT É", "SELECT é"),
        ("SELECT ab", "SELECT a b"),
        ("SELECT\u00a0a", "SELECT a"),  # to SQLite a no-break space is a letter
        ("SELECT\u3000a", "SELECT a"),
        ("SELECT\x0ba", "SELECT a"),
    ],
)
def test_what_could_mean_something_else_is_something_else(sql: str, other: str) -> None:
    assert not same_statement(sql, other)


PIECES = st.sampled_from(
    [
        "SELECT ",
        "1",
        "a",
        " ",
        "'x'",
        '"a"',
        "+",
        "-",
        "--",
        "\n",
        "(",
        ")",
        ",",
        "<",
        "=",
        "|",
        ".",
        "5",
        "e",
        "x",
        "X",
        "\u00a0",
        "\x0b",
        "/*",
        "*/",
    ]
)


@given(st.lists(PIECES, max_size=8), st.lists(PIECES, max_size=8))
def test_same_statements_give_the_same_rows(first: list[str], second: list[str]) -> None:
    sql, other = "SELECT " + "".join(first), "SELECT " + "".join(second)
    assume(same_statement(sql, other))
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE t (a, x)")

    def run(text: str) -> object:
        try:
            return db.execute(text).fetchall()
        except (sqlite3.Error, sqlite3.Warning):
            return "refused"

    assert run(sql) == run(other)
    db.close()


def test_brackets_that_are_never_closed_are_read_once() -> None:
    statement = "SELECT " + "[" * 30_000
    tokens = [quoted or plain for quoted, plain in _TOKEN.findall(statement)]
    assert tokens == ["SELECT", "[" * 30_000]  # one by one, each would be read to the end of the text: minutes
    assert same_statement(statement, statement)
