"""Damaged queries: grounding raises nothing, whatever the text, the dialect and the message are.

300 texts by default, as many as MERIT_FUZZ says otherwise.
"""

import os
import random
import time

import pytest

from making.grounding import SCHOOL_QUERIES, SCHOOL_SCHEMA
from merit.grounding import Grounded, GroundingRule, ground
from merit.types import DIALECTS, Column, Schema, Status, Table, Verdict

TEXTS = int(os.environ.get("MERIT_FUZZ", "300"))
MESSAGES = (
    "no such column: T2.name",
    'near "(": syntax error',
    "no such table: pets",
    "misuse of aggregate: COUNT()",
    'column "name" must appear in the GROUP BY clause or be used in an aggregate function',
    "operator does not exist: bigint = text",
    "function round(double precision, integer) does not exist",
    "",
)
PIECES = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "BY",
    "LIMIT",
    "1,",
    "2",
    "UNION",
    "JOIN",
    "ON",
    "AS",
    "DISTINCT",
    "(",
    ")",
    ",",
    ".",
    ";",
    "*",
    "=",
    "::",
    "||",
    "'",
    '"',
    "`",
    "[",
    "]",
    "COUNT(*)",
    "MAX(COUNT(*))",
    "YEAR(x)",
    "DATEDIFF(day,",
    "a,",
    "b)",
    "INTERVAL",
    "3",
    "DAY",
    "TOP",
    "5",
    "ILIKE",
    "NULL",
    "T1",
    "T2.name",
    "'text'",
    '"b"',
    "é",
    "日本",
    "\x00",
    "CASE",
    "WHEN",
    "END",
    "IN",
    "EXISTS",
    "NOT",
    "ALL",
    "ANY",
    "WITH",
    "OVER",
    "FILTER",
    "USING",
    "NATURAL",
    "LEFT",
    "student",
    "😀",
    "--",
    "/*",
    "*/",
    "```",
    "</answer>",
]


def damaged(draw: random.Random) -> str:
    """A query with some tokens swapped, cut, doubled, replaced or nested."""
    tokens = draw.choice(SCHOOL_QUERIES).split(" ")
    for _ in range(draw.randrange(1, 6)):
        at, other = draw.randrange(len(tokens)), draw.randrange(len(tokens))
        kind = draw.randrange(7)
        if kind == 0:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 1:
            tokens = tokens[: max(1, at)]
        elif kind == 2:
            tokens[at] = draw.choice(PIECES)
        elif kind == 3:
            tokens.insert(at, draw.choice(PIECES))
        elif kind == 4:
            tokens[at] = draw.choice("'\"`[") + tokens[at] + draw.choice("'\"`]")
        elif kind == 5:
            tokens[at] = tokens[at][: draw.randrange(len(tokens[at]) + 1)] + draw.choice("é\x00😀'\"`;\\")
        else:
            depth = draw.choice((1, 2, 3, 30))
            tokens = [*["(SELECT"] * depth, *tokens, *[")"] * draw.choice((depth, depth - 1))]
    return " ".join(tokens)


def test_no_damaged_query_raises() -> None:
    draw = random.Random(20261116)
    for _ in range(TEXTS):
        sql, dialect, message = damaged(draw), draw.choice(list(DIALECTS)), draw.choice(MESSAGES)
        rules = frozenset(rule for rule in GroundingRule if draw.random() < 0.9)
        try:
            found = ground(sql, SCHOOL_SCHEMA, dialect, Verdict(Status.EXECUTION_ERROR, message), rules)
        except Exception as error:
            raise AssertionError(f"{dialect}, {message!r}: {sql!r}") from error
        assert found is None or isinstance(found, Grounded)
        assert found is None or {change.rule for change in found.changes} <= rules


def test_deep_nesting_raises_nothing() -> None:
    error = Verdict(Status.EXECUTION_ERROR, "no such column: x")
    for depth in (7, 24, 100):
        for sql in (
            "SELECT " + "(" * depth + "name" + ")" * depth + " FROM student",
            "SELECT name FROM student WHERE stu_id IN "
            + "(SELECT stu_id FROM student WHERE x IN " * depth
            + "(1)"
            + ")" * depth,
            "SELECT " + "YEAR(" * depth + "name" + ")" * depth + " FROM student",
            " UNION ".join(["SELECT nam FROM student"] * depth),
            "SELECT name FROM student WHERE " + " AND ".join(["x = 1"] * depth),
        ):
            ground(sql, SCHOOL_SCHEMA, "sqlite", error)


def test_what_names_hundreds_of_columns_or_tables_is_left_alone() -> None:
    """Each column is held against each table: 20 KB of them took minutes, with no time limit around it."""
    error = Verdict(Status.EXECUTION_ERROR, "no such column: citycode")
    honest = "SELECT citycode, " + ", ".join(["name"] * 500) + " FROM student"
    assert ground(honest, SCHOOL_SCHEMA, "sqlite", error) is not None
    for sql in (
        "SELECT " + ", ".join(["citycode"] * 700) + " FROM student",
        "SELECT student.citycode FROM student" + ", student" * 600,
        "SELECT citycode FROM student WHERE " + " AND ".join(["name = 1"] * 350),
    ):
        assert ground(sql, SCHOOL_SCHEMA, "sqlite", error) is None


def test_what_sqlglot_stumbles_over_is_left_alone() -> None:
    """An AttributeError in sqlglot, which ended the run."""
    sql = "SELECT name FROM student JOIN LATERAL . AS T1"
    assert ground(sql, SCHOOL_SCHEMA, "sqlite", Verdict(Status.EXECUTION_ERROR, "")) is None


WIDE_SCHEMA = Schema("wide", tuple(Table(f"table_{i}", (Column("x", "int"), Column("y", "int"))) for i in range(1500)))
LONG_TEXTS = {
    "semicolons before a word": "SELECT name FROM student" + " ;" * 9_900 + "x",
    "spaces before a word": "SELECT name FROM student" + " " * 19_900 + "x",
    "one long number": "SELECT " + "9" * 19_900,
    "many calls": "SELECT " + ",".join(["year(" * 7 + "a" + ")" * 7] * 400),
    "names that no table of many has": "SELECT " + ", ".join(f"c{i}" for i in range(2_500)) + " FROM table_0",
}


@pytest.mark.parametrize("text", LONG_TEXTS)
def test_a_long_text_takes_no_time(text: str) -> None:
    """Each took from 3 to 20 seconds, in the process of the run itself."""
    started = time.process_time()
    ground(LONG_TEXTS[text], WIDE_SCHEMA, "sqlite", Verdict(Status.EXECUTION_ERROR, "no such column: a"))
    assert time.process_time() - started < 10.0
