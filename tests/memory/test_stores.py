"""Every store of ours keeps the contract."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from making.cluster import own_cluster
from making.team import team_memory
from making.writers import run_writers
from memory.store_contract import Open, StoreContract
from merit.memory import FileStore, Store, VolatileStore
from merit.memory.postgres import PostgresStore

SECONDS = float(os.environ.get("MERIT_TEST_KILLING_S", "0"))  # a long run by hand; otherwise as short as it can be


def nothing_else(_: random.Random) -> None:
    """Only writers are killed."""


class TestFileStore(StoreContract):
    @pytest.fixture
    def opener(self, tmp_path: Path) -> Open:
        return lambda: FileStore(tmp_path / "memory")

    def test_nothing_is_lost_while_eight_writers_are_killed(self, opener: Open) -> None:
        counts = run_writers(opener, SECONDS or 2, nothing_else)
        assert counts["acknowledged"] > 0


class _Shared:
    """One store under several handles: closing a handle leaves the others open."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._closed = VolatileStore()
        self._closed.close()

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def close(self) -> None:
        self._store = self._closed


class TestVolatileStore(StoreContract):
    durable = False

    @pytest.fixture
    def opener(self) -> Open:
        store = VolatileStore()
        return lambda: _Shared(store)  # type: ignore[return-value]


class TestPostgresStore(StoreContract):
    @pytest.fixture
    def opener(self) -> Iterator[Open]:
        with team_memory() as url:
            yield lambda: PostgresStore(url)


def test_nothing_is_lost_while_writers_and_their_server_are_killed() -> None:
    """The same suite of eight writers, with a PostgreSQL of its own that is killed again and again."""
    with own_cluster() as cluster:
        kills = SECONDS / 4 or 1

        def disturb(chance: random.Random) -> None:
            if chance.random() < 0.1 and cluster.kills < kills:
                cluster.kill()

        counts = run_writers(lambda: PostgresStore(cluster.url), SECONDS or 4, disturb, least=lambda: cluster.kills > 0)
    assert counts["acknowledged"] > 0
    print({**counts, "server killed": cluster.kills})
