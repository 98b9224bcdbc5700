"""The nouns and Protocols that cross rooms. Nothing here knows a reference answer."""

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

__all__ = [
    "Cause",
    "Completer",
    "Completion",
    "Demonstration",
    "Encoder",
    "EncoderIdentity",
    "Failure",
    "FailureSubtype",
    "FailureType",
    "Judging",
    "Matrix",
    "ModelIdentity",
    "Oracle",
    "Polarity",
    "Question",
    "QuestionId",
    "Regime",
    "Sampling",
    "Status",
    "Verdict",
]
