"""Every store of ours keeps the contract."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from making.team import team_memory
from memory.store_contract import Open, StoreContract
from merit.memory import FileStore, Store, VolatileStore
from merit.memory.postgres import PostgresStore


class TestFileStore(StoreContract):
    @pytest.fixture
    def opener(self, tmp_path: Path) -> Open:
        return lambda: FileStore(tmp_path / "memory")


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
