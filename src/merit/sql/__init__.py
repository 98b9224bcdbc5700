"""Databases: running any statement safely. Must never know a question, a reference or a model."""

from merit.sql.canonical import canonical
from merit.sql.encoding import decode, digest, encode
from merit.sql.sqlite import SQLITE_VERSION, SQLiteEngine, SQLiteSandbox, Trial

__all__ = [
    "SQLITE_VERSION",
    "SQLiteEngine",
    "SQLiteSandbox",
    "Trial",
    "canonical",
    "decode",
    "digest",
    "encode",
]
