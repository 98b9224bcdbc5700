"""What every engine must do, whichever it is: SQLite and DuckDB always, PostgreSQL and MariaDB where one answers."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from making.clock import STALL_S
from making.databases import DIALECTS, SERVERS, Place, shop
from making.engines import absent
from making.serving import until
from merit.errors import DatabaseUnusable
from merit.failure import classify
from merit.sql import executed
from merit.sql.connect import SchemaFilter, open_engine
from merit.types import Cause, Engine, Error, Limits, Rows, Schema, Timeout
from merit.types import FailureSubtype as Sub

SLOW = "SELECT count(*) FROM n a, n b, n c, n d WHERE (a.i * b.i + c.i * d.i) % 7 = 3"
SHORT = Limits(timeout_s=0.4)
AT_SLOW = {  # connections of this database that run it; other tests may use the same server
    "postgresql": "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'"
    " AND query LIKE 'SELECT count(*) FROM n a%'",
    "mariadb": "SELECT id FROM information_schema.processlist WHERE db = database() AND command = 'Query'"
    " AND info LIKE 'SELECT count(*) FROM n a%'",
}


@pytest.fixture(scope="module", params=DIALECTS)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with shop(request.param, tmp_path_factory.mktemp(request.param)) as made:
        yield made


@pytest.fixture(scope="module")
def engine(place: Place) -> Iterator[Engine]:
    with closing(open_engine(place.url)) as opened:
        yield opened


def rows(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    result = engine.execute(sql, Limits())
    assert isinstance(result, Rows), result
    return list(result.rows)


def past_the_guard(engine: Any, sql: str) -> Error | Rows | Timeout:
    """As if the guard had let a statement through: only the engine's own mode is left."""
    result: Error | Rows | Timeout = engine._pool.run(lambda session: session.query(sql, Limits()))
    return result


def test_it_knows_its_dialect(place: Place, engine: Engine) -> None:
    assert engine.dialect == place.dialect


def test_rows_have_the_names_that_the_query_gives(engine: Engine) -> None:
    result = engine.execute("SELECT name AS who, city FROM customer ORDER BY id", Limits())
    assert result == Rows(("who", "city"), [("Ann", "Bonn"), ("Bob", None), ("Zoë", "Köln")])


def test_no_rows_still_have_names(engine: Engine) -> None:
    assert engine.execute("SELECT id, name FROM customer WHERE id > 9", Limits()) == Rows(("id", "name"), [])


def test_two_columns_may_have_one_name(engine: Engine) -> None:
    assert engine.execute("SELECT 1 AS a, 2 AS a", Limits()) == Rows(("a", "a"), [(1, 2)])


def test_a_percent_sign_is_only_a_percent_sign(engine: Engine) -> None:
    assert rows(engine, "SELECT name FROM customer WHERE name LIKE '%n' AND name LIKE '_n%' -- 100%s") == [("Ann",)]


@pytest.mark.parametrize(
    ("sql", "subtype"),
    [
        ("SELECT * FROM nope", Sub.MISSING_TABLE),
        ("SELECT nope FROM customer", Sub.MISSING_COLUMN),
        ("SELECT c.nope FROM customer c", Sub.MISSING_COLUMN),
        ("SELECT id FROM customer a, orders b", Sub.AMBIGUOUS_COLUMN),
        ("SELECT merit_nope(1)", Sub.UNKNOWN_FUNCTION),
        ("SELEC 1", Sub.PARSE_FAILURE),
        ("SELECT name FROM customer WHERE", Sub.PARSE_FAILURE),
        ("SELECT name FROM customer WHERE count(*) > 1", Sub.DBMS_AGGREGATE_MISUSE),
    ],
)
def test_failures_are_typed_by_the_code_of_the_database(engine: Engine, sql: str, subtype: Sub) -> None:
    result = engine.execute(sql, Limits())
    assert isinstance(result, Error)
    assert (result.cause, bool(result.code), bool(result.message)) == (Cause.DBMS, True, True)
    verdict = executed(result, "shop", coded=True)
    assert classify(verdict, engine.dialect).subtype is subtype, result


