"""Databases: running any statement safely. Must never know a question, a reference or a model."""

from merit.sql.canonical import canonical
from merit.sql.connection import SQLITE_VERSION
from merit.sql.limits import MIB, Limits
from merit.sql.result import Error, Result, Row, Rows, Sandbox, Timeout, Trial, Value, decode, digest, encode
from merit.sql.sqlite import SQLiteSandbox

__all__ = [
    "MIB",
    "SQLITE_VERSION",
    "Error",
    "Limits",
    "Result",
    "Row",
    "Rows",
    "SQLiteSandbox",
    "Sandbox",
    "Timeout",
    "Trial",
    "Value",
    "canonical",
    "decode",
    "digest",
    "encode",
]
