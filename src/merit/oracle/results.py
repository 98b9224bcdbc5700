"""Results of reference queries, computed once and kept on disk under the content of database and query.

Only this room opens the file: it holds the rows of right answers.
"""

import threading
import time
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from merit.cache import open_cache, read_cache, write_cache
from merit.sql import content_hash, journals

_FILE = "references-v3.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS result (
    reference BLOB, database TEXT, count INT NOT NULL, rows BLOB NOT NULL, check_ INT NOT NULL,
    PRIMARY KEY (reference, database)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS content (path TEXT PRIMARY KEY, state TEXT NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kills (hash TEXT PRIMARY KEY, count INT NOT NULL) WITHOUT ROWID;
"""
_FLUSH_EVERY = 100
# A file that changed this recently may change again without a new time stamp, so its hash is not kept.
_SETTLED_NS = 2_000_000_000

Stored = tuple[int, bytes]  # how many rows, and the rows encoded


def _check(encoded: bytes) -> int:
    """A checksum: a damaged cache must not decide a verdict."""
    return zlib.crc32(encoded)


class ResultStore:
    """Reference results, file hashes and kill counts in one SQLite file; `folder=None` keeps them in memory."""

    def __init__(self, folder: Path | None) -> None:
        self._lock = threading.Lock()
        self._pending: dict[bytes, dict[str, Stored]] = {}
        self._db = open_cache(folder, _FILE, _TABLES)

    def fetch(self, reference: bytes) -> dict[str, Stored]:
        """The encoded rows of a reference on every database it was run on, by the database's content hash."""
        with self._lock:
            pending = self._pending.get(reference, {})
            stored = read_cache(
                self._db, "SELECT database, count, rows, check_ FROM result WHERE reference = ?", reference
            )
            sound = {database: (count, rows) for database, count, rows, check in stored if _check(rows) == check}
            return {**sound, **pending}

    def keep(self, reference: bytes, results: Mapping[str, Stored]) -> None:
        """Remember a reference's encoded rows by database."""
        with self._lock:
            self._pending.setdefault(reference, {}).update(results)
            if len(self._pending) >= _FLUSH_EVERY:
                self._flush()

    def content_hashes(self, paths: Iterable[Path]) -> dict[Path, str]:
        """The hash of each database's content, read again unless nothing about the file has changed."""
        with self._lock:
            known = {path: (state, digest) for path, state, digest in read_cache(self._db, "SELECT * FROM content")}
            hashes, fresh = {}, []
            for path in paths:
                if journals(path):  # which may be written without the file
                    hashes[path] = content_hash(path)
                    continue
                state, settled = _state(path)
                known_state, known_hash = known.get(str(path.absolute()), ("", ""))
                hashes[path] = str(known_hash) if known_state == state else content_hash(path)
                if known_state != state and settled:
                    fresh.append((str(path.absolute()), state, hashes[path]))
            write_cache(self._db, "INSERT OR REPLACE INTO content VALUES (?, ?, ?)", fresh)
        return hashes

    def kills(self) -> dict[str, int]:
        """How many wrong answers each database, by content hash, has told from right ones."""
        with self._lock:
            return dict(read_cache(self._db, "SELECT hash, count FROM kills"))

    def add_kills(self, counts: Mapping[str, int]) -> None:
        """Add to the kill counts."""
        with self._lock:
            write_cache(
                self._db,
                "INSERT INTO kills VALUES (?, ?) ON CONFLICT (hash) DO UPDATE SET count = count + excluded.count",
                list(counts.items()),
            )

    def close(self) -> None:
        """Write what is pending and close the file."""
        with self._lock:
            self._flush()
            self._db.close()

    def _flush(self) -> None:
        rows = [
            (key, database, count, encoded, _check(encoded))
            for key, results in self._pending.items()
            for database, (count, encoded) in results.items()
        ]
        write_cache(self._db, "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?)", rows)
        self._pending.clear()


def _state(path: Path) -> tuple[str, bool]:
    """A file's metadata, and whether the file is old enough for it to be trusted.

    A copying program can set size and modification time; it cannot set the time the inode changed. A program that
    writes through a memory map can leave all of it as it was, which SECURITY.md says.
    """
    stat = path.stat()
    state = f"{stat.st_dev}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}"
    return state, time.time_ns() - stat.st_ctime_ns > _SETTLED_NS