def test_a_failure_has_the_hint_and_the_position_that_the_database_gives(engine: Engine) -> None:
    column = engine.execute("SELECT id,\n namee FROM customer", Limits())
    syntax = engine.execute("SELECT id,\n FROM WHERE customer", Limits())
    assert isinstance(column, Error)
    assert isinstance(syntax, Error)
    hints = {"postgresql": 'Perhaps you meant to reference the column "customer.name".', "duckdb": "Candidate bindings"}
    assert column.hint.startswith(hints.get(engine.dialect, ""))
    assert column.hint in column.message
    assert column.position == {"postgresql": 13, "duckdb": 13}.get(engine.dialect)
    # PostgreSQL allows a select list to be empty after FROM alone; MariaDB points at what follows the last word it took.
    assert syntax.position in {"sqlite": (None,), "mariadb": (13,)}.get(engine.dialect, (13, 18)), syntax


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO n VALUES (-1)",
        "UPDATE n SET i = -1",
        "DELETE FROM n",
        "DROP TABLE n",
        "CREATE TABLE other (i INTEGER)",
        "WITH x AS (SELECT 1) DELETE FROM n",
        "SELECT 1; DELETE FROM n",
    ],
)
def test_what_writes_is_refused(place: Place, engine: Engine, sql: str) -> None:
    result = engine.execute(sql, Limits())
    assert isinstance(result, Error)
    assert not result.cause.environmental
    assert rows(engine, "SELECT count(*), min(i), max(i) FROM n") == [(1000, 0, 999)]


def test_the_database_itself_refuses_what_writes(engine: Engine) -> None:
    if engine.dialect == "sqlite":
        pytest.skip("SQLite has its own layers and tests")
    result = past_the_guard(engine, "INSERT INTO n VALUES (-1)")
    assert isinstance(result, Error)
    assert result.cause is Cause.READ_ONLY
    assert rows(engine, "SELECT min(i) FROM n") == [(0,)]


def test_the_database_itself_refuses_a_second_statement(engine: Engine) -> None:
    if engine.dialect == "sqlite":
        pytest.skip("SQLite has its own layers and tests")
    for sql in ("SELECT 1; SELECT 2", "COMMIT; DELETE FROM n", "SELECT 1; COMMIT; DROP TABLE n"):
        result = past_the_guard(engine, sql)
        assert isinstance(result, Error), sql
        said = {"postgresql": "cannot insert multiple commands", "mariadb": "error in your SQL syntax", "duckdb": "one"}
        assert said[engine.dialect] in result.message
    assert rows(engine, "SELECT count(*) FROM n") == [(1000,)]


@pytest.mark.parametrize("sql", ["", " ", ";", "-- nothing", "/* nothing */"])
def test_no_statement_is_told(engine: Engine, sql: str) -> None:
    result = engine.execute(sql, Limits())
    assert isinstance(result, Error)
    assert not result.cause.environmental


@pytest.mark.parametrize(
    ("limits", "most"),
    [(Limits(rows=10), 10), (Limits(rows=1), 1), (Limits(result_bytes=20_000), 200)],
)
def test_a_result_beyond_its_caps_is_cut_and_says_so(engine: Engine, limits: Limits, most: int) -> None:
    result = engine.execute("SELECT a.i FROM n a, n b ORDER BY a.i", limits)
    assert isinstance(result, Rows)
    assert result.truncated
    assert 0 < len(result.rows) <= most
    assert rows(engine, "SELECT count(*) FROM n") == [(1000,)]  # and nothing is left of the rest


def test_a_result_at_its_caps_is_whole(engine: Engine) -> None:
    result = engine.execute("SELECT i FROM n", Limits(rows=1000))
    assert isinstance(result, Rows)
    assert (len(result.rows), result.truncated) == (1000, False)


def test_a_value_beyond_its_cap_is_refused(engine: Engine) -> None:
    assert isinstance(engine.execute("SELECT body FROM note", Limits(cell_bytes=2100)), Rows)
    result = engine.execute("SELECT body FROM note", Limits(cell_bytes=1500))  # 1,000 characters are 2,000 bytes
    assert isinstance(result, Error)
    assert result.cause is Cause.TOO_LARGE


def test_a_text_beyond_its_cap_or_not_unicode_is_refused(engine: Engine) -> None:
    assert engine.execute("SELECT 1" + " " * 99, Limits(sql_bytes=99)) == Error(
        Cause.TOO_LARGE, "statement too long: 107 bytes, at most 99 are run"
    )
    for sql in ("SELECT '\udcff'", "SELECT 'a\0b'"):
        result = engine.execute(sql, Limits())
        assert isinstance(result, Error)
        assert result.cause is Cause.DBMS


