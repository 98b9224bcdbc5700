"""The nouns and Protocols that cross rooms. Nothing here knows a reference answer."""

from merit.types.engine import DIALECTS, Engine, Error, Limits, Result, Row, Rows, Timeout, Value
from merit.types.nouns import (
    Cause,
    Demonstration,
    Failure,
    FailureSubtype,
    FailureType,
    Polarity,
    Question,
    QuestionId,
    Regime,
    Status,
    Verdict,
)
from merit.types.schema import Column, Schema, Table

__all__ = [
    "DIALECTS",
    "Cause",
    "Column",
    "Demonstration",
    "Engine",
    "Error",
    "Failure",
    "FailureSubtype",
    "FailureType",
    "Limits",
    "Polarity",
    "Question",
    "QuestionId",
    "Regime",
    "Result",
    "Row",
    "Rows",
    "Schema",
    "Status",
    "Table",
    "Timeout",
    "Value",
    "Verdict",
]
