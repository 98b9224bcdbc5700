"""What happens to a query's text before Spider's evaluator runs it."""

import json
import time
from pathlib import Path

import pytest
import sqlparse
from hypothesis import given
from hypothesis import strategies as st

from merit.oracle.rewrite import _as_sqlparse_reads_it, order_matters, rewrite, rewrite_keeping_distinct


def by_sqlparse(sql: str) -> str:
    """DISTINCT dropped from the first statement, straight from sqlparse."""
    statements = sqlparse.parse(sql)
    if not statements:
        return ""
    tokens = statements[0].flatten()  # type: ignore[no-untyped-call]
    return "".join(token.value for token in tokens if token.value.lower() != "distinct")


@pytest.mark.parametrize(
    ("sql", "rewritten"),
    [
        ("SELECT a FROM b", "SELECT a FROM b"),
        ("SELECT DISTINCT a FROM b", "SELECT  a FROM b"),
        ("SELECT count(distinct a), DISTINCT(b)", "SELECT count( a), (b)"),
        ("SELECT 'distinct', \"Distinct\" FROM b", "SELECT 'distinct', \"Distinct\" FROM b"),
        ("SELECT distinctive FROM b", "SELECT distinctive FROM b"),
        ("SELECT di\u017ftinct FROM b", "SELECT di\u017ftinct FROM b"),  # a long s
        ("SELECT a FROM b WHERE c > = 1 AND d ! = 2 AND e < = 3", "SELECT a FROM b WHERE c >= 1 AND d != 2 AND e <= 3"),
        ("SELECT 1; SELECT 2", "SELECT 1; "),
        ("SELECT 1;", "SELECT 1;"),
        ("SELECT YEAR ( CURDATE ( ) ) - born", "SELECT 2020- born"),
        ("", ""),
        ("  ", "  "),
    ],
)
def test_by_example(sql: str, rewritten: str) -> None:
    assert rewrite(sql) == rewritten


@pytest.mark.parametrize(
    ("sql", "rewritten"),
    [
        ("SELECT DISTINCT a FROM b", "SELECT DISTINCT a FROM b"),
        ("SELECT a FROM b WHERE c > = 1 AND d ! = 2 AND e < = 3", "SELECT a FROM b WHERE c >= 1 AND d != 2 AND e <= 3"),
        ("SELECT YEAR ( CURDATE ( ) ) - born", "SELECT 2020- born"),
        ("SELECT 1; SELECT 2", "SELECT 1; SELECT 2"),  # nothing is cut off, so that it fails
        ("-- distinct\nSELECT 1", "-- distinct\nSELECT 1"),
    ],
)
def test_with_distinct_kept(sql: str, rewritten: str) -> None:
    assert rewrite_keeping_distinct(sql) == rewritten


PIECES = st.sampled_from(
    [
        "SELECT",
        " ",
        "DISTINCT",
        "distinct",
        "\n",
        "(",
        ")",
        ",",
        "a",
        "t1.b",
        "'x'",
        "'it''s'",
        '"y z"',
        "`q`",
        ";",
        "--",
        "/*",
    ]
    + [
        "*/",
        "GO",
        "[x]",
        "#",
        "\\",
        "$1",
        "= 1",
        "1.5",
        "count(",
        "é",
        "@v",
        ":p",
        "´",
        "'",
        '"',
        "AS",
        "BEGIN",
        "END",
        "CASE",
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join))
def test_the_fast_way_reads_like_sqlparse(sql: str) -> None:
    if sql.strip():
        assert rewrite(sql) == by_sqlparse(sql)


def test_real_queries_read_like_sqlparse(real_data: Path) -> None:
    queries = {entry["query"] for entry in json.loads((real_data / "spider" / "dev.json").read_text())}
    for path in (real_data / "predictions" / "spider").glob("*.jsonl"):
        queries |= {json.loads(line)["sql"] for line in path.read_text().splitlines()}
    plain = [sql for sql in queries if not any(mark in sql for mark in ("> =", "< =", "! =", "CURDATE"))]
    assert len(plain) > 2_000
    for sql in plain:
        assert rewrite(sql) == by_sqlparse(sql)


def test_order_matters_exactly_where_the_reference_says_order_by() -> None:
    assert order_matters("SELECT a FROM b ORDER BY a")
    assert not order_matters("SELECT a FROM b")
    assert not order_matters("SELECT a FROM b ORDER  BY a")  # two spaces, as the official check has it


@pytest.mark.parametrize("length", [10_000, 100_000])
@pytest.mark.parametrize("piece", ["1", "a1", "1distinct ", "[", "(", "E+", "$", "</", "distinct;", "'", "%a", "; "])
@pytest.mark.parametrize("before", ["SELECT ", "%", "[ "])
def test_no_text_takes_long_to_rewrite(before: str, piece: str, length: int) -> None:
    """It happens in our own process, before any limit on a statement."""
    text = (before + length * piece)[:length]
    started = time.process_time()
    rewrite(text)
    assert time.process_time() - started < 10.0  # a tenth of it on a quiet machine; a square would take minutes


def test_a_long_query_still_loses_its_distinct() -> None:
    """Texts that are too long for the official parser are read by a simpler rule, which knows quotes."""
    values = ", ".join(f"'at 10:{number} distinct'" for number in range(1_000))
    query = "SELECT {}a, '[#1]' FROM b WHERE c IN (" + values + ")"
    assert len(query) > 10_000
    assert rewrite(query.format("DISTINCT ")) == query.format(" ")
    assert by_sqlparse(query.format("DISTINCT ")) == query.format(" ")
    assert rewrite(query.format("DISTINCT ") + "'") == query.format("DISTINCT ") + "'"  # a quote that is never closed


@pytest.mark.parametrize("text", ["SELECT 1distinct", "SELECT %adistinct", "SELECT x9_DISTINCT", "SELECT adistinct, 5"])
def test_a_distinct_inside_a_word_is_left_to_the_official_parser(text: str) -> None:
    assert rewrite(text) == _as_sqlparse_reads_it(text)
