"""Grounding: each rule by example on a real database, and what it must leave alone."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merit.grounding import Grounded, Rule, ground
from merit.sql.sqlite.engine import SQLiteEngine
from merit.types import Column, Error, Limits, Rows, Schema, Status, Table, Verdict

DATABASE = """
    CREATE TABLE student (stu_id INTEGER PRIMARY KEY, name TEXT, age INTEGER, city_code TEXT REFERENCES city(code));
    CREATE TABLE city (code TEXT PRIMARY KEY, city_name TEXT, state TEXT);
    CREATE TABLE has_pet (stu_id INTEGER REFERENCES student(stu_id), pet_id INTEGER REFERENCES pet(pet_id));
    CREATE TABLE pet (pet_id INTEGER PRIMARY KEY, kind TEXT, weight REAL);
    CREATE TABLE "Prize List" (prize TEXT, "Student Number" INTEGER REFERENCES student(stu_id));
    INSERT INTO city VALUES ('L', 'Leeds', 'UK'), ('P', 'Paris', 'FR');
    INSERT INTO student VALUES (1, 'Ann', 20, 'L'), (2, 'Bob', 30, 'P'), (3, 'Cid', 40, 'L');
    INSERT INTO pet VALUES (10, 'cat', 3.5), (11, 'dog', 9.0);
    INSERT INTO has_pet VALUES (1, 10), (3, 11);
    INSERT INTO "Prize List" VALUES ('gold', 2);
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteEngine]:
    path: Path = tmp_path_factory.mktemp("grounding") / "school.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(DATABASE)
    engine = SQLiteEngine(path, frozen=True)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def schema(engine: SQLiteEngine) -> Schema:
    return engine.schema()


def outcome_of(engine: SQLiteEngine, sql: str) -> Verdict:
    result = engine.execute(sql, Limits())
    if isinstance(result, Error):
        return Verdict(Status.EXECUTION_ERROR, result.message, result.cause)
    return Verdict(Status.EXECUTED, result="")


def grounded(engine: SQLiteEngine, schema: Schema, sql: str, rules: frozenset[Rule] | None = None) -> Grounded | None:
    verdict = outcome_of(engine, sql)
    assert verdict.status is Status.EXECUTION_ERROR, "an example should be refused by the database"
    return ground(sql, schema, "sqlite", verdict, *([rules] if rules is not None else []))


def rows(engine: SQLiteEngine, sql: str) -> list[tuple[object, ...]]:
    result = engine.execute(sql, Limits())
    assert isinstance(result, Rows), (sql, result)
    return list(result.rows)


EXAMPLES = [
    (
        Rule.QUALIFIER,
        "SELECT T2.name FROM student AS T1 JOIN has_pet AS T2 ON T1.stu_id = T2.stu_id",
        [("Ann",), ("Cid",)],
        "T2.name: T2 (has_pet) has no name; T1 (student) has",
    ),
    (
        Rule.QUALIFIER,
        "SELECT student.name FROM student AS T1 WHERE T1.age > 30",
        [("Cid",)],
        "student.name: there is no student; T1 (student) has it",
    ),
    (
        Rule.QUALIFIER,
        "SELECT T9.name FROM student AS T1 WHERE T1.age > 30",
        [("Cid",)],
        "T9.name: there is no T9; T1 (student) has it",
    ),
    (
        Rule.TABLE_NAME,
        "SELECT Students.name FROM Students WHERE Students.age = 20",
        [("Ann",)],
        "Students: there is no such table; student is",
    ),
    (
        Rule.COLUMN_NAME,
        "SELECT Name FROM student WHERE StuID = 2",
        [("Bob",)],
        "StuID: there is no such column; student has stu_id",
    ),
    (
        Rule.COLUMN_NAME,
        "SELECT T1.name FROM student AS T1 JOIN city AS T2 ON T1.code = T2.code WHERE T2.state = 'FR'",
        [("Bob",)],
        "T1.code: there is no such column; T1 (student) has city_code",
    ),
    (
        Rule.MISSING_JOIN,
        "SELECT name FROM student WHERE city_name = 'Leeds'",
        [("Ann",), ("Cid",)],
        "city_name: no table in the query has city_name; city has, joined by student.city_code = city.code",
    ),
    (
        Rule.MISSING_JOIN,
        "SELECT T1.name FROM student AS T1 WHERE T1.kind = 'dog'",
        [("Cid",)],
        "T1.kind: no table in the query has kind; pet has, joined by has_pet.pet_id = pet.pet_id",
    ),
    (
        Rule.JOIN_CONDITION,
        "SELECT T2.kind FROM student AS T1 JOIN pet AS T2 ON T1.stu_id = T2.owner WHERE T1.name = 'Ann'",
        [("cat",)],
        "T2.owner: T2 (pet) has no owner; joined by has_pet.stu_id = T1.stu_id",
    ),
    (
        Rule.AMBIGUOUS,
        "SELECT stu_id FROM student JOIN has_pet ON student.stu_id = has_pet.stu_id",
        [(1,), (3,)],
        "stu_id: student and has_pet have it; the first is taken",
    ),
    (
        Rule.MISSING_JOIN,
        "SELECT name FROM student WHERE prize = 'gold'",
        [("Bob",)],
        'prize: no table in the query has prize; Prize List has, joined by student.stu_id = "Prize List"."Student Number"',
    ),
    (
        Rule.COLUMN_NAME,
        "SELECT code FROM city WHERE code IN (SELECT code FROM student GROUP BY code HAVING count(*) > 1)",
        [("L",)],
        "code: there is no such column; student has city_code",
    ),
]


