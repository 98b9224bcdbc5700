"""The nouns and Protocols that cross rooms. Nothing here knows a reference answer."""

from merit.types.engine import DIALECTS, Engine, Error, Limits, Result, Row, Rows, Timeout, Value
from merit.types.entry import Entry, Grade, Precedent, Provenance, Repair
from merit.types.model import Completer, Completion, Encoder, EncoderIdentity, Matrix, ModelIdentity, Sampling
from merit.types.nouns import (
    Cause,
    Demonstration,
    Distinct,
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
from merit.types.store import Change, Deletion, Store

__all__ = [
    "DIALECTS",
    "Cause",
    "Change",
    "Column",
    "Completer",
    "Completion",
    "Deletion",
    "Demonstration",
    "Distinct",
    "Encoder",
    "EncoderIdentity",
    "Engine",
    "Entry",
    "Error",
    "Failure",
    "FailureSubtype",
    "FailureType",
    "Grade",
    "Judging",
    "Limits",
    "Matrix",
    "ModelIdentity",
    "Oracle",
    "Polarity",
    "Precedent",
    "Provenance",
    "Question",
    "QuestionId",
    "Regime",
    "Repair",
    "Result",
    "Row",
    "Rows",
    "Sampling",
    "Schema",
    "Status",
    "Store",
    "Table",
    "Timeout",
    "Value",
    "Verdict",
]
