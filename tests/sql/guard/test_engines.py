"""The hostile corpus through merit's engines, by a superuser: nothing but merit keeps the statements from harm."""

import time
from contextlib import closing
from pathlib import Path

import pytest

from corpus import hostile
from making.readonly import closed_file, statements, target
from merit.sql.connect import open_engine
from merit.types import Error, Limits

LIMITS = Limits(timeout_s=1.0)


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql", "mariadb", "duckdb"])
def test_a_hostile_statement_changes_nothing_and_ends_in_time(dialect: str, tmp_path: Path) -> None:
    opened = (
        target(dialect, tmp_path) if dialect in ("postgresql", "mariadb") else closed_file(dialect, tmp_path / "data")
    )
    corpus = statements("readonly", dialect)
    if dialect == "sqlite":
        slow = {*hostile.BOMBS, *hostile.GROWTH, *hostile.SHAPES}  # for them: tests/sql/sqlite/test_hostile.py
        corpus = [text for text in corpus if text not in slow]
    with opened as database, closing(open_engine(database.url)) as engine:
        before = database.state()
        for statement in corpus:
            start = time.monotonic()
            result = engine.execute(statement, LIMITS)
            assert time.monotonic() - start < LIMITS.timeout_s + 0.5, statement
            assert not isinstance(result, Error) or result.message, statement
        assert database.state() == before
    assert not Path("/tmp/merit-corpus-out").exists()
