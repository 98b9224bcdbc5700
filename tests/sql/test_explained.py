"""What reaches a database of a text that the guard refused: only what it may read, and nothing that is forbidden."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from making.engines import MARIADB, mariadb_server
from merit.sql.connect import open_engine
from merit.sql.explained import explained
from merit.sql.guard import listed, refusal
from merit.sql.unevaluated import only_call
from merit.sql.volatility import Volatility
from merit.types import Cause, Engine, Error, Limits

FORBIDDEN = [
    ("postgresql", "SELECT pg_sleep(5)"),
    ("postgresql", "SELECT nosuch(pg_read_file('/etc/passwd'))"),
    ("postgresql", "SELECT nosuch(1) FROM pg_authid"),
    ("postgresql", "SELECT nosuch(t.written) FROM t"),
    ("postgresql", "SELECT 1 INTO x"),
    ("postgresql", "nothing; DROP TABLE t"),
    ("duckdb", "SELECT ?; PRAGMA database_list"),
    ("mariadb", "SELECT nosuch(sleep(5))"),
    ("mariadb", "SELECT nosuch(1) FROM mysql.user"),
    ("mariadb", "SELECT /*! nosuch(1) */"),
    ("duckdb", "SELECT nosuch(1) FROM 'file.csv'"),
    ("duckdb", "FROM read_text('/etc/passwd')"),
    ("duckdb", "ATTACH 'x'"),
]


def sent(sql: str, dialect: str) -> tuple[bool, Error]:
    """Whether the database gets to read a text, and what is said of it."""
    reads: list[str] = []

    def parsed(_: tuple[str, ...]) -> Error:
        reads.append(sql)
        return Error(Cause.DBMS, "function nosuch does not exist", "42883")

    refused = refusal(sql, dialect, lambda name: True if name == "written" else None)
    assert refused is not None
    return explained(refused, sql, parsed) is not refused, refused


@pytest.mark.parametrize(("dialect", "sql"), FORBIDDEN)
def test_nothing_forbidden_is_sent_for_its_words(dialect: str, sql: str) -> None:
    was_sent, refused = sent(sql, dialect)
    assert not was_sent, refused


@pytest.mark.parametrize("sql", ["SELECT nosuch(1)", "SELECT FROM WHERE", "SELCT 1", "SELECT lower(nosuch(id)) FROM t"])
def test_the_database_says_what_it_does_not_know(sql: str) -> None:
    for dialect in ("postgresql", "mariadb", "duckdb"):
        assert sent(sql, dialect)[0]


@pytest.fixture
def maria() -> Iterator[Engine]:
    mariadb_server().close()
    with closing(open_engine(MARIADB)) as opened:
        yield opened


@pytest.fixture
def duck(tmp_path: Path) -> Iterator[Engine]:
    duckdb.connect(str(tmp_path / "a.duckdb")).close()
    with closing(open_engine(f"duckdb:///{tmp_path / 'a.duckdb'}")) as opened:
        yield opened


def said(engine: Engine, sql: str) -> Error:
    result = engine.execute(sql, Limits())
    assert isinstance(result, Error)
    return result


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ?, EXTRACTVALUE('<a/>', CONCAT('~', @@datadir))",
        "SELECT EXTRACTVALUE('<a/>', CONCAT('~', @@datadir)) LIMIT 1 ROWS EXAMINED 5",
    ],
)
def test_mariadb_evaluates_no_constant_of_a_text_that_cannot_be_read(maria: Engine, sql: str) -> None:
    """It does while it prepares a statement, and its error repeats the value."""
    result = said(maria, sql)
    assert (result.code, "XPATH" in result.message) == ("", False)


def test_mariadb_calls_no_function_of_such_a_text(maria: Engine) -> None:
    name = f"counted_{id(maria)}"
    with closing(mariadb_server()) as server, server.cursor() as cursor:
        schema = MARIADB.rpartition("/")[2]
        cursor.execute(
            f"CREATE FUNCTION {schema}.{name}() RETURNS TEXT DETERMINISTIC MODIFIES SQL DATA "
            "BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'it was called'; RETURN ''; END"
        )
        try:
            assert "called:" in said(maria, f"SELECT {name}()").message  # it may not be
            assert "parameters" in said(maria, f"SELECT ?, EXTRACTVALUE('<a/>', {name}())").message
        finally:
            cursor.execute(f"DROP FUNCTION {schema}.{name}")


def test_duckdb_evaluates_no_constant_of_a_text_that_cannot_be_read(duck: Engine) -> None:
    for sql in (
        "SELECT * FROM range(CAST(current_setting('TimeZone') AS INT)), (SELECT ?)",
        "SELECT ?; PRAGMA threads(CAST(version() AS INT))",
    ):
        assert "parameters" in said(duck, sql).message


def test_of_an_unknown_function_nothing_but_its_name_is_sent(maria: Engine, duck: Engine) -> None:
    """A server may have one that its catalogue does not show."""
    assert only_call(("s", "f`g"), "`") == "SELECT s.`f``g`(`merit: no such column`)"
    for engine, code in ((maria, "1305"), (duck, "CatalogException")):
        result = said(engine, "SELECT nosuch(1), sqrt(2)")
        assert (result.code, "nosuch does not exist" in result.message) == (code, True)


@pytest.mark.parametrize("end", ["", " ;\n", "\n-- a comment"])
@pytest.mark.parametrize(
    ("sql", "of_mariadb", "of_duckdb"),
    [
        ("SELECT count(*) FORM t", "near 't", 'near "t"'),
        ("SELECT 1 FROM t WHERE", "near '' at line", "at end of input"),
        ("SELECT 'a", "near ''a", "unterminated string literal"),
    ],
)
def test_what_is_said_of_the_syntax_is_of_the_text_alone(
    maria: Engine, duck: Engine, sql: str, of_mariadb: str, of_duckdb: str, end: str
) -> None:
    for engine, words in ((maria, of_mariadb), (duck, of_duckdb)):
        message = said(engine, sql + end).message
        assert words in message
        assert not any(line.startswith("=") or line.endswith("=") for line in message.splitlines()), message


def test_a_catalogue_is_asked_once_for_all_names_of_a_statement() -> None:
    asked: list[list[str]] = []

    def ask(names: list[str]) -> dict[str, bool]:
        asked.append(names)
        return {name: True for name in names if name == "writes"}

    volatile = Volatility(ask)
    sql = "SELECT " + ", ".join(f't.a{number}, t."B {number}"' for number in range(500)) + " FROM t"
    assert refusal(sql, "postgresql", volatile.of(sql)) is None
    assert len(asked) == 1
    sql = "SELECT t.writes FROM t"
    assert refusal(sql, "postgresql", volatile.of(sql)) is not None
    sql = "SELECT t.made_later FROM t"
    assert refusal(sql, "postgresql", volatile.of(sql)) is None
    assert refusal(sql, "postgresql", volatile.of(sql)) is None
    assert [names.count("made_later") for names in asked].count(1) == 2  # what is not there yet is asked for again


def test_a_catalogue_is_asked_once_for_what_is_built_in() -> None:
    """Nearly every statement calls such a function; one more query for each would be too many."""
    asked: list[list[str]] = []

    def ask(names: list[str]) -> dict[str, bool]:
        asked.append(names)
        return {"any_value": True} if "any_value" in names else {}

    volatile = Volatility(ask, listed("mysql"))
    for sql in ("SELECT count(*) FROM t", "SELECT lower(a) FROM t", "SELECT max(a), concat(b) FROM t"):
        assert refusal(sql, "mariadb", volatile.of(sql)) is None
    sql = "SELECT any_value(a) FROM t"
    assert refusal(sql, "mariadb", volatile.of(sql)) is not None
    assert len(asked) == 1
