"""What the guard says to one statement, and why."""

import logging
import time

import pytest

from merit.sql.guard import UnknownCall, refusal
from merit.sql.guard.names import names, pattern
from merit.types import Cause

DIALECTS = ("sqlite", "postgresql", "mysql", "mariadb", "duckdb")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("statement", "cause"),
    [
        ("DELETE FROM t", Cause.READ_ONLY),
        ("WITH x AS (SELECT 1) DELETE FROM t", Cause.READ_ONLY),
        ("DROP TABLE t", Cause.READ_ONLY),
        ("ATTACH 'x' AS y", Cause.FORBIDDEN),
        ("SET x = 1", Cause.FORBIDDEN),
        ("COMMIT", Cause.FORBIDDEN),
        ("EXPLAIN SELECT 1", Cause.FORBIDDEN),
        ("SELECT 1; SELECT 2", Cause.STATEMENTS),
        ("", Cause.STATEMENTS),
        ("I am sorry, I cannot answer that.", Cause.STATEMENTS),
        ("SELECT FROM WHERE", Cause.DBMS),
        ("SELECT 'open", Cause.DBMS),
        ("SELECT /* open", Cause.DBMS),
        ("SELECT no_such_function(1)", Cause.FORBIDDEN),
        ("SELECT pg_sleep(1)", Cause.FORBIDDEN),
        ("SELECT load_file('x')", Cause.FORBIDDEN),
        ("SELECT 1" + " + 1" * 20_000, Cause.TOO_LARGE),
        ("SELECT " + "(" * 100 + "1" + ")" * 100, Cause.TOO_LARGE),
        ("SELECT " + "x" * 200_000, Cause.TOO_LARGE),
        ("SELECT \ud800", Cause.DBMS),
        ("SELECT 1\0", Cause.STATEMENTS),
    ],
)
def test_every_refusal_has_its_cause(statement: str, cause: Cause, dialect: str) -> None:
    error = refusal(statement, dialect)
    assert error is not None
    assert error.cause is cause


def test_a_statement_that_does_not_parse_is_refused_with_the_place() -> None:
    error = refusal("SELECT name\nFROM customers WHERE", "postgresql")
    assert error is not None
    assert "does not parse" in error.message
    assert "line 2" in error.message


def test_a_function_is_refused_by_name_and_reason() -> None:
    error = refusal("SELECT pg_catalog.\"pg_read_file\"('x')", "postgresql")
    assert error is not None
    assert error.message.startswith("the function pg_read_file may not be called: it reaches files")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_function_of_the_database_is_called_only_where_its_catalogue_says_that_it_is_not_volatile(
    dialect: str,
) -> None:
    for says, allowed in ((False, True), (True, False), (None, False)):
        error = refusal("SELECT own_function(1)", dialect, {"own_function": says}.get)
        assert (error is None) is allowed


def test_no_catalogue_opens_a_function_that_is_denied() -> None:
    for statement in ("SELECT current_setting('x')", "SELECT crosstab('SELECT 1')", "SELECT x.dblink('a', 'b')"):
        assert refusal(statement, "postgresql", lambda _: False) is not None


def test_a_listed_function_is_refused_where_the_catalogue_has_a_volatile_one_of_its_name() -> None:
    assert refusal("SELECT lower('x')", "postgresql", {"lower": False}.get) is None
    assert refusal("SELECT lower('x')", "postgresql", {"lower": True}.get) is not None


@pytest.mark.parametrize(
    ("name", "says", "allowed"),
    [
        ("current_setting", False, False),  # denied
        ("pg_relation_filepath", False, False),  # about the server, and not listed
        ("own_function", True, False),
        ("own_function", False, True),
        ("lower", False, True),
        ("random", False, True),  # listed as harmless
        ("random", True, False),  # the database has one of its own
        ("http_status", None, True),  # a column: the server has no function of this name
        ("pg_rating", None, True),
    ],
)
def test_an_attribute_is_refused_where_the_server_would_call_a_function_that_may_not_be_called(
    name: str, says: bool | None, allowed: bool
) -> None:
    for statement in (f"SELECT (x).{name} FROM t", f"SELECT t.{name} FROM t", f"SELECT ('a'::text).\"{name}\""):
        assert (refusal(statement, "postgresql", {name: says}.get) is None) is allowed


def test_a_quoted_name_keeps_its_case_on_postgresql() -> None:
    catalogue = {"own": False, "Own": True}
    assert refusal("SELECT OWN(1)", "postgresql", catalogue.get) is None
    assert refusal('SELECT "Own"(1)', "postgresql", catalogue.get) is not None
    assert refusal("SELECT \"LOWER\"('x')", "postgresql") is not None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_list_of_columns_is_no_call_and_hides_none(dialect: str) -> None:
    assert refusal("WITH own(x) AS (SELECT 1) SELECT x FROM own", dialect) is None
    assert refusal("WITH own(x) AS (SELECT 1) SELECT own(x) FROM own", dialect) is not None


