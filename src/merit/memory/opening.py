"""Opening a memory by where it is: a folder's path, or the URL of a PostgreSQL database."""

import hashlib
import re
from importlib import import_module
from pathlib import Path
from typing import Protocol, runtime_checkable

from merit.errors import MemoryUnusable
from merit.memory.memory import Memory
from merit.memory.store import INDEX, FileStore
from merit.types import Encoder, Store

INDEXES = "memories"  # in the cache folder: the indexes of memories that are not in a folder of their own
# A beginning with a scheme; or, wherever it begins, a user with a password, or libpq's own spelling of one.
_URL = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*://|postgres(?:ql)?:)|.*(?::.*@|\bpassword\s*=)", re.IGNORECASE | re.DOTALL)

_OTHER = re.compile(r"\s*(?!postgres(?:ql)?:)[a-z][a-z0-9+.-]*://", re.IGNORECASE)  # another scheme than PostgreSQL's


@runtime_checkable
class SizedStore(Store, Protocol):
    """A store on a server, which knows how large it is."""

    def size_bytes(self) -> int:
        """How much room the log takes."""
        ...


def is_url(location: str | Path) -> bool:
    """Whether a memory is meant that is not in a folder.

    What merely looks like a URL counts as well, since a slip in one with a password must not become a folder's name.
    """
    return isinstance(location, str) and _URL.match(location) is not None


def open_on_server(url: str, *, writable: bool = True) -> SizedStore:
    """The store at a URL. Its driver is imported only here."""
    if _OTHER.match(url):  # which may hold a password, and is not shown
        raise MemoryUnusable(
            "the memory: should be a folder, or a PostgreSQL database as in postgresql://ann@host/shop"
        )
    try:
        import_module("psycopg")
    except ImportError as error:
        raise MemoryUnusable(
            f"the driver psycopg is missing ({error}); run, in merit's own folder: pip install '.[postgres]'"
        ) from None
    store: SizedStore = import_module("merit.memory.postgres").PostgresStore(url, writable=writable)
    return store


def open_store(location: str | Path, *, writable: bool = True) -> Store:
    """The store in a folder or at a URL."""
    if isinstance(location, str) and is_url(location):
        return open_on_server(location, writable=writable)
    return FileStore(Path(location), writable=writable)


def index_folder(location: str | Path, store: Store, cache: Path) -> Path:
    """Where the index of a memory is kept: beside its file, or in the cache folder for one at a URL."""
    if not is_url(location):
        return Path(location) / INDEX
    return cache / INDEXES / hashlib.sha256(store.name.encode()).hexdigest()[:16]


def open_at(location: str | Path, encoder: Encoder | None, cache: Path) -> Memory:
    """The memory in a folder or at a URL, with its index on disk."""
    store = open_store(location)
    return Memory(store, encoder, index_folder=index_folder(location, store, cache))
