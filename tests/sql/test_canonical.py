"""Whether two queries say the same: layout and spelling make no difference, whatever SQLite tells apart does."""

import itertools
import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from making.fuzzing import tries
from merit.sql import canonical
from merit.types import Limits

LONGEST = Limits().sql_bytes
SAID = "SELECT name, count(*) FROM t AS a WHERE x >= 1.5 AND name <> 'It''s' GROUP BY name"


@pytest.mark.parametrize(
    "same",
    [
        "select NAME,COUNT( * )from T as A where X>=1.5 and Name!='It''s' group by NAME",
        f"\n\t{SAID}\r\n ",
        f"{SAID};",
        f"{SAID} ; \n",
        f"-- counts\n{SAID} -- per name",
        f"/* counts; 'per' \n name */{SAID}; -- done",
        SAID.replace(" ", "/**/"),
        f"{SAID} /* never closed",
    ],
)
def test_layout_comments_case_and_a_last_semicolon_make_no_difference(same: str) -> None:
    assert canonical(same) == canonical(SAID)


DIFFERENT = [
    ("SELECT name FROM t WHERE name = 'one'", "SELECT name FROM t WHERE name = 'One'"),
    ("SELECT name FROM t WHERE name = 'one'", "SELECT name FROM t WHERE name = ' one'"),
    ('SELECT "One" FROM t', 'SELECT "one" FROM t'),  # a text, since there is no such column
    ('SELECT id FROM t WHERE name = "one"', "SELECT id FROM t WHERE name = `one`"),  # a text, and no such column
    ("SELECT id FROM t WHERE name = 'one'", "SELECT id FROM t WHERE name = [one]"),
    ("SELECT id FROM t WHERE id > 2", "SELECT id FROM t WHERE id >= 2"),
    ("SELECT id FROM t WHERE id >= 2", "SELECT id FROM t WHERE id > = 2"),
    ("SELECT id FROM t WHERE id = 2", "SELECT id FROM t WHERE id != 2"),
    ("SELECT id FROM t", "SELECT name FROM t"),
    ("SELECT id, name FROM t", "SELECT name, id FROM t"),
    ("SELECT id FROM t", "SELECT DISTINCT 1 FROM t"),
    ("SELECT CAST(id AS DECIMAL) / 2 FROM t", "SELECT CAST(id AS REAL) / 2 FROM t"),
    ("SELECT CAST('5' AS NUMERIC) / 2", "SELECT CAST('5' AS REAL) / 2"),
    ("SELECT id FROM t LIMIT 1", "SELECT id FROM t FETCH FIRST 1 ROWS ONLY"),  # which SQLite does not know
    ("SELECT id FROM t WHERE lower(name) LIKE lower('One')", "SELECT id FROM t WHERE name ILIKE 'One'"),
    ("SELECT CAST(x AS INTEGER) FROM t", "SELECT x::INTEGER FROM t"),
    ("SELECT name || x FROM t", "SELECT name | | x FROM t"),
    ("SELECT substr(name, 1, 2) FROM t", "SELECT left(name, 2) FROM t"),
    ("SELECT 1", "SELECT 1; SELECT 2"),
    ("SELECT 1", "SELECT 1;;"),
    ("SELECT 5 a", "SELECT 5a"),
    ("SELECT 'a' x, x'41'", "SELECT 'a' x, x '41'"),
    ("SELECT 1e1", "SELECT 1 e1"),
    ("SELECT 1 - 1", "SELECT 1 -- 1"),
    ("SELECT 1", "SELECT 1 /*"),
    ("SELECT É FROM (SELECT 1 AS É, 2 AS é)", "SELECT é FROM (SELECT 1 AS É, 2 AS é)"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_sqlite_tells_apart_is_not_the_same(one: str, other: str, database: Path) -> None:
    assert canonical(one) != canonical(other)
    with closing(opened(database)) as db:  # so that nothing stands here that only looks different
        assert outcome(db, one) != outcome(db, other)


def opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def outcome(db: sqlite3.Connection, sql: str, most_steps: int = 10_000_000) -> object:
    """The rows and their types, in order; None where it fails or takes too many steps, which no machine changes."""
    left = itertools.count(most_steps // 10_000, -1)
    db.set_progress_handler(lambda: next(left) < 0, 10_000)
    try:
        rows = db.execute(sql).fetchall()
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError):
        return None
    return [[(type(cell), cell) for cell in row] for row in rows]


# Any text at all.


@given(st.text())
@example("")
@example(";")
@example("'")
@example('"""')
@example("[")
@example("/*")
@example("--")
@example("\x00\ud800 SELECT")
def test_any_text_has_a_form_and_its_form_is_its_own(text: str) -> None:
    form = canonical(text)
    assert canonical(f" \n{text}" if not text.startswith("\ufeff") else text) == form
    if not form.endswith(";"):
        assert canonical(form) == form


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "SELECT " + "(" * 50_000 + "1" + ")" * 50_000,
        "'" + "''" * 100_000,
        "''" * 100_000 + "'",
        '"' * 200_001,
        "/*" * 100_000,
        "[" * 200_000,
        "SELECT " + "NOT " * 50_000 + "1",
        "1" * 200_000 + "e",
        "." * 200_000,
        "x'" * 100_000,
        "SELECT " + "1+" * 100_000 + "1",
    ],
    ids=lambda text: text[:12],
)
def test_long_and_deep_texts_take_no_long_time(text: str) -> None:
    started = time.process_time()
    canonical(text[:LONGEST])
    assert time.process_time() - started < 10.0  # a square of these lengths takes minutes


