"""Databases: running any statement safely. Must never know a question, a reference or a model."""

from merit.sql.canonical import canonical
from merit.sql.encoding import decode, digest, encode
from merit.sql.outcome import executed, failed
from merit.sql.sqlite import SQLITE_VERSION, SQLiteEngine, SQLiteSandbox, Trial, content_hash, journals

__all__ = [
    "SQLITE_VERSION",
    "SQLiteEngine",
    "SQLiteSandbox",
    "Trial",
    "canonical",
    "content_hash",
    "decode",
    "digest",
    "encode",
    "executed",
    "failed",
    "journals",
]
