"""Results of reference queries, computed once and kept on disk under the content of database and query.

Only this room opens the file: it holds what the right answers look like.
"""

import logging
import marshal
import os
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from merit.data.files import hash_file
from merit.errors import CacheUnusable
from merit.sql import Row

_log = logging.getLogger(__name__)
_FILE = "references-v1.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS result (
    reference BLOB, database TEXT, count INT NOT NULL, rows BLOB NOT NULL,
    PRIMARY KEY (reference, database)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS content (path TEXT PRIMARY KEY, size INT, mtime_ns INT, hash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kills (hash TEXT PRIMARY KEY, count INT NOT NULL) WITHOUT ROWID;
"""
# Python's own format: its version 2 writes equal values as equal bytes, and nothing else is as fast.
_MARSHAL = 2
_FLUSH_EVERY = 100


Stored = tuple[int, bytes]  # how many rows, and the rows encoded


def encode(rows: list[Row]) -> bytes:
    """Rows as bytes; equal bytes are the same rows of the same types in the same order."""
    return marshal.dumps(rows, _MARSHAL)


def decode(encoded: bytes) -> list[Row]:
    """The rows again."""
    rows: list[Row] = marshal.loads(encoded)
    return rows


def default_folder() -> Path:
    """Where caches live: MERIT_CACHE, or the user's cache folder."""
    given = os.environ.get("MERIT_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else base / "merit"


class ResultStore:
    """Reference results, file hashes and kill counts in one SQLite file; `folder=None` keeps them in memory."""

    def __init__(self, folder: Path | None) -> None:
        self._lock = threading.Lock()
        self._pending: dict[bytes, dict[str, Stored]] = {}
        self._db = _open(folder)

    def fetch(self, reference: bytes) -> dict[str, Stored]:
        """The encoded rows of a reference on every database it was run on, by the database's content hash."""
        with self._lock:
            pending = self._pending.get(reference, {})
            found = self._db.execute("SELECT database, count, rows FROM result WHERE reference = ?", (reference,))
            return {**{database: (count, rows) for database, count, rows in found}, **pending}

    def keep(self, reference: bytes, results: Mapping[str, Stored]) -> None:
        """Remember a reference's encoded rows by database."""
        with self._lock:
            self._pending.setdefault(reference, {}).update(results)
            if len(self._pending) >= _FLUSH_EVERY:
                self._flush()

    def content_hashes(self, paths: Iterable[Path]) -> dict[Path, str]:
        """The hash of each file's content, read again only when size or time changed."""
        with self._lock:
            known = {path: row for path, *row in self._db.execute("SELECT path, size, mtime_ns, hash FROM content")}
            hashes, fresh = {}, []
            for path in paths:
                stat = path.stat()
                row = known.get(str(path.absolute()))
                if row is None or row[:2] != [stat.st_size, stat.st_mtime_ns]:
                    row = [stat.st_size, stat.st_mtime_ns, hash_file(path)]
                    fresh.append((str(path.absolute()), *row))
                hashes[path] = str(row[2])
            self._write("INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?)", fresh)
        return hashes

    def kills(self) -> dict[str, int]:
        """How many wrong answers each database, by content hash, has told from right ones."""
        with self._lock:
            return dict(self._db.execute("SELECT hash, count FROM kills").fetchall())

    def add_kills(self, counts: Mapping[str, int]) -> None:
        """Add to the kill counts."""
        with self._lock:
            self._write(
                "INSERT INTO kills VALUES (?, ?) ON CONFLICT (hash) DO UPDATE SET count = count + excluded.count",
                list(counts.items()),
            )

    def close(self) -> None:
        """Write what is pending and close the file."""
        with self._lock:
            self._flush()
            self._db.close()

    def _flush(self) -> None:
        rows = [(key, database, *result) for key, kept in self._pending.items() for database, result in kept.items()]
        self._write("INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?)", rows)
        self._pending.clear()

    def _write(self, statement: str, rows: list[Any]) -> None:
        if not rows:
            return
        try:
            with self._db:
                self._db.executemany(statement, rows)
        except sqlite3.OperationalError as error:  # a full disk or a locked file costs time, never a verdict
            _log.warning("the cache of reference results was not written: %s", error)


def _open(folder: Path | None) -> sqlite3.Connection:
    if folder is None:
        db = sqlite3.connect(":memory:", check_same_thread=False)
        db.executescript(_TABLES)
        return db
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _open_file(folder / _FILE)
    except (OSError, sqlite3.OperationalError) as error:
        raise CacheUnusable(
            f"{folder}: cannot keep a cache here ({error}); set MERIT_CACHE to another folder"
        ) from error


def _open_file(path: Path) -> sqlite3.Connection:
    try:
        return _prepare(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        _log.warning("%s is damaged (%s) and is started anew", path, error)
        path.unlink()
        return _prepare(path)


def _prepare(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=30.0, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=OFF")  # losing a cache to a power cut costs time only
        db.executescript(_TABLES)
    except sqlite3.Error:
        db.close()
        raise
    return db
