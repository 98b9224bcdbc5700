"""Whatever text comes, the judge answers with a verdict, in time, without an exception.

MERIT_FUZZ=N runs N examples (N / 2 of plain texts) instead of the default.
"""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making.clock import STALL_S
from making.fuzzing import tries
from merit.bundled import library as example
from merit.data import Dataset, load
from merit.oracle import Judge, open_judge
from merit.types import Cause, Status, Verdict

TIMEOUT_S = 1.0


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Dataset, Judge]]:
    root = tmp_path_factory.mktemp("fuzz")
    example.build(root)
    dataset = load("spider", root)
    before = dataset.content_hash()
    judge = open_judge(dataset, "suite", cache=None, timeout_s=TIMEOUT_S)
    yield dataset, judge
    judge.close()
    assert dataset.content_hash() == before  # and nothing was written


names = st.sampled_from(
    ["book", "author", "loan", "member", "name", "title", "price", "year", "author_id", "b", "nope", "rowid"]
)
literals = st.sampled_from(
    ["1", "0", "-1", "1.5", "'a'", '"b"', "NULL", "x'00ff'", "9223372036854775807", "1e999", "?1", "'%'"]
)
functions = st.sampled_from(
    ["count", "max", "sum", "avg", "abs", "hex", "zeroblob", "randomblob", "printf", "group_concat", "json_group_array"]
    + [
        "replace",
        "substr",
        "like",
        "glob",
        "instr",
        "char",
        "quote",
        "total",
        "upper",
        "date",
        "load_extension",
        "nope",
    ]
)
operators = st.sampled_from(
    [" + ", " || ", " = ", " < ", " > = ", " AND ", " OR ", " LIKE ", " IN ", " IS ", " / ", " % ", ", ", " -> "]
)


def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{}({})".format, functions, inner),
        st.builds("{}({}, {})".format, functions, inner, inner),
        st.builds("{}{}{}".format, inner, operators, inner),
        st.builds("(SELECT {} FROM {})".format, inner, names),
        st.builds("CASE WHEN {} THEN {} END".format, inner, inner),
        st.builds("DISTINCT {}".format, inner),
        st.builds("({})".format, inner),
    )


expressions = st.recursive(st.one_of(names, literals), grow, max_leaves=8)
queries = st.one_of(
    st.builds("SELECT {} FROM {}".format, expressions, names),
    st.builds("SELECT {} FROM {}, {} WHERE {}".format, expressions, names, names, expressions),
    st.builds("SELECT {} FROM {} GROUP BY {} HAVING {} ORDER BY {}".format, *[expressions] * 5),
    st.builds("WITH w AS (SELECT {}) SELECT {} FROM w".format, expressions, expressions),
    st.builds(
        "WITH RECURSIVE w(b) AS (SELECT {} UNION ALL SELECT {} FROM w LIMIT 99) SELECT {} FROM w".format,
        *[expressions] * 3,
    ),
    st.builds("{} UNION SELECT {}".format, expressions, expressions),
    st.builds("SELECT {}; {}".format, expressions, expressions),
    st.builds("UPDATE {} SET {} = {}".format, names, names, expressions),
    st.builds("INSERT INTO {} SELECT {} RETURNING {}".format, names, expressions, expressions),
    st.builds(
        "PRAGMA {}({})".format, st.sampled_from(["table_info", "user_version", "query_only", "nope"]), expressions
    ),
    st.builds("EXPLAIN {}".format, expressions),
)
anything = st.one_of(
    st.text(max_size=60),
    st.text(st.characters(codec=None), max_size=30),  # lone surrogates too
    st.text("();'\"`[]-/*,;\\\0$#@: \n", max_size=60),
    st.binary(max_size=40).map(lambda junk: junk.decode("latin-1")),
)


def check(fuzzed: tuple[Dataset, Judge], sql: str, which: int) -> None:
    dataset, judge = fuzzed
    started = time.monotonic()
    verdict = judge.judge(dataset.questions[which % len(dataset.questions)], sql)
    took = time.monotonic() - started
    assert isinstance(verdict, Verdict)
    assert (verdict.error is None) == (verdict.status in (Status.CORRECT, Status.DENOTATION_MISMATCH))
    assert (verdict.cause is Cause.TIMEOUT) == (verdict.status is Status.TIMEOUT)
    assert took < 2 * TIMEOUT_S + STALL_S  # two databases


@settings(max_examples=tries())
@given(queries, st.integers(0, 9))
def test_no_query_escapes_the_judge(fuzzed: tuple[Dataset, Judge], sql: str, which: int) -> None:
    check(fuzzed, sql, which)


@settings(max_examples=tries(2))
@given(anything, st.integers(0, 9))
def test_no_text_escapes_the_judge(fuzzed: tuple[Dataset, Judge], sql: str, which: int) -> None:
    check(fuzzed, sql, which)
