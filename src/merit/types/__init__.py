"""The nouns and Protocols that cross rooms. Nothing here knows a reference answer."""

from merit.types.identities import EncoderIdentity, ModelIdentity, Sampling
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

__all__ = [
    "Cause",
    "Demonstration",
    "EncoderIdentity",
    "Failure",
    "FailureSubtype",
    "FailureType",
    "ModelIdentity",
    "Polarity",
    "Question",
    "QuestionId",
    "Regime",
    "Sampling",
    "Status",
    "Verdict",
]
