"""Grounding: each rule by example on a real database, and what it must leave alone."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making.grounding import SCHOOL_DATABASE
from merit.grounding import Grounded, GroundingRule, ground
from merit.grounding.columns import Mender
from merit.grounding.dialects import ENGINE_DIALECTS
from merit.grounding.finding import TooManyNames
from merit.grounding.graph import graph_of
from merit.grounding.ground import ALL_RULES
from merit.sql.sqlite.engine import SQLiteEngine
from merit.types import Column, Error, Limits, Rows, Schema, Status, Table, Verdict


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteEngine]:
    path: Path = tmp_path_factory.mktemp("grounding") / "school.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SCHOOL_DATABASE)
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


def grounded(
    engine: SQLiteEngine, schema: Schema, sql: str, rules: frozenset[GroundingRule] | None = None
) -> Grounded | None:
    verdict = outcome_of(engine, sql)
    assert verdict.status is Status.EXECUTION_ERROR, "an example should be refused by the database"
    return ground(sql, schema, "sqlite", verdict, *([rules] if rules is not None else []))


def rows(engine: SQLiteEngine, sql: str) -> list[tuple[object, ...]]:
    result = engine.execute(sql, Limits())
    assert isinstance(result, Rows), (sql, result)
    return list(result.rows)


EXAMPLES = [
    (
        GroundingRule.QUALIFIER,
        "SELECT T2.name FROM student AS T1 JOIN has_pet AS T2 ON T1.stu_id = T2.stu_id",
        [("Ann",), ("Cid",)],
        "T2.name: T2 (has_pet) has no name; T1 (student) has",
    ),
    (
        GroundingRule.QUALIFIER,
        "SELECT student.name FROM student AS T1 WHERE T1.age > 30",
        [("Cid",)],
        "student.name: there is no student; T1 (student) has it",
    ),
    (
        GroundingRule.QUALIFIER,
        "SELECT T9.name FROM student AS T1 WHERE T1.age > 30",
        [("Cid",)],
        "T9.name: there is no T9; T1 (student) has it",
    ),
    (
        GroundingRule.TABLE_NAME,
        "SELECT Students.name FROM Students WHERE Students.age = 20",
        [("Ann",)],
        "Students: there is no such table; student is",
    ),
    (
        GroundingRule.COLUMN_NAME,
        "SELECT Name FROM student WHERE StuID = 2",
        [("Bob",)],
        "StuID: there is no such column; student has stu_id",
    ),
    (
        GroundingRule.COLUMN_NAME,
        "SELECT T1.name FROM student AS T1 JOIN city AS T2 ON T1.code = T2.code WHERE T2.state = 'FR'",
        [("Bob",)],
        "T1.code: there is no such column; T1 (student) has city_code",
    ),
    (
        GroundingRule.MISSING_JOIN,
        "SELECT name FROM student WHERE city_name = 'Leeds'",
        [("Ann",), ("Cid",)],
        "city_name: no table in the query has city_name; city has, joined by student.city_code = city.code",
    ),
    (
        GroundingRule.MISSING_JOIN,
        "SELECT T1.name FROM student AS T1 WHERE T1.kind = 'dog'",
        [("Cid",)],
        "T1.kind: no table in the query has kind; pet has, joined by has_pet.pet_id = pet.pet_id",
    ),
    (
        GroundingRule.JOIN_CONDITION,
        "SELECT T2.kind FROM student AS T1 JOIN pet AS T2 ON T1.stu_id = T2.owner WHERE T1.name = 'Ann'",
        [("cat",)],
        "T2.owner: T2 (pet) has no owner; joined by has_pet.stu_id = T1.stu_id",
    ),
    (
        GroundingRule.AMBIGUOUS,
        "SELECT stu_id FROM student JOIN has_pet ON student.stu_id = has_pet.stu_id",
        [(1,), (3,)],
        "stu_id: student and has_pet have it; the first is taken",
    ),
    (
        GroundingRule.MISSING_JOIN,
        "SELECT name FROM student WHERE prize = 'gold'",
        [("Bob",)],
        'prize: no table in the query has prize; Prize List has, joined by student.stu_id = "Prize List"."Student Number"',
    ),
    (
        GroundingRule.COLUMN_NAME,
        "SELECT code FROM city WHERE code IN (SELECT code FROM student GROUP BY code HAVING count(*) > 1)",
        [("L",)],
        "code: there is no such column; student has city_code",
    ),
    (
        GroundingRule.TABLE_KEY,
        "SELECT T2.city_name FROM student AS T1 JOIN hometown AS T2 ON T1.city_code = T2.id WHERE T1.name = 'Bob'",
        [("Paris",)],
        "hometown: there is no such table; T1.city_code leads to city",
    ),
    (
        GroundingRule.SUPERFLUOUS_JOIN,
        "SELECT T1.kind FROM pet AS T1 JOIN breed AS T2 ON T1.kind = T2.name WHERE T2.name = 'dog'",
        [("dog",)],
        "breed: there is no such table, and the query does not need it",
    ),
    (
        GroundingRule.ALIAS,
        "SELECT T1.city_code AS home, COUNT(*) FROM student AS T1 GROUP BY T1.home HAVING COUNT(*) > 1",
        [("L", 2)],
        "T1.home: this is the name of a result; T1.city_code stands for it",
    ),
    (
        GroundingRule.COLUMN_NAME,
        "SELECT pet_kind FROM pet WHERE pet_weight > 5",
        [("dog",)],
        "pet_kind: there is no such column; pet has kind",
    ),
    (
        GroundingRule.QUALIFIER,
        "SELECT name FROM school.student WHERE age = 20",
        [("Ann",)],
        "school.student: this is the database's own name",
    ),
    (
        GroundingRule.MISSING_JOIN,
        "SELECT name FROM student WHERE age > (SELECT AVG(age) FROM has_pet) - 5",
        [("Bob",), ("Cid",)],
        "age: no table in the query has age; student_2 (student) has, joined by has_pet.stu_id = student_2.stu_id",
    ),
    (
        GroundingRule.AGGREGATE,
        "SELECT city_code FROM student WHERE COUNT(*) > 1",
        [("L",)],
        "COUNT(*) > 1: an aggregate cannot stand in WHERE; it belongs into HAVING",
    ),
    (
        GroundingRule.AGGREGATE,
        "SELECT name FROM student HAVING age > 30",
        [("Cid",)],
        "age > 30: there are no groups; it belongs into WHERE",
    ),
    (
        GroundingRule.FUNCTION,
        "SELECT LEFT(name, 1) FROM student WHERE stu_id = 2",
        [("B",)],
        "LEFT: SQLite does not have it so; SUBSTRING(name, 1, 1) instead",
    ),
    (
        GroundingRule.SYNTAX,
        "SELECT T1.name FROM student AS T1 WHERE T1 age = 20",
        [("Ann",)],
        "T1 age: age is a column of student; the dot was missing",
    ),
    (
        GroundingRule.SYNTAX,
        "SELECT name FROM student ORDER BY name WHERE age = 20",
        [("Ann",)],
        "the clauses of the query were out of order",
    ),
]


@pytest.mark.parametrize(("rule", "sql", "expected", "why"), EXAMPLES, ids=[f"{e[0]}: {e[1][:40]}" for e in EXAMPLES])
def test_a_rule_by_example(
    engine: SQLiteEngine, schema: Schema, rule: GroundingRule, sql: str, expected: list[tuple[object, ...]], why: str
) -> None:
    found = grounded(engine, schema, sql)
    assert found is not None
    assert (rule, why) in [(change.rule, change.why) for change in found.changes]
    assert sorted(rows(engine, found.sql)) == sorted(expected)
    assert grounded(engine, schema, sql, frozenset(GroundingRule) - {rule}) != found  # switched off, it is not applied


UNTOUCHED = [
    "SELECT nothing FROM student",  # no table has it
    "SELECT count(*) FROM student WHERE count(*) > 1",  # nothing says what to group by
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


def test_a_join_that_cannot_be_made_and_that_nothing_needs_is_left_out() -> None:
    schema = Schema(
        "zoo",
        (Table("animal", (Column("tag", "int"), Column("kind", "text"))), Table("gate", (Column("color", "text"),))),
    )
    sql = "SELECT T1.kind FROM animal AS T1 JOIN gate AS T2 ON T1.owner = T2.winner WHERE T1.tag = 3"
    error = Verdict(Status.EXECUTION_ERROR, "no such column: T1.owner")
    found = ground(sql, schema, "sqlite", error)
    assert found is not None
    assert found.sql == "SELECT T1.kind FROM animal AS T1 WHERE T1.tag = 3"
    assert [change.why for change in found.changes] == [
        "T1.owner: there is no such column to join by, and the query needs nothing else of t2"
    ]
    assert ground(sql.replace("T1.tag", "T2.color"), schema, "sqlite", error) is None  # needed elsewhere


def test_a_text_in_double_quotes_is_not_taken_for_a_column(engine: SQLiteEngine, schema: Schema) -> None:
    found = grounded(
        engine,
        schema,
        'SELECT T2.name FROM student AS T1 JOIN has_pet AS T2 ON T1.stu_id = T2.stu_id WHERE T1.name = "Ann"',
    )
    assert found is not None
    assert [change.rule for change in found.changes] == [GroundingRule.QUALIFIER]
    assert rows(engine, found.sql) == [("Ann",)]


def test_a_name_in_quotes_that_a_table_has_is_not_taken_for_a_text(engine: SQLiteEngine, schema: Schema) -> None:
    found = grounded(engine, schema, "SELECT `name` FROM student WHERE `state` = 'FR'")
    assert found is not None
    assert [change.rule for change in found.changes] == [GroundingRule.MISSING_JOIN]
    assert rows(engine, found.sql) == [("Bob",)]


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


@settings(max_examples=100)
@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_no_text_raises(schema: Schema, words: list[str]) -> None:
    error = Verdict(Status.EXECUTION_ERROR, "no such column: x")
    for sql in (" ".join(words), "SELECT " + " ".join(words), "SELECT name FROM student WHERE " + " ".join(words)):
        ground(sql, schema, "sqlite", error)


def test_the_same_query_is_grounded_the_same_way(engine: SQLiteEngine, schema: Schema) -> None:
    for _, sql, _, _ in EXAMPLES:
        assert grounded(engine, schema, sql) == grounded(engine, schema, sql)


def test_a_query_of_too_many_names_is_left_alone_before_it_takes_long(schema: Schema) -> None:
    unknown = ",".join(f"nam{number}" for number in range(400))
    sources = ",".join(f"student a{number}" for number in range(100))
    sql, error = f"SELECT {unknown} FROM {sources}", Verdict(Status.EXECUTION_ERROR, "no such column: x")
    tree = ENGINE_DIALECTS["sqlite"].parse(sql)
    assert tree is not None
    with pytest.raises(TooManyNames):
        Mender(tree, graph_of(schema), ALL_RULES, ENGINE_DIALECTS["sqlite"], "").mend()
    assert ground(sql, schema, "sqlite", error) is None


def test_many_keys_between_tables_are_not_listed_one_by_one() -> None:
    def keys(to: str) -> list[Column]:
        return [Column(f"c{i}", "int", foreign_keys=tuple(f"{to}.c{j}" for j in range(50))) for i in range(50)]

    plain = [Column(f"c{i}", "int") for i in range(50)]
    tables = [Table(f"t{i}", tuple(keys(f"t{i + 1}"))) for i in range(3)] + [Table("t3", (*plain, Column("z", "int")))]
    schema, error = Schema("keys", tuple(tables)), Verdict(Status.EXECUTION_ERROR, "no such column: z")
    assert ground("SELECT z FROM t0", schema, "sqlite", error) is None
    assert len(graph_of(schema).paths("t0", "t3")) == 2


def test_an_empty_name_in_a_join_raises_nothing(schema: Schema) -> None:
    sql = "SELECT x FROM student, (city t2 LEFT JOIN [] t2) AS t1 ON a = 1 LEFT JOIN has_pet AS t1 USING (stu_id)"
    ground(sql, schema, "sqlite", Verdict(Status.EXECUTION_ERROR, "no such column: x"))


def test_nothing_of_a_query_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    code = """
from merit.grounding import ground
from merit.types import Column, Schema, Status, Table, Verdict
schema = Schema("x", (Table("student", (Column("name", "text"),)),))
for sql in ("SHOW name FROM student LIMIT", "SELECT nam FROM student AS s(a, b)", "SELECT nam FROM (SELECT 1 AS a) LIMIT b"):
    ground(sql, schema, "sqlite", Verdict(Status.EXECUTION_ERROR, "no such column: nam"))
"""
    subprocess.run([sys.executable, "-c", code], check=True)  # by itself: pytest has a handler for every log
    assert capfd.readouterr() == ("", "")


def test_a_table_that_is_named_is_joined_by_the_one_column_it_shares() -> None:
    schema = Schema(
        "places",
        (
            Table("restaurant", (Column("id", "int"), Column("city_name", "text"), Column("rating", "real"))),
            Table("geographic", (Column("city_name", "text"), Column("region", "text"), Column("rating", "real"))),
            Table("location", (Column("restaurant_id", "int"), Column("city_name", "text"))),
        ),
    )
    for wrong in ("SELECT geographic.region FROM restaurant", "SELECT geographic.rating FROM restaurant"):
        column = wrong.split()[1]
        found = ground(wrong, schema, "sqlite", Verdict(Status.EXECUTION_ERROR, f"no such column: {column}"))
        assert found is not None
        assert found.sql == f"{wrong} JOIN geographic ON restaurant.city_name = geographic.city_name"
