"""The corpora through merit's engines, by a superuser: nothing but merit keeps the statements from harm."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from corpus import hostile
from making.clock import STALL_S
from making.readonly import Target, closed_file, statements, target
from merit.sql.connect import open_engine
from merit.types import Engine, Error, Limits, Rows

LIMITS = Limits(timeout_s=1.0)
DIALECTS = ("sqlite", "postgresql", "mariadb", "duckdb")


@contextmanager
def opened(dialect: str, folder: Path) -> Iterator[tuple[Target, Engine]]:
    """A database and an engine on it."""
    server = dialect in ("postgresql", "mariadb")
    made = target(dialect, folder) if server else closed_file(dialect, folder / "data")
    with made as database, closing(open_engine(database.url)) as engine:
        yield database, engine


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_hostile_statement_changes_nothing_and_ends_in_time(dialect: str, tmp_path: Path) -> None:
    corpus = statements("readonly", dialect)
    if dialect == "sqlite":
        slow = {*hostile.BOMBS, *hostile.GROWTH, *hostile.SHAPES}  # for them: tests/sql/sqlite/test_hostile.py
        corpus = [text for text in corpus if text not in slow]
    with opened(dialect, tmp_path) as (database, engine):
        before = database.state()
        for statement in corpus:
            start = time.monotonic()
            result = engine.execute(statement, LIMITS)
            assert time.monotonic() - start < LIMITS.timeout_s + STALL_S, statement
            assert not isinstance(result, Error) or result.message, statement
        assert database.state() == before
    assert not Path("/tmp/merit-corpus-out").exists()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_harmless_query_is_refused(dialect: str, tmp_path: Path) -> None:
    with opened(dialect, tmp_path) as (_, engine):
        results = {sql: engine.execute(sql, Limits(timeout_s=60.0)) for sql in statements("harmless", dialect)}
    assert {sql: result for sql, result in results.items() if not isinstance(result, Rows)} == {}
