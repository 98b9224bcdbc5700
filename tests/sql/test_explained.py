"""What reaches a database of a text that the guard refused: only what it may read, and nothing that is forbidden."""

import pytest

from merit.sql.explained import explained
from merit.sql.guard import refusal
from merit.sql.volatility import Volatility
from merit.types import Cause, Error

FORBIDDEN = [
    ("postgresql", "SELECT pg_sleep(5)"),
    ("postgresql", "SELECT nosuch(pg_read_file('/etc/passwd'))"),
    ("postgresql", "SELECT nosuch(1) FROM pg_authid"),
    ("postgresql", "SELECT nosuch(t.written) FROM t"),
    ("postgresql", "SELECT 1 INTO x"),
    ("postgresql", "nothing; DROP TABLE t"),
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

    def parsed() -> Error:
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