def test_the_two_readings_of_a_backslash_must_agree() -> None:
    """Whether one escapes a quote is a setting of MySQL, and was one of PostgreSQL."""
    assert refusal("SELECT 'a\\%b', 'c\\\\d'", "mysql") is None
    assert refusal("SELECT 'O\\'Brien'", "mysql") is None  # the other reading never ends
    assert refusal("SELECT 'a\\', ' OR 1=1 -- '", "mysql") is not None
    assert refusal("SELECT x LIKE '%' ESCAPE '\\'", "postgresql") is None
    assert refusal("SELECT '\\', ', sleep(1) --'", "postgresql") is not None


def test_words_that_only_look_dangerous_are_names_and_texts() -> None:
    for statement in (
        "SELECT 'DROP TABLE t; COMMIT -- /*! x */ INTO OUTFILE'",
        "SELECT t.into_date, updated, deleted FROM t AS t",
        "SELECT count(*) AS total FROM t -- ; DROP TABLE t",
    ):
        assert [refusal(statement, dialect) for dialect in DIALECTS] == [None] * len(DIALECTS)


def test_a_table_that_shows_secrets_is_not_read() -> None:
    for statement, dialect in (
        ("SELECT * FROM pg_shadow", "postgresql"),
        ("SELECT * FROM MySQL . `User`", "mysql"),
        ("FROM duckdb_secrets()", "duckdb"),
        ("SELECT * FROM pragma_database_list", "sqlite"),
    ):
        error = refusal(statement, dialect)
        assert error is not None
        assert error.cause is Cause.FORBIDDEN
    assert refusal("SELECT * FROM completion", "postgresql") is None  # hidden on SQLite alone


@pytest.mark.parametrize(
    "table",
    ["pg_roles", "pg_catalog.pg_user", "pg_foreign_table", "pg_foreign_server", "pg_foreign_data_wrapper"]
    + [f"information_schema.{name}" for name in ("foreign_table_options", "_pg_foreign_tables")],
)
def test_what_shows_settings_of_roles_and_options_of_foreign_tables_is_not_read(table: str) -> None:
    error = refusal(f"SELECT * FROM {table}", "postgresql")
    assert error is not None
    assert error.cause is Cause.FORBIDDEN


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_parser_stops_where_it_would_try_exponentially_many_readings(dialect: str) -> None:
    started = time.thread_time()
    error = refusal("SELECT " + "date(" * 50 + "1" + ")" * 50, dialect)
    assert time.thread_time() - started < 2.0  # a try takes hours without the bound
    assert error is not None
    assert error.cause is Cause.TOO_LARGE
    assert refusal("SELECT " + "date(" * 8 + "1" + ")" * 8, dialect) is None


@pytest.mark.parametrize("dialect", ["postgresql", "mariadb", "duckdb"])
def test_a_chain_that_the_parser_reads_again_and_again_ends_early(dialect: str) -> None:
    for chain in ("JOIN VALUES , NOT * ", "LATERAL JOIN ", "NOT ", "NOT - "):
        started = time.thread_time()
        assert refusal("SELECT " + chain * 200 + "1", dialect) is not None
        assert time.thread_time() - started < 2.0, chain  # a fifth of it on a quiet core


def test_a_long_list_is_no_chain() -> None:
    values = ", ".join(map(str, range(4_900)))
    assert refusal(f"SELECT * FROM t WHERE id IN ({values})", "postgresql") is None


def test_a_message_of_the_parser_shows_no_hidden_character() -> None:
    error = refusal("FROM N'\u200b\\''https://example.com/x'", "duckdb")
    assert error is not None
    assert error.message.isprintable()


def test_sqlglot_logs_nothing_of_a_statement(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    refusal("SELECT x FROM (CREATE SECRET hidden) WITH x", "duckdb")
    refusal("SELECT * FROM a WHERE (b > 0) = json_object('a', > 0)", "postgresql")
    assert caplog.records == []


def test_no_list_allows_what_another_denies() -> None:
    """But for names that mean something else on one engine: SQLite's glob() compares two texts."""
    for file in ("keywords", "harmless", "postgresql", "mysql", "duckdb", "sqlite"):
        both = {name for name in names(file) if pattern("denied").fullmatch(name)}
        assert both <= {"glob", "master_pos_wait"}, file
    assert not any(pattern("denied").fullmatch(name) for name in names("duckdb"))


def test_words_that_unpivot_names_columns_with_are_read_once() -> None:
    began = time.thread_time()
    assert refusal("UNPIVOT t ON a " + "INTO NAME " * 4_900, "duckdb") is not None
    assert time.thread_time() - began < 1.5


@pytest.mark.parametrize(
    "sql", ["SELECT nosuch(1), pg_sleep(1)", "SELECT nosuch(1) FROM pg_authid", "SELECT pg_sleep(1)"]
)
def test_a_function_that_is_not_known_is_told_only_where_nothing_else_is_wrong(sql: str) -> None:
    assert isinstance(refusal("SELECT nosuch(1)", "postgresql"), UnknownCall)
    refused = refusal(sql, "postgresql")
    assert refused is not None
    assert not isinstance(refused, UnknownCall)
