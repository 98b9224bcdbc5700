"""The name that is missing, in the words of real databases."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from making.databases import DIALECTS, shop
from merit.failure import missing_name
from merit.sql import executed
from merit.sql.connect import open_engine
from merit.types import Engine, Limits


@pytest.fixture(scope="module", params=DIALECTS)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with shop(request.param, tmp_path_factory.mktemp("shop")) as place, closing(open_engine(place.url)) as opened:
        yield opened


def named(engine: Engine, sql: str) -> str | None:
    verdict = executed(engine.execute(sql, Limits()), "shop", coded=engine.dialect != "sqlite")
    return missing_name(verdict, engine.dialect)


def test_a_table_is_named(engine: Engine) -> None:
    assert (named(engine, "SELECT 1 FROM nowhere") or "").rpartition(".")[2] == "nowhere"


def test_a_column_is_named(engine: Engine) -> None:
    assert named(engine, "SELECT absent FROM customer") == "absent"
    assert (named(engine, "SELECT c.absent FROM customer c") or "").rpartition(".")[2] == "absent"


def test_a_table_that_the_query_does_not_join_is_named(engine: Engine) -> None:
    assert (named(engine, "SELECT orders.total FROM customer") or "").partition(".")[0] == "orders"


def test_other_failures_name_nothing(engine: Engine) -> None:
    for sql in ("SELECT 1", "SELECT FROM WHERE", "SELECT no_such_function(1)", "DELETE FROM customer"):
        assert named(engine, sql) is None
