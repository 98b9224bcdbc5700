"""The tables that go by code, against errors that real PostgreSQL, MariaDB and DuckDB produced.

Servers are found through MERIT_TEST_POSTGRES and MERIT_TEST_MARIADB (URLs; default: the usual local addresses).
"""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import duckdb
import psycopg
import pymysql
import pytest

from making.clock import COMES_S
from making.engines import absent
from merit.failure import classify
from merit.types import Cause, Error, Failure, Status, Verdict
from merit.types import FailureSubtype as Sub

POSTGRES = os.environ.get("MERIT_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")
MARIADB = os.environ.get("MERIT_TEST_MARIADB", "mysql://root@127.0.0.1:3306/test")
TABLE = f"merit_failure_test_{os.getpid()}"  # tests may run side by side
SETUP = [
    f"DROP TABLE IF EXISTS {TABLE}",
    f"CREATE TABLE {TABLE} (id INT, name VARCHAR(9), day DATE)",
    f"INSERT INTO {TABLE} VALUES (1, 'a', '2020-01-01')",
]

SHARED = [
    ("SELECT * FROM merit_nope", Sub.MISSING_TABLE),
    ("DROP VIEW merit_nope", Sub.MISSING_VIEW),
    (f"SELECT nope FROM {TABLE}", Sub.MISSING_COLUMN),
    (f"SELECT a.nope FROM {TABLE} a", Sub.MISSING_COLUMN),
    (f"SELECT id FROM {TABLE} a, {TABLE} b", Sub.AMBIGUOUS_COLUMN),
    ("SELECT nope(1)", Sub.UNKNOWN_FUNCTION),
    ("SELEC 1", Sub.PARSE_FAILURE),
    (f"SELECT id FROM {TABLE} WHERE count(*) > 1", Sub.DBMS_AGGREGATE_MISUSE),
    (f"SELECT sum(count(*)) FROM {TABLE}", Sub.DBMS_AGGREGATE_MISUSE),
    (f"SELECT name, count(*) FROM {TABLE}", Sub.DBMS_AGGREGATE_MISUSE),
    (f"INSERT INTO {TABLE} VALUES ('abc', 'x', NULL)", Sub.TYPE_MISMATCH),
]


def failure_of(dialect: str, error: Error) -> Failure:
    """As an engine reports it, and as an attempt is judged by it."""
    return classify(Verdict(Status.EXECUTION_ERROR, error.message, error.cause, code=error.code), dialect)


def postgresql_error(error: psycopg.Error) -> Error:
    return Error(Cause.DBMS, str(error), error.sqlstate or "")


def mariadb_error(error: "pymysql.Error") -> Error:
    code, text = error.args
    return Error(Cause.DBMS, text, str(code))


def duckdb_error(error: duckdb.Error) -> Error:
    return Error(Cause.DBMS, str(error), type(error).__name__)


@pytest.fixture
def postgres() -> Iterator[psycopg.Connection]:
    try:
        connection = psycopg.connect(POSTGRES, autocommit=True, connect_timeout=COMES_S)
    except psycopg.OperationalError as error:
        absent(f"no PostgreSQL answers at {POSTGRES} (set MERIT_TEST_POSTGRES): {error}")
    for statement in SETUP:
        connection.execute(statement)
    yield connection
    connection.execute("SET default_transaction_read_only = off")
    connection.execute(SETUP[0])
    connection.close()


@pytest.mark.parametrize(
    ("sql", "subtype"),
    [
        *SHARED,
        (f"SELECT * FROM {TABLE} WHERE id = 'abc'", Sub.TYPE_MISMATCH),
        (f"SELECT * FROM {TABLE} WHERE name = 1", Sub.TYPE_MISMATCH),
        (f"SELECT * FROM {TABLE} WHERE day = 'abc'", Sub.TYPE_MISMATCH),
        (f"SET default_transaction_read_only = on; INSERT INTO {TABLE} VALUES (2)", Sub.READ_ONLY_VIOLATION),
        ("SET statement_timeout = 30; SELECT pg_sleep(3)", Sub.TIMEOUT),
        ("SELECT 1 / 0", Sub.UNKNOWN),
    ],
)
def test_postgresql(postgres: psycopg.Connection, sql: str, subtype: Sub) -> None:
    with pytest.raises(psycopg.Error) as caught:
        for statement in sql.split("; "):
            postgres.execute(statement)
    assert failure_of("postgresql", postgresql_error(caught.value)).subtype is subtype, caught.value


def test_postgresql_without_its_database(postgres: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error) as caught:
        psycopg.connect(POSTGRES, dbname="merit_nope").close()
    assert failure_of("postgresql", postgresql_error(caught.value)).subtype is Sub.DB_NOT_FOUND


def mariadb_connection(database: str | None = None) -> "pymysql.Connection":
    url = urlsplit(MARIADB)
    return pymysql.connect(
        host=url.hostname or "127.0.0.1",
        port=url.port or 3306,
        user=url.username or "root",
        password=url.password or "",
        database=database or url.path.lstrip("/"),
        autocommit=True,
        connect_timeout=COMES_S,
    )


