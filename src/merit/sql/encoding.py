"""Rows as bytes: to send them between processes, to keep them, to compare them."""

import hashlib
import marshal

from merit.types import Row

# Python's own format: its version 2 writes equal values as equal bytes on every Python, and nothing else is as fast.
_MARSHAL_VERSION = 2


def encode(rows: list[Row]) -> bytes:
    """Rows as bytes; equal bytes are the same rows of the same types in the same order."""
    return marshal.dumps(rows, _MARSHAL_VERSION)


def decode(encoded: bytes) -> list[Row]:
    """The rows again."""
    rows: list[Row] = marshal.loads(encoded)
    return rows


def digest(encoded: bytes) -> bytes:
    """A short name for encoded rows."""
    return hashlib.blake2b(encoded, digest_size=16).digest()
