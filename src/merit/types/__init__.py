"""The nouns and Protocols that cross rooms. Nothing here knows a reference answer."""

from merit.types.engine import DIALECTS, Engine, Error, Limits, Result, Row, Rows, Timeout, Value
from merit.types.model import Completer, Completion, Encoder, EncoderIdentity, Matrix, ModelIdentity, Sampling
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
from merit.types.oracle import Judging, Oracle
from merit.types.schema import Column, Schema, Table

__all__ = [
    "DIALECTS",
    "Cause",
    "Column",
    "Completer",
    "Completion",
    "Demonstration",
    "Encoder",
    "EncoderIdentity",
    "Engine",
    "Error",
    "Failure",
    "FailureSubtype",
    "FailureType",
    "Judging",
    "Limits",
    "Matrix",
    "ModelIdentity",
    "Oracle",
    "Polarity",
    "Question",
    "QuestionId",
    "Regime",
    "Result",
    "Row",
    "Rows",
    "Sampling",
    "Schema",
    "Status",
    "Table",
    "Timeout",
    "Value",
    "Verdict",
]
