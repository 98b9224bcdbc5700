"""Databases: running any statement safely. Must never know a question, a reference or a model."""

from merit.sql.canonical import canonical
from merit.sql.limits import MIB, Limits
from merit.sql.result import Error, Result, Row, Rows, Sandbox, Timeout, Value
from merit.sql.sqlite import SQLiteSandbox

__all__ = [
    "MIB",
    "Error",
    "Limits",
    "Result",
    "Row",
    "Rows",
    "SQLiteSandbox",
    "Sandbox",
    "Timeout",
    "Value",
    "canonical",
]
