"""Nothing to see has three reasons, and they are told apart: no rows, not permitted, not retrieved."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pymysql
import pytest

from making.clock import COMES_S
from making.engines import MARIADB, POSTGRES, absent
from making.live import ToldModel
from merit.live import AnswerStatus, Found, connect

NAME = f"merit_found_{os.getpid()}"
SECRET = "SELECT amount FROM {0}salaries"
TABLES = ("CREATE TABLE {0}orders (id int)", "CREATE TABLE {0}salaries (amount int)")


@pytest.fixture
def reader_of_postgresql() -> Iterator[tuple[str, str]]:
    """A role that may read one of two tables."""
    try:
        db = psycopg.connect(POSTGRES, autocommit=True, connect_timeout=COMES_S)
    except psycopg.OperationalError as error:
        absent(f"no PostgreSQL answers at {POSTGRES} (set MERIT_TEST_POSTGRES): {error}")
    made = [f"CREATE SCHEMA {NAME}", *(table.format(f"{NAME}.") for table in TABLES), f"CREATE ROLE {NAME} LOGIN"]
    made += [f"GRANT USAGE ON SCHEMA {NAME} TO {NAME}", f"GRANT SELECT ON {NAME}.orders TO {NAME}"]
    with closing(db):
        try:
            for statement in made:
                db.execute(statement.encode())
            host = POSTGRES.partition("@")[2]
            yield f"postgresql://{NAME}@{host}", f"{NAME}."
        finally:
            for statement in (f"DROP SCHEMA {NAME} CASCADE", f"DROP OWNED BY {NAME}", f"DROP ROLE {NAME}"):
                db.execute(statement.encode())


@pytest.fixture
def reader_of_mariadb() -> Iterator[tuple[str, str]]:
    """A user that may read one of two tables."""
    host, port = MARIADB.partition("@")[2].partition("/")[0].split(":")
    try:
        db = pymysql.connect(host=host, port=int(port), user="root", autocommit=True, connect_timeout=COMES_S)
    except pymysql.OperationalError as error:
        absent(f"no MariaDB answers at {MARIADB} (set MERIT_TEST_MARIADB): {error}")
    user = f"'{NAME}'@'%'"
    made = [f"CREATE DATABASE {NAME}", *(table.format(f"{NAME}.") for table in TABLES)]
    made += [f"CREATE USER {user}", f"GRANT SELECT ON {NAME}.orders TO {user}"]
    with closing(db), db.cursor() as cursor:
        try:
            for statement in made:
                cursor.execute(statement)
            yield f"mysql://{NAME}@{host}:{port}/{NAME}", ""
        finally:
            cursor.execute(f"DROP DATABASE {NAME}")
            cursor.execute(f"DROP USER {user}")


@pytest.mark.parametrize("reader", ["reader_of_postgresql", "reader_of_mariadb"])
def test_what_the_role_may_not_read_is_not_permitted(
    reader: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    url, schema = request.getfixturevalue(reader)
    with connect(url, model=ToldModel(SECRET.format(schema)), folder=tmp_path / "own") as agent:
        assert "salaries" not in agent.schema.text(), "what may not be read is not shown"
        answer = agent.ask("What are the salaries?")
        assert (answer.status, answer.found) == (AnswerStatus.FAILED, Found.NOT_PERMITTED)
        assert "denied" in str(answer.error)
    with connect(url, model=ToldModel(f"SELECT id FROM {schema}orders"), folder=tmp_path / "own") as agent:
        answer = agent.ask("Which orders are there?")
        assert (answer.status, answer.found) == (AnswerStatus.ANSWERED, Found.NO_ROWS)
