"""Results of reference queries, computed once and kept on disk under the content of database and query.

Only this room opens the file: it holds what the right answers look like.
"""

import marshal
import threading
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from merit.cache import open_cache, read_cache, write_cache
from merit.reading import hash_file
from merit.sql import Row

_FILE = "references-v2.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS result (
    reference BLOB, database TEXT, count INT NOT NULL, rows BLOB NOT NULL, check_ INT NOT NULL,
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
            found = read_cache(
                self._db, "SELECT database, count, rows, check_ FROM result WHERE reference = ?", reference
            )
            sound = {database: (count, rows) for database, count, rows, check in found if _check(rows) == check}
            return {**sound, **pending}

    def keep(self, reference: bytes, results: Mapping[str, Stored]) -> None:
        """Remember a reference's encoded rows by database."""
        with self._lock:
            self._pending.setdefault(reference, {}).update(results)
            if len(self._pending) >= _FLUSH_EVERY:
                self._flush()

    def content_hashes(self, paths: Iterable[Path]) -> dict[Path, str]:
        """The hash of each file's content, read again only when size or time changed."""
        with self._lock:
            known = {path: row for path, *row in read_cache(self._db, "SELECT path, size, mtime_ns, hash FROM content")}
            hashes, fresh = {}, []
            for path in paths:
                log = path.with_name(path.name + "-wal")
                if log.is_file():  # then the database is what both say together
                    hashes[path] = f"{hash_file(path)}+{hash_file(log)}"
                    continue
                stat = path.stat()
                row = known.get(str(path.absolute()))
                if row is None or row[:2] != [stat.st_size, stat.st_mtime_ns]:
                    row = [stat.st_size, stat.st_mtime_ns, hash_file(path)]
                    fresh.append((str(path.absolute()), *row))
                hashes[path] = str(row[2])
            write_cache(self._db, "INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?)", fresh)
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
            for key, kept in self._pending.items()
            for database, (count, encoded) in kept.items()
        ]
        write_cache(self._db, "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?)", rows)
        self._pending.clear()