@pytest.mark.parametrize(("rule", "sql", "expected", "why"), EXAMPLES, ids=[f"{e[0]}: {e[1][:40]}" for e in EXAMPLES])
def test_a_rule_by_example(
    engine: SQLiteEngine, schema: Schema, rule: Rule, sql: str, expected: list[tuple[object, ...]], why: str
) -> None:
    found = grounded(engine, schema, sql)
    assert found is not None
    assert (rule, why) in [(change.rule, change.why) for change in found.changes]
    assert sorted(rows(engine, found.sql)) == sorted(expected)
    assert grounded(engine, schema, sql, frozenset(Rule) - {rule}) != found  # switched off, it is not applied


UNTOUCHED = [
    "SELECT nothing FROM student",  # no table has it
    "SELECT name FROM student WHERE count(*) > 1",  # refused for another reason
    "SELECT FROM WHERE",
    "DELETE FROM studnt",
    "",
    "SELECT x.a FROM (SELECT 1 AS b) AS x",
]


@pytest.mark.parametrize("sql", UNTOUCHED)
def test_what_the_schema_cannot_tell_is_left_alone(engine: SQLiteEngine, schema: Schema, sql: str) -> None:
    assert grounded(engine, schema, sql) is None


def test_a_query_that_ran_is_left_alone(engine: SQLiteEngine, schema: Schema) -> None:
    broken = "SELECT T2.name FROM student AS T1 JOIN has_pet AS T2 ON T1.stu_id = T2.stu_id"
    for status in (Status.EXECUTED, Status.CORRECT, Status.DENOTATION_MISMATCH, Status.TIMEOUT):
        assert ground(broken, schema, "sqlite", Verdict(status)) is None


def test_two_paths_to_a_column_are_one_too_many() -> None:
    ends = [Column(name, "text", foreign_keys=("airport.code",)) for name in ("start", "goal")]
    airport = Table("airport", (Column("code", "text", primary_key=True), Column("town", "text")))
    schema = Schema("flights", (Table("flight", (Column("id", "int"), *ends)), airport))
    error = Verdict(Status.EXECUTION_ERROR, "no such column: town")
    assert ground("SELECT id FROM flight WHERE town = 'Oslo'", schema, "sqlite", error) is None


def test_a_text_in_double_quotes_is_not_taken_for_a_column(engine: SQLiteEngine, schema: Schema) -> None:
    found = grounded(
        engine,
        schema,
        'SELECT T2.name FROM student AS T1 JOIN has_pet AS T2 ON T1.stu_id = T2.stu_id WHERE T1.name = "Ann"',
    )
    assert found is not None
    assert [change.rule for change in found.changes] == [Rule.QUALIFIER]
    assert rows(engine, found.sql) == [("Ann",)]


WORDS = [
    "SELECT",
    "FROM",
    "WHERE",
    "JOIN",
    "ON",
    "AS",
    "T1",
    "T2",
    "student",
    "has_pet",
    "pet",
    "city",
    "name",
    "kind",
    "code",
]
WORDS += [
    "stu_id",
    "T1.name",
    "T2.kind",
    "T9.x",
    "(",
    ")",
    ",",
    "=",
    "*",
    "IN",
    "GROUP BY",
    "ORDER BY",
    "UNION",
    "WITH",
    "'a'",
]
WORDS += [
    '"b"',
    "count(*)",
    "1",
    ".",
    "NOT",
    "EXISTS",
    "HAVING",
    "LIMIT",
    "EXCEPT",
    "LEFT",
    "USING",
    "NATURAL",
    "CASE",
    "END",
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_no_text_raises(schema: Schema, words: list[str]) -> None:
    error = Verdict(Status.EXECUTION_ERROR, "no such column: x")
    for sql in (" ".join(words), "SELECT " + " ".join(words), "SELECT name FROM student WHERE " + " ".join(words)):
        ground(sql, schema, "sqlite", error)


def test_damaged_queries_raise_nothing(schema: Schema) -> None:
    draw = random.Random(0)
    error = Verdict(Status.EXECUTION_ERROR, "no such column: x")
    for _ in range(1500):
        letters = list(draw.choice(EXAMPLES)[1])
        for _ in range(draw.randrange(1, 5)):
            letters[draw.randrange(len(letters))] = draw.choice("(),.'\"`* \x00é;T")
        ground("".join(letters), schema, "sqlite", error)


def test_the_same_query_is_grounded_the_same_way(engine: SQLiteEngine, schema: Schema) -> None:
    for _, sql, _, _ in EXAMPLES:
        assert grounded(engine, schema, sql) == grounded(engine, schema, sql)