@pytest.mark.parametrize("text", ["EXPLAIN SELECT 1", "ALTER TABLE t frobnicate", "PRAGMA x", "SELECT (", "no SQL", ""])
def test_nothing_is_said_about_it(
    text: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    canonical(text)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


# Statements put together from tokens, said in two ways.

TOKENS = st.sampled_from(
    ["SELECT", "DISTINCT", "name", "T", "id", "FROM", "WHERE", "AND", "count", "(", ")", "*", ",", "=", "<>", "<", ">"]
    + [
        "'One'",
        "'a''b'",
        '"One"',
        '"name"',
        "`id`",
        "[name]",
        "1",
        "2.5",
        ".5",
        "1e1",
        "x'41'",
        "||",
        "|",
        "-",
        ".",
        ";",
    ]
    + ["ORDER", "BY", "LIMIT", "AS", "É", "->", "!", "%", "/"]
)
GAPS = st.sampled_from([" ", "\n", "\t ", " \r\n", "/**/", " /* ' */ ", ' -- "\n', "\f"])
BEGINNINGS = st.sampled_from(
    [["SELECT"], ["SELECT", "name", "FROM", "T", "WHERE"], ["SELECT", "*", "FROM", "T", "ORDER", "BY"]]
)


@st.composite
def said_twice(draw: st.DrawFn) -> tuple[list[str], str, str]:
    tokens = draw(BEGINNINGS) + draw(st.lists(TOKENS, min_size=1, max_size=7))
    return tokens, _say(draw, tokens), _say(draw, tokens)


def _say(draw: st.DrawFn, tokens: list[str]) -> str:
    said = ""
    for token in tokens:
        plain = token.isalpha() and token.isascii()
        said += (draw(st.sampled_from([token, token.lower(), token.upper()])) if plain else token) + draw(GAPS)
    return said + draw(st.sampled_from(["", ";", " ;\n"])) if tokens[-1] != ";" else said


@settings(max_examples=tries(4))
@given(said_twice())
@example((["SELECT", "1", ";", ";"], "SELECT 1 ; ;", "select 1;;"))
def test_the_same_tokens_are_the_same_and_give_the_same_rows(said: tuple[list[str], str, str]) -> None:
    _, one, other = said
    form = canonical(one)
    assert canonical(other) == form
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript("CREATE TABLE t (id, name); INSERT INTO t VALUES (1, 'One'), (2, 'one'), (3, x'41');")
        assert outcome(db, one) == outcome(db, other)
        if not form.endswith(";"):  # an empty statement behind the first, which only several semicolons make
            assert outcome(db, form) == outcome(db, one)


@settings(max_examples=tries(4))
@given(said_twice(), TOKENS, st.data())
def test_another_token_is_another_query(said: tuple[list[str], str, str], other: str, data: st.DataObject) -> None:
    tokens = said[0]
    at = data.draw(st.integers(0, len(tokens) - 1))
    if canonical(tokens[at]) != canonical(other) and ";" not in (tokens[at], other):
        assert canonical(" ".join(tokens)) != canonical(" ".join([*tokens[:at], other, *tokens[at + 1 :]]))


# Real models.


def predictions(root: Path) -> Iterator[tuple[str, object, str, str]]:
    """Benchmark, question, database and SQL of every prediction that is here."""
    for path in sorted((root / "predictions").glob("*/*.jsonl")) + sorted((root / "recordings").glob("*/*.jsonl")):
        benchmark = path.name.partition("_")[0] if path.parent.parent.name == "recordings" else path.parent.name
        for line in path.read_text().splitlines():
            record = json.loads(line)
            for sql in record.get("attempts") or [record["sql"]]:
                yield benchmark, record["id"], record["db_id"], sql


def test_candidates_of_real_models_that_say_the_same_give_the_same_rows(real_data: Path) -> None:
    """Both as their models wrote them, and as they are compared; 300 of them, spread over all; more with MERIT_FUZZ."""
    said: dict[tuple[str, object, str, str], set[str]] = defaultdict(set)
    for benchmark, question, db_id, sql in predictions(real_data):
        said[benchmark, question, db_id, canonical(sql)].add(sql)
    groups = [(key, sorted(ways)) for key, ways in said.items() if len(ways) > 1]
    assert len(groups) > 100
    compared = 0
    for (benchmark, _, db_id, form), ways in groups[:: max(1, 500 * len(groups) // (tries() * 300))]:
        folder = real_data / benchmark / ("database" if benchmark == "spider" else "dev_databases")
        path = folder / db_id / f"{db_id}.sqlite"
        if path.is_file():
            with closing(opened(path)) as db:
                db.text_factory = bytes
                found = [outcome(db, sql) for sql in (*ways, form)]
            assert all(one == found[0] for one in found), ways
            compared += 1
    assert compared > 50


def test_a_text_that_cannot_be_run_is_its_own_form() -> None:
    assert canonical("SELECT 1 ;" + " " * LONGEST) == "SELECT 1 ;" + " " * LONGEST
    assert canonical("SELECT 1 ;" + " " * (LONGEST - 10)) == canonical("SELECT 1")