def running(place: Place) -> int:
    """How many statements like SLOW the server is at in this database."""
    return len(place.run(AT_SLOW[place.dialect]))


def test_a_statement_that_overruns_is_stopped_on_the_server(place: Place, engine: Engine) -> None:
    started = time.monotonic()
    assert engine.execute(SLOW, SHORT) == Timeout(SHORT.timeout_s)
    assert time.monotonic() - started < SHORT.timeout_s + STALL_S
    if place.dialect in SERVERS:
        until(lambda: running(place) == 0)
    assert rows(engine, "SELECT 1") == [(1,)]


def test_what_the_servers_own_limit_does_not_stop_is_cancelled(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit on the server is set far too high here; our own deadline remains."""
    if place.dialect not in SERVERS:
        pytest.skip("the kernel keeps the deadline of these engines")
    with closing(open_engine(place.url)) as engine:
        if place.dialect == "postgresql":
            from merit.sql.postgres.session import PostgresSession

            beginning = PostgresSession._beginning
            monkeypatch.setattr(PostgresSession, "_beginning", lambda self, _: beginning(self, 60.0))
        else:
            from merit.sql.mysql.session import MySQLSession

            limit = MySQLSession._limit
            monkeypatch.setattr(MySQLSession, "_limit", lambda self, _: limit(self, 60.0))
        started = time.monotonic()
        assert engine.execute(SLOW, SHORT) == Timeout(SHORT.timeout_s)
        assert time.monotonic() - started < SHORT.timeout_s + STALL_S
        until(lambda: running(place) == 0)
        assert rows(engine, "SELECT 1") == [(1,)]


@pytest.mark.parametrize("streams", [False, True], ids=["nothing comes", "rows come"])
def test_what_no_server_cancels_is_given_up(place: Place, streams: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some functions of a server never look whether they were cancelled: the connection is cut, whoever reads from it."""
    if place.dialect not in SERVERS:
        pytest.skip("the kernel keeps the deadline of these engines")
    many = Limits(timeout_s=0.4, rows=10**9, result_bytes=10**12)
    with closing(open_engine(place.url)) as engine:
        if place.dialect == "postgresql":
            from merit.sql.postgres.session import PostgresSession

            beginning = PostgresSession._beginning
            monkeypatch.setattr(PostgresSession, "_beginning", lambda self, _: beginning(self, 20.0))
            monkeypatch.setattr(PostgresSession, "_cancel", lambda _: None)
        else:
            from merit.sql.mysql.session import MySQLSession

            limit = MySQLSession._limit
            monkeypatch.setattr(MySQLSession, "_limit", lambda self, _: limit(self, 20.0))
            monkeypatch.setattr(MySQLSession, "_kill", lambda _: None)
        started = time.monotonic()
        sql = "SELECT a.i FROM n a, n b, n c, n d" if streams else SLOW
        assert engine.execute(sql, many if streams else SHORT) == Timeout(SHORT.timeout_s)
        assert time.monotonic() - started < SHORT.timeout_s + STALL_S
        monkeypatch.undo()
        assert rows(engine, "SELECT 1") == [(1,)]
        end_slow(place)


def test_threads_share_an_engine(engine: Engine) -> None:
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda number: rows(engine, f"SELECT i FROM n WHERE i = {number}"), range(40)))
    assert results == [[(number,)] for number in range(40)]


def test_a_lost_connection_is_made_again(place: Place) -> None:
    if place.dialect == "sqlite":
        pytest.skip("tests of SQLite's sandbox have it: a process that ends is started again for the next statement")
    with closing(open_engine(place.url)) as engine:
        assert rows(engine, "SELECT 1") == [(1,)]
        disconnect(place, engine)
        assert rows(engine, "SELECT 2") == [(2,)]
        disconnect(place, engine)
        assert len(engine.schema().tables) == 5


@pytest.mark.parametrize("kills", [1, 2])
def test_a_connection_that_is_lost_in_the_middle_of_a_statement(place: Place, kills: int) -> None:
    """It is sent once more, with the rest of its time; the second time the environment is at fault, never the statement."""
    if place.dialect not in SERVERS:
        pytest.skip("a process of one's own ends only by its statement")
    with closing(open_engine(place.url)) as engine, ThreadPoolExecutor(1) as thread:
        for seconds in (1.0, 4.0, 16.0) if kills == 1 else (300.0,):
            asked = thread.submit(engine.execute, SLOW, Limits(timeout_s=seconds))
            ended = sum(end_running(place, asked) for _ in range(kills))
            started = time.monotonic()
            if kills == 2:
                with pytest.raises(DatabaseUnusable, match="lost twice"):
                    asked.result()
                return
            assert asked.result() == Timeout(seconds)
            assert time.monotonic() - started < seconds + STALL_S
            if ended:
                return
    pytest.fail("every statement was over before its connection was ended")


