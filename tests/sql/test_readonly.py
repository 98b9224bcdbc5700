"""The published corpora through the engines themselves: nothing changes, nothing harmless is refused."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from making.databases import DIALECTS, Place, empty
from making.readonly import schema, statements
from merit.sql.connect import open_engine
from merit.types import Engine, Limits, Rows

LIMITS = Limits(timeout_s=1.0, rows=1000)


@pytest.fixture(scope="module", params=DIALECTS)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with empty(request.param, tmp_path_factory.mktemp(request.param)) as made:
        for statement in schema(request.param):
            made.run(statement)
        yield made


@pytest.fixture(scope="module")
def engine(place: Place) -> Iterator[Engine]:
    with closing(open_engine(place.url)) as opened:
        yield opened


def state(place: Place, engine: Any) -> list[object]:
    """The tables with their rows, and on servers the settings; the engine is closed meanwhile, as DuckDB needs it."""
    names = [table.name for table in engine.schema().tables if not table.view]
    if place.dialect == "duckdb":
        engine._pool._drop_idle()
    rows: list[object] = [(name, sorted(map(repr, place.run(f"SELECT * FROM {name}")))) for name in sorted(names)]
    settings = {
        "postgresql": "SELECT name, setting FROM pg_settings ORDER BY name",
        "mariadb": "SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE '%timestamp%' AND Variable_name NOT LIKE '%gtid%'",
    }
    return [*rows, place.run(settings[place.dialect])] if place.dialect in settings else rows


def test_no_bypass_changes_anything(place: Place, engine: Engine) -> None:
    if place.dialect == "sqlite":
        pytest.skip("tests/sql/sqlite/test_hostile.py has more than this corpus")
    before = state(place, engine)
    slow = []
    for sql in statements("readonly", place.dialect):
        started = time.monotonic()
        result = engine.execute(sql, LIMITS)
        if time.monotonic() - started > LIMITS.timeout_s + 0.5:
            slow.append(sql)
        assert isinstance(result, Rows) or result.message, sql  # some merely read, on one engine or another
    assert state(place, engine) == before
    assert slow == []


def test_no_harmless_query_is_refused(place: Place, engine: Engine) -> None:
    refused = []
    for sql in statements("harmless", place.dialect):
        result = engine.execute(sql, Limits(timeout_s=10.0))
        if not isinstance(result, Rows):
            refused.append((sql, result))
    assert refused == []
