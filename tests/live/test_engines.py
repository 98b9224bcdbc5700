"""The same agent on SQLite, DuckDB, PostgreSQL and MariaDB: asks, is corrected, and answers with what it learned."""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import psycopg
import pymysql
import pytest

from making.clock import COMES_S
from making.engines import MARIADB, POSTGRES, absent
from merit.formats import FoundPairs, Pair
from merit.live import AnswerStatus, connect, open_live
from merit.settings import CheckSettings, DatabaseSettings, Settings
from merit.types import Completion, ModelIdentity, Sampling

NAME = f"merit_live_{os.getpid()}"
TABLES = (
    "CREATE TABLE {0}customers (id int PRIMARY KEY, name varchar(20))",
    "CREATE TABLE {0}orders (id int PRIMARY KEY, customer_id int, total decimal(10, 2))",
    "INSERT INTO {0}customers VALUES (1, 'Ada'), (2, 'Bob')",
    "INSERT INTO {0}orders VALUES (1, 1, 10.5), (2, 1, 3.25), (3, 2, 7)",
)


class Model:
    """Answers with a fixed statement; with a confirmed one, where a prompt shows one."""

    concurrency = 1
    recorded = False
    identity = ModelIdentity("told")

    def __init__(self, sql: str, learned: str) -> None:
        self._sql = sql
        self._learned = learned

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:  # noqa: ARG002 - the same at any temperature
        return Completion(f"<answer>{self._learned if self._learned in prompt else self._sql}</answer>", 1, 1)

    async def close(self) -> None:
        pass


def sqlite(folder: Path) -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect(folder / "shop.sqlite")) as db:
        db.executescript(";".join(statement.format("") for statement in TABLES))
    yield f"sqlite:///{folder / 'shop.sqlite'}", ""


def duck(folder: Path) -> Iterator[tuple[str, str]]:
    with closing(duckdb.connect(str(folder / "shop.duckdb"))) as db:
        for statement in TABLES:
            db.execute(statement.format(""))
    yield f"duckdb:///{folder / 'shop.duckdb'}", ""


def postgresql(_folder: Path) -> Iterator[tuple[str, str]]:
    try:
        db = psycopg.connect(POSTGRES, autocommit=True, connect_timeout=COMES_S)
    except psycopg.OperationalError as error:
        absent(f"no PostgreSQL answers at {POSTGRES} (set MERIT_TEST_POSTGRES): {error}")
    with closing(db):
        db.execute(f"CREATE SCHEMA {NAME}".encode())
        try:
            for statement in TABLES:
                db.execute(statement.format(f"{NAME}.").encode())
            yield POSTGRES, f"{NAME}."
        finally:
            db.execute(f"DROP SCHEMA {NAME} CASCADE".encode())


def mariadb(_folder: Path) -> Iterator[tuple[str, str]]:
    host, port = MARIADB.partition("@")[2].partition("/")[0].split(":")
    try:
        db = pymysql.connect(host=host, port=int(port), user="root", autocommit=True, connect_timeout=COMES_S)
    except pymysql.OperationalError as error:
        absent(f"no MariaDB answers at {MARIADB} (set MERIT_TEST_MARIADB): {error}")
    with closing(db), db.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {NAME}")
        try:
            for statement in TABLES:
                cursor.execute(statement.format(f"{NAME}."))
            yield f"mysql://root@{host}:{port}/{NAME}", ""
        finally:
            cursor.execute(f"DROP DATABASE {NAME}")


ENGINES = {"sqlite": sqlite, "duckdb": duck, "postgresql": postgresql, "mariadb": mariadb}


@pytest.fixture(params=ENGINES)
def database(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, str]]:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    yield from ENGINES[request.param](tmp_path)