@pytest.fixture
def mariadb() -> Iterator["pymysql.Connection"]:
    try:
        connection = mariadb_connection()
    except pymysql.OperationalError as error:
        absent(f"no MariaDB answers at {MARIADB} (set MERIT_TEST_MARIADB): {error}")
    with connection.cursor() as cursor:
        for statement in [*SETUP, "SET sql_mode = 'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY'"]:
            cursor.execute(statement)
    yield connection
    connection.close()
    with mariadb_connection() as cleaner, cleaner.cursor() as cursor:
        cursor.execute(SETUP[0])


@pytest.mark.parametrize(
    ("sql", "subtype"),
    [
        *SHARED,
        (f"START TRANSACTION READ ONLY; INSERT INTO {TABLE} VALUES (2, 'b', NULL)", Sub.READ_ONLY_VIOLATION),
        ("SET max_statement_time = 0.03; SELECT sleep(3)", Sub.TIMEOUT),
        ("SELECT (SELECT 1 UNION SELECT 2)", Sub.UNKNOWN),
    ],
)
def test_mariadb(mariadb: "pymysql.Connection", sql: str, subtype: Sub) -> None:
    with pytest.raises(pymysql.Error) as caught, mariadb.cursor() as cursor:
        for statement in sql.split("; "):
            cursor.execute(statement)
    for dialect in ("mariadb", "mysql"):  # which have these numbers in common
        assert failure_of(dialect, mariadb_error(caught.value)).subtype is subtype, caught.value


def test_mariadb_without_its_database(mariadb: "pymysql.Connection") -> None:
    with pytest.raises(pymysql.Error) as caught:
        mariadb_connection("merit_nope").close()
    assert failure_of("mariadb", mariadb_error(caught.value)).subtype is Sub.DB_NOT_FOUND


@pytest.fixture
def duck(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(tmp_path / "test.duckdb")
    for statement in SETUP:
        connection.execute(statement)
    yield connection
    connection.close()


def duckdb_failure(error: duckdb.Error) -> Sub:
    return failure_of("duckdb", duckdb_error(error)).subtype


@pytest.mark.parametrize(
    ("sql", "subtype"),
    [
        *SHARED,
        (f"SELECT * FROM {TABLE} WHERE id = 'abc'", Sub.TYPE_MISMATCH),
        (f"SELECT sum(name) FROM {TABLE}", Sub.UNKNOWN_FUNCTION),
        (f"SELECT aggregate_score FROM {TABLE}", Sub.MISSING_COLUMN),
        (f"SELECT ambiguous_flag FROM {TABLE}", Sub.MISSING_COLUMN),
        ("SELECT 9223372036854775807 + 1::BIGINT", Sub.UNKNOWN),
    ],
)
def test_duckdb(duck: duckdb.DuckDBPyConnection, sql: str, subtype: Sub) -> None:
    with pytest.raises(duckdb.Error) as caught:
        duck.execute(sql).fetchall()
    assert duckdb_failure(caught.value) is subtype, caught.value


def test_duckdb_interrupted(duck: duckdb.DuckDBPyConnection) -> None:
    threading.Timer(0.3, duck.interrupt).start()
    with pytest.raises(duckdb.Error) as caught:
        duck.execute("SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7").fetchall()
    assert duckdb_failure(caught.value) is Sub.TIMEOUT


def test_duckdb_read_only_and_missing(duck: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    duck.close()
    with duckdb.connect(tmp_path / "test.duckdb", read_only=True) as reader, pytest.raises(duckdb.Error) as caught:
        reader.execute(f"INSERT INTO {TABLE} VALUES (2, 'b', NULL)")
    assert duckdb_failure(caught.value) is Sub.READ_ONLY_VIOLATION
    with pytest.raises(duckdb.Error) as caught:
        duckdb.connect(tmp_path / "nowhere.duckdb", read_only=True)
    assert duckdb_failure(caught.value) is Sub.DB_NOT_FOUND


@pytest.mark.parametrize(
    ("dialect", "code", "text"),
    [
        ("sqlite", "SQLITE_ERROR", "no such table: nope"),
        ("postgresql", "42P01", 'relation "nope" does not exist\nLINE 1: SELECT * FROM nope'),
        ("mysql", "1146", "Table 'test.nope' doesn't exist"),
        ("mariadb", "1146", "Table 'test.nope' doesn't exist"),
        ("duckdb", "CatalogException", "Catalog Error: Table with name nope does not exist!"),
    ],
)
def test_one_failure_in_every_dialect(dialect: str, code: str, text: str) -> None:
    assert failure_of(dialect, Error(Cause.DBMS, text, code)).subtype is Sub.MISSING_TABLE


def test_a_quoted_statement_decides_nothing() -> None:
    """Engines repeat the statement below their message, and it may contain any words."""
    text = "division by zero\nLINE 1: SELECT 1 / 0 AS timed out"
    assert failure_of("postgresql", Error(Cause.DBMS, text, "22012")).subtype is Sub.UNKNOWN


def test_a_missing_code_is_not_a_missing_database() -> None:
    error = Error(Cause.DBMS, 'relation "nope" does not exist', "")
    assert failure_of("postgresql", error).subtype is Sub.UNKNOWN
