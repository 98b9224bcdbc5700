"""An encoder that never encodes a text twice."""

import hashlib
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from merit.cache import open_cache, read_cache, write_cache
from merit.types import Encoder, EncoderIdentity, Matrix

_FILE = "embeddings-v1.sqlite"
_TABLES = "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"


class CachingEncoder:
    """Another encoder's vectors, kept under its identity and the text; shared by processes through `folder`."""

    def __init__(self, encoder: Encoder, folder: Path | None) -> None:
        self._encoder = encoder
        self._db = open_cache(folder, _FILE, _TABLES)
        self._lock = threading.Lock()
        self.encoded = 0  # texts that were not in the cache
        self.seconds = 0.0  # spent on encoding them

    @property
    def identity(self) -> EncoderIdentity:
        """The identity of the encoder behind it."""
        return self._encoder.identity

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A vector of length 1 for each text."""
        keys = [self._key(text) for text in texts]
        with self._lock:
            known = {key: self._fetch(key) for key in set(keys)}
            missing = {key: text for key, text in zip(keys, texts, strict=True) if known[key] is None}
            if missing:
                started = time.perf_counter()
                fresh = self._encoder.encode(list(missing.values()))
                self.encoded += len(missing)
                self.seconds += time.perf_counter() - started
                rows = dict(zip(missing, fresh, strict=True))
                write_cache(
                    self._db, "INSERT OR REPLACE INTO vector VALUES (?, ?)", [(k, v.tobytes()) for k, v in rows.items()]
                )
                known.update(rows)
        vectors = [vector for key in keys if (vector := known[key]) is not None]
        return np.array(vectors, np.float32).reshape(len(texts), self.identity.dimension)

    def close(self) -> None:
        """Close the cache file."""
        self._db.close()

    def _fetch(self, key: bytes) -> Matrix | None:
        rows = read_cache(self._db, "SELECT value FROM vector WHERE key = ?", key)
        whole = rows and len(rows[0][0]) == 4 * self.identity.dimension
        return np.frombuffer(rows[0][0], np.float32) if whole else None

    def _key(self, text: str) -> bytes:
        named = f"{self._encoder.identity!r}\0{text}"
        return hashlib.sha256(named.encode("utf-8", "surrogatepass")).digest()[:16]