def test_asked_grounded_corrected_and_remembered(database: tuple[str, str], tmp_path: Path) -> None:
    url, schema = database
    learned = f"SELECT sum(total) FROM {schema}orders WHERE customer_id = 1"
    wrong = f"SELECT sum(o.totals) FROM {schema}orders o"
    with connect(url, model=Model(wrong, learned), folder=tmp_path / "own") as agent:
        first = agent.ask("What did Ada spend?")
        assert first.status is AnswerStatus.ANSWERED
        assert first.attempts[0].written is not None, "the column's name is mended"
        assert first.rows is not None
        assert [float(str(value)) for row in first.rows.rows for value in row] == [20.75]
        agent.correct(first.id, learned, author="ada")
        second = agent.ask("What has Ada spent?")
        assert second.sql == learned
        assert second.recalled
        assert second.rows is not None
        assert [float(str(value)) for row in second.rows.rows for value in row] == [13.75]


def test_nothing_can_be_written(database: tuple[str, str], tmp_path: Path) -> None:
    url, schema = database
    with connect(url, model=Model(f"DELETE FROM {schema}orders", "never shown"), folder=tmp_path / "own") as agent:
        assert agent.ask("Remove all orders").status is AnswerStatus.FAILED
    with connect(
        url, model=Model(f"SELECT count(*) FROM {schema}orders", "never shown"), folder=tmp_path / "own"
    ) as agent:
        rows = agent.ask("How many orders?").rows
        assert rows is not None
        assert rows.rows == [(3,)]


def test_checks_run_on_every_engine_and_messages_keep_no_value(database: tuple[str, str], tmp_path: Path) -> None:
    url, schema = database
    checks = (
        CheckSettings("not negative", "WITH low AS (SELECT 0 AS least) SELECT 1 FROM answer, low WHERE spent < least"),
        CheckSettings("of a customer", f"SELECT 1 FROM answer WHERE spent NOT IN (SELECT total FROM {schema}orders)"),
    )
    settings = Settings(tmp_path / "merit.toml", DatabaseSettings("shop", url, rows="never"), checks=checks)
    answers = [f"SELECT total AS spent FROM {schema}orders -- all", f"SELECT sum(total) AS spent FROM {schema}orders;"]
    for sql, passed in zip(answers, [("not negative", "of a customer"), ("not negative",)], strict=True):
        with open_live(settings, tmp_path / "own", Model(sql, "never shown")) as agent:
            answer = agent.ask(f"What was spent, by {sql[7:10]}?")
            assert answer.passed == passed, answer.remarks
            assert len(agent.history()[-1].kept) == (len(passed) == len(checks))
    numbers = Model(f"SELECT CAST(name AS int) FROM {schema}customers", "never shown")
    with open_live(settings, tmp_path / "own", numbers) as agent:
        failed = agent.ask("Which numbers?")
    if failed.error is not None:  # PostgreSQL and DuckDB; the others take it for 0
        assert "Ada" not in failed.error
        assert re.search(r"integer|INT32|convert", failed.error)
    assert b"Ada" not in b"".join(path.read_bytes() for path in (tmp_path / "own").rglob("*") if path.is_file())


def test_pairs_are_executed_and_compared_before_they_are_remembered(database: tuple[str, str], tmp_path: Path) -> None:
    url, schema = database
    pairs = (
        Pair("What did Ada spend?", f"SELECT sum(total) FROM {schema}orders WHERE customer_id = 1", "line 1"),
        Pair("What did Ada spend?", f"SELECT 0.0 + sum(total) FROM {schema}orders WHERE customer_id = 1", "line 2"),
        Pair("What did Ada spend?", f"SELECT sum(total) FROM {schema}orders", "line 3"),
        Pair("Remove?", f"DELETE FROM {schema}orders", "line 4"),
        Pair("Broken?", f"SELECT totals FROM {schema}orders", "line 5"),
    )
    with connect(url, model=Model("never asked", "never shown"), folder=tmp_path / "own") as agent:
        done = agent.import_pairs(FoundPairs(pairs), author="ada")
    assert [one.where for one in done.skipped] == ["line 4", "line 5"]
    (contradiction,) = done.contradictions
    assert contradiction.certain
    wrong, right, also_right = (result.digest for result in contradiction.results)
    assert right == also_right != wrong
