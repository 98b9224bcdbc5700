"""Real PostgreSQL, MariaDB, DuckDB and SQLite behind one small interface, for tests of what differs between them.

Servers are found through MERIT_TEST_POSTGRES and MERIT_TEST_MARIADB (URLs; default: the usual local addresses).
With MERIT_TEST_SERVERS=required a server that does not answer is a failure, otherwise its tests are skipped.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn
from urllib.parse import urlsplit

import apsw
import duckdb
import psycopg
import pymysql
import pytest

from making.clock import COMES_S

POSTGRES = os.environ.get("MERIT_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")
MARIADB = os.environ.get("MERIT_TEST_MARIADB", "mysql://root@127.0.0.1:3306/test")
Answer = list[tuple[object, ...]] | str
NAME = f"merit_grounding_{os.getpid()}"  # tests may run side by side


def absent(why: str) -> NoReturn:
    """Skip a test whose server is not there; where servers are required (.ci/run), that is a failure."""
    if os.environ.get("MERIT_TEST_SERVERS") == "required":
        pytest.fail(why)
    pytest.skip(why)


def postgres_server() -> psycopg.Connection[tuple[Any, ...]]:
    """A connection to the server as its administrator."""
    try:
        return psycopg.connect(POSTGRES, autocommit=True, connect_timeout=COMES_S)
    except psycopg.OperationalError as error:
        absent(f"no PostgreSQL answers at {POSTGRES} (set MERIT_TEST_POSTGRES): {error}")


def mariadb_server(**account: str) -> "pymysql.Connection[Any]":
    """A connection to the server as its administrator, or with another `user`, `password` and `database`."""
    url = urlsplit(MARIADB)
    login = {"user": url.username or "root", "password": url.password or "", **account}
    try:
        return pymysql.connect(
            host=url.hostname or "127.0.0.1", port=url.port or 3306, autocommit=True, connect_timeout=COMES_S, **login
        )
    except pymysql.OperationalError as error:
        absent(f"no MariaDB answers at {MARIADB} (set MERIT_TEST_MARIADB): {error}")


class EngineTrial:
    """Runs a statement on one engine: its rows, or the engine's message."""

    def __init__(self, dialect: str, execute: Callable[[str], list[tuple[object, ...]]]) -> None:
        self.dialect = dialect
        self._execute = execute

    def run(self, sql: str) -> Answer:
        try:
            return self._execute(sql)
        except (psycopg.Error, duckdb.Error, apsw.Error) as error:
            return str(error)
        except pymysql.Error as error:
            return str(error.args[-1])


@contextmanager
def postgresql() -> Iterator[EngineTrial]:
    """A schema of its own, dropped at the end."""
    connection = postgres_server()

    def execute(sql: str) -> list[tuple[object, ...]]:
        cursor = connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []

    execute(f"CREATE SCHEMA {NAME}")
    execute(f"SET search_path = {NAME}")
    try:
        yield EngineTrial("postgresql", execute)
    finally:
        execute(f"DROP SCHEMA {NAME} CASCADE")
        connection.close()


@contextmanager
def mariadb() -> Iterator[EngineTrial]:
    """A database of its own, dropped at the end."""
    connection = mariadb_server()

    def execute(sql: str) -> list[tuple[object, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    execute(f"CREATE DATABASE {NAME}")
    execute(f"USE {NAME}")
    try:
        yield EngineTrial("mariadb", execute)
    finally:
        execute(f"DROP DATABASE {NAME}")
        connection.close()


@contextmanager
def duck() -> Iterator[EngineTrial]:
    """A database in memory."""
    connection = duckdb.connect()
    yield EngineTrial("duckdb", lambda sql: connection.execute(sql).fetchall())
    connection.close()


@contextmanager
def sqlite() -> Iterator[EngineTrial]:
    """A database in memory, of the pinned SQLite."""
    connection = apsw.Connection(":memory:")
    yield EngineTrial("sqlite", lambda sql: list(connection.execute(sql)))
    connection.close()


ENGINES = {"sqlite": sqlite, "postgresql": postgresql, "mariadb": mariadb, "duckdb": duck}