def end_running(place: Place, asked: "Future[Any]") -> bool:
    """End the connection that runs SLOW, from outside; False where the statement was over first."""
    while not end_slow(place):
        if asked.done():
            return False
        time.sleep(0.02)
    return True


def end_slow(place: Place) -> int:
    """End the connections that run SLOW now: how many."""
    found = place.run(AT_SLOW[place.dialect])
    kill = "SELECT pg_terminate_backend({}, 60000)" if place.dialect == "postgresql" else "KILL {}"
    for (number,) in found:
        place.run(kill.format(number))
    return len(found)


def disconnect(place: Place, engine: Any) -> None:
    """End every connection of an engine from outside."""
    if place.dialect == "postgresql":
        own = "application_name = 'merit' AND datname = current_database()"
        place.run(f"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE {own}")
    elif place.dialect == "mariadb":
        for session in engine._pool._idle:
            place.run(f"KILL {session._connection.thread_id()}")
    else:
        for session in engine._pool._idle:
            session._child.process.kill()


SHOP_TEXT = """\
Table: customer
  id {integer} PRIMARY KEY
  name {text}
  city {text}
Table: n
  i {integer}
Table: note
  body {long}
Table: orders
  id {integer} PRIMARY KEY
  buyer {integer} FOREIGN KEY -> customer.id
  total {decimal}
View: large
  id {integer}
  total {decimal}"""
TYPES = {
    "sqlite": {"integer": "INTEGER", "text": "VARCHAR(20)", "long": "VARCHAR(3000)", "decimal": "DECIMAL(10,2)"},
    "duckdb": {"integer": "INTEGER", "text": "VARCHAR", "long": "VARCHAR", "decimal": "DECIMAL(10,2)"},
    "postgresql": {
        "integer": "integer",
        "text": "character varying(20)",
        "long": "character varying(3000)",
        "decimal": "numeric(10,2)",
    },
    "mariadb": {"integer": "int(11)", "text": "varchar(20)", "long": "varchar(3000)", "decimal": "decimal(10,2)"},
}


def by_name(schema: Schema) -> list[str]:
    return [table.text() for table in sorted(schema.tables, key=lambda table: (table.view, table.name))]


def test_its_schema_has_tables_views_columns_types_and_keys(place: Place, engine: Engine) -> None:
    types = TYPES[place.dialect]
    if place.dialect == "sqlite":  # knows no type of a view's column that is computed
        assert "FOREIGN KEY -> customer.id" in engine.schema().text()
    assert "\n".join(by_name(engine.schema())) == SHOP_TEXT.format(**types)


def test_a_filter_leaves_out_tables_columns_and_the_keys_to_them(place: Place) -> None:
    schema = {"postgresql": "public", "mariadb": place.url.rpartition("/")[2]}.get(place.dialect, "main")
    shown = SchemaFilter(include=(schema,), exclude=(f"{schema}.n", "*.large", "*.note", f"{schema}.Customer.id"))
    with closing(open_engine(place.url, shown=shown)) as engine:
        tables = {table.name: table for table in engine.schema().tables}
        assert sorted(tables) == ["customer", "orders"]
        assert [column.name for column in tables["customer"].columns] == ["name", "city"]
        assert [column.foreign_keys for column in tables["orders"].columns] == [(), (), ()]


def test_a_look_at_its_health(engine: Any, place: Place) -> None:
    health = engine.health()
    assert health.engine.lower() == place.dialect
    assert health.version
    assert health.findings


def test_an_absent_server_is_skipped_here_and_a_failure_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MERIT_TEST_SERVERS", raising=False)
    with pytest.raises(pytest.skip.Exception):
        absent("no server")
    monkeypatch.setenv("MERIT_TEST_SERVERS", "required")
    with pytest.raises(pytest.fail.Exception):
        absent("no server")
    assert "MERIT_TEST_SERVERS=required make test" in (Path(__file__).parents[2] / ".ci" / "run").read_text()
