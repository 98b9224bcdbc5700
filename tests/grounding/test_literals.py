"""Literals that no row has: which are replaced, and which are left alone."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merit.grounding import Grounded, GroundingRule, ground_values
from merit.sql import SQLiteEngine
from merit.types import Column, Limits, Rows, Schema, Table
from merit.values import ColumnValues, ValueIndex, build_values

DATABASE = """
    CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT, capital TEXT, population INTEGER);
    CREATE TABLE city (name TEXT, country_code TEXT REFERENCES country(code), kind TEXT);
    INSERT INTO country VALUES ('US', 'United States', 'Washington', 330), ('FR', 'France', 'Paris', 68);
    INSERT INTO country VALUES ('CV', 'Côte Verte', 'Aigue', 1), ('XX', 'france nouvelle', 'Neuve', 2);
    INSERT INTO city VALUES ('New York', 'US', 'port'), ('Paris', 'FR', 'Capital'), ('O''Fallon', 'US', 'suburb');
    INSERT INTO city VALUES ('Springfield', 'US', 'town'), ('SPRINGFIELD', 'US', 'town');
"""

ONE_COLUMN = Schema("one", (Table("t", (Column("c", "TEXT"),)),))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteEngine]:
    path: Path = tmp_path_factory.mktemp("literals") / "world.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(DATABASE)
    engine = SQLiteEngine(path, frozen=True)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def schema(engine: SQLiteEngine) -> Schema:
    return engine.schema()


@pytest.fixture(scope="module")
def values(engine: SQLiteEngine, schema: Schema) -> ValueIndex:
    return build_values(engine, schema).index


def rows(engine: SQLiteEngine, sql: str) -> list[tuple[object, ...]]:
    result = engine.execute(sql, Limits())
    assert isinstance(result, Rows), result
    return list(result.rows)


EXAMPLES = [
    (
        "SELECT population FROM country WHERE name = 'united states'",
        [(330,)],
        "country.name = 'united states': no row has it; 'United States' is stored",
    ),
    (
        "SELECT T1.capital FROM country AS T1 WHERE 'UnitedStates' = T1.name",
        [("Washington",)],
        "country.name = 'UnitedStates': no row has it; 'United States' is stored",
    ),
    (
        "SELECT capital FROM country WHERE name = 'cote verte'",
        [("Aigue",)],
        "country.name = 'cote verte': no row has it; 'Côte Verte' is stored",
    ),
    (
        "SELECT name FROM city WHERE kind IN ('ports', 'villages')",
        [("New York",)],
        "city.kind IN 'ports': no row has it; 'port' is stored",
    ),
    (
        'SELECT kind FROM city WHERE name = "new york"',
        [("port",)],
        "city.name = 'new york': no row has it; 'New York' is stored",
    ),
    (
        "SELECT kind FROM city WHERE name = 'o''fallon'",
        [("suburb",)],
        "city.name = 'o''fallon': no row has it; 'O''Fallon' is stored",
    ),
    (
        "SELECT code FROM country WHERE name LIKE 'Côte  verte'",
        [("CV",)],
        "country.name LIKE 'Côte  verte': no row has it; 'Côte Verte' is stored",
    ),
    (
        "SELECT name FROM country WHERE code IN (SELECT country_code FROM city WHERE kind = 'Port')",
        [("United States",)],
        "city.kind = 'Port': no row has it; 'port' is stored",
    ),
    (
        "SELECT c.kind FROM city AS c JOIN country AS l ON c.country_code = l.code AND l.capital = 'PARIS'",
        [("Capital",)],
        "country.capital = 'PARIS': no row has it; 'Paris' is stored",
    ),
    (
        "SELECT name FROM city WHERE EXISTS (SELECT 1 FROM country WHERE code = country_code AND kind = 'PORT')",
        [("New York",)],
        "city.kind = 'PORT': no row has it; 'port' is stored",
    ),
]


@pytest.mark.parametrize(("sql", "expected", "why"), EXAMPLES, ids=[example[0][-40:] for example in EXAMPLES])
def test_a_literal_becomes_the_stored_text(
    engine: SQLiteEngine, schema: Schema, values: ValueIndex, sql: str, expected: list[tuple[object, ...]], why: str
) -> None:
    assert rows(engine, sql) == [], "an example should give no rows"
    found = ground_values(sql, schema, "sqlite", values)
    assert found is not None
    assert rows(engine, found.sql) == expected
    assert [(change.rule, change.why) for change in found.changes] == [(GroundingRule.VALUE, why)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM country WHERE name = 'France'",  # is stored
        "SELECT * FROM country WHERE name = 'Atlantis'",  # nothing is like it
        "SELECT * FROM country WHERE name = 'FRANCES NOUVELLE CITY'",
        "SELECT * FROM city WHERE name = 'springfield'",  # two are like it
        "SELECT * FROM country WHERE name LIKE 'united state_'",  # has a wildcard
        "SELECT * FROM country WHERE name LIKE 'united states'",  # SQLite's LIKE knows no case
        "SELECT * FROM country WHERE LOWER(name) = 'United States'",  # not the column itself
        "SELECT * FROM country WHERE population = '3 30'",  # a number
        "SELECT * FROM country JOIN city ON code = country_code WHERE name = 'PARIS'",  # of which table?
        "SELECT * FROM (SELECT name AS n FROM country) AS t WHERE n = 'FRANCE'",  # a column of a query
        "SELECT * FROM elsewhere WHERE name = 'FRANCE'",
        'SELECT * FROM country WHERE name = "Capital"',  # a column, not a text
        "DELETE FROM country WHERE name = 'FRANCE'",
        "SELECT * FROM country WHERE name = 'FRANCE",
        "",
    ],
)
def test_anything_else_is_left_alone(schema: Schema, values: ValueIndex, sql: str) -> None:
    assert ground_values(sql, schema, "sqlite", values) is None


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql", "mysql", "mariadb", "duckdb"])
def test_every_dialect_writes_the_text_its_own_way(schema: Schema, dialect: str) -> None:
    hostile = 'it\'s \\ a "test" -- ; DROP'
    values = ValueIndex([ColumnValues("country", "name", (), (hostile,), complete=True)])
    literal = hostile.upper().replace("'", "''").replace("\\", "\\\\" if dialect in ("mysql", "mariadb") else "\\")
    found = ground_values(f"SELECT code FROM country WHERE name = '{literal}'", schema, dialect, values)
    assert found is not None
    escaped = hostile.replace("'", "''").replace("\\", "\\\\" if dialect in ("mysql", "mariadb") else "\\")
    assert found.sql == f"SELECT code FROM country WHERE name = '{escaped}'"


@settings(max_examples=60, deadline=None)
@given(stored=st.text(min_size=1, max_size=20), literal=st.text(max_size=20))
def test_whatever_is_stored_stays_data(stored: str, literal: str) -> None:
    """A changed query, read again, compares with the stored text and nothing else."""
    values = ValueIndex([ColumnValues("t", "c", (), (stored,), complete=True)])
    for text in (literal, stored.swapcase(), f" {stored} "):
        found: Grounded | None = ground_values(
            "SELECT c FROM t WHERE c = '" + text.replace("'", "''") + "'", ONE_COLUMN, "sqlite", values
        )
        if found is not None:
            assert found.sql == "SELECT c FROM t WHERE c = '" + stored.replace("'", "''") + "'"
