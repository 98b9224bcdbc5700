"""Functions, aggregates, operators and macros that people defined: called only where they are known to be harmless."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from making.databases import empty
from merit.sql.connect import open_engine
from merit.types import Cause, Engine, Error, Limits, Rows

MADE = {
    "postgresql": [
        "CREATE TABLE t (i int)",
        "INSERT INTO t VALUES (1)",
        "CREATE FUNCTION harmless(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'",
        "CREATE FUNCTION writes(int) RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES ($1); SELECT 1'",
        "CREATE FUNCTION random(t) RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (3); SELECT 1'",
        "CREATE FUNCTION lower(t) RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (2); SELECT 1'",
        "CREATE FUNCTION step(int, int) RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES ($2); SELECT 1'",
        "CREATE AGGREGATE harmless_total(int) (sfunc = int4pl, stype = int, initcond = '0')",
        "CREATE AGGREGATE total(int) (sfunc = step, stype = int, initcond = '0')",
        "CREATE FUNCTION added(t, int) RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES ($2); SELECT 1'",
        "CREATE OPERATOR + (leftarg = t, rightarg = int, function = added)",
    ],
    "mariadb": [
        "CREATE TABLE t (i int)",
        "INSERT INTO t VALUES (1)",
        "CREATE FUNCTION harmless(a int) RETURNS int DETERMINISTIC NO SQL RETURN a",
        "CREATE FUNCTION harmless_total() RETURNS int READS SQL DATA RETURN (SELECT sum(i) FROM t)",
        "CREATE FUNCTION writes(a int) RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO t VALUES (a); RETURN 1; END",
        "CREATE FUNCTION any_value(a int) RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO t VALUES (a); RETURN 1; END",
        "CREATE FUNCTION says_nothing(a int) RETURNS int RETURN sleep(a)",
        "CREATE AGGREGATE FUNCTION total(x int) RETURNS int BEGIN DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN 1; "
        "LOOP FETCH GROUP NEXT ROW; INSERT INTO t VALUES (x); END LOOP; END",
    ],
    "duckdb": [
        "CREATE TABLE t (i int)",
        "INSERT INTO t VALUES (1)",
        "CREATE SEQUENCE s",
        "CREATE MACRO harmless(a) AS a + 1",
        "CREATE MACRO harmless_total(a) AS harmless(a) * 2",
        "CREATE MACRO harmless_rows(a) AS TABLE SELECT * FROM t WHERE i >= a",
        "CREATE MACRO advances() AS nextval('s')",
        "CREATE MACRO advances_inside() AS harmless(advances())",
        "CREATE MACRO upper(a) AS (SELECT any_value(value) FROM duckdb_settings())",
        "CREATE MACRO files() AS TABLE SELECT * FROM read_csv('/etc/passwd')",
    ],
}
CALLED = [
    ("postgresql", "SELECT harmless(1)"),
    ("postgresql", "SELECT gen_random_uuid(), clock_timestamp()"),
    ("postgresql", "SELECT harmless_total(i) FROM t"),
    ("mariadb", "SELECT harmless(1)"),
    ("mariadb", "SELECT harmless_total()"),
    ("duckdb", "SELECT harmless(1)"),
    ("duckdb", "SELECT harmless_total(1)"),
    ("duckdb", "FROM harmless_rows(0)"),
]
REFUSED = [
    ("postgresql", "SELECT writes(2)"),
    ("postgresql", "SELECT lower(t) FROM t"),
    ("postgresql", "SELECT t.lower FROM t"),
    ("postgresql", "SELECT random(t) FROM t"),
    ("postgresql", "SELECT t.random FROM t"),
    ("postgresql", "SELECT total(i) FROM t"),
    ("mariadb", "SELECT writes(2)"),
    ("mariadb", "SELECT any_value(2)"),
    ("mariadb", "SELECT says_nothing(2)"),
    ("mariadb", "SELECT total(i) FROM t"),
    ("duckdb", "SELECT advances()"),
    ("duckdb", "SELECT advances_inside()"),
    ("duckdb", "SELECT upper('a')"),
    ("duckdb", "SELECT 'a'.upper()"),
    ("duckdb", "FROM files()"),
]


@contextmanager
def opened(dialect: str, folder: Path) -> Iterator[Engine]:
    with empty(dialect, folder) as place:
        for statement in MADE[dialect]:
            place.run(statement)
        with closing(open_engine(place.url)) as engine:
            yield engine


@pytest.mark.parametrize("dialect", MADE)
def test_only_what_is_known_to_be_harmless_is_called(dialect: str, tmp_path: Path) -> None:
    with opened(dialect, tmp_path) as engine:
        for sql in (sql for owner, sql in CALLED if owner == dialect):
            assert isinstance(engine.execute(sql, Limits()), Rows), sql
        for sql in (sql for owner, sql in REFUSED if owner == dialect):
            result = engine.execute(sql, Limits())
            assert isinstance(result, Error), sql
            assert result.cause is Cause.FORBIDDEN, sql


def test_an_operator_that_writes_is_stopped_by_the_transaction(tmp_path: Path) -> None:
    """Its sign is that of harmless ones, so the text cannot tell."""
    with opened("postgresql", tmp_path) as engine:
        result = engine.execute("SELECT t + 1 FROM t", Limits())
        assert isinstance(result, Error)
        assert result.cause is Cause.READ_ONLY
        assert isinstance(engine.execute("SELECT i + 1 FROM t", Limits()), Rows)
