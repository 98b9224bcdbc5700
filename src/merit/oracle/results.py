"""Results of reference queries, computed once and kept on disk under the content of database and query.

Only this room opens the file: it holds what the right answers look like.
"""

import marshal
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from merit.cache import open_cache, write_cache
from merit.data.files import hash_file
from merit.sql import Row

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
            write_cache(self._db, "INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?)", fresh)
        return hashes

    def kills(self) -> dict[str, int]:
        """How many wrong answers each database, by content hash, has told from right ones."""
        with self._lock:
            return dict(self._db.execute("SELECT hash, count FROM kills").fetchall())

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
        rows = [(key, database, *result) for key, kept in self._pending.items() for database, result in kept.items()]
        write_cache(self._db, "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?)", rows)
        self._pending.clear()
