"""The nouns and Protocols that cross rooms. Nothing here knows a reference answer."""

from merit.types.entry import Entry, Grade, Precedent, Provenance, Repair
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
from merit.types.store import Change, Deletion, Store

__all__ = [
    "Cause",
    "Change",
    "Deletion",
    "Demonstration",
    "Entry",
    "Failure",
    "FailureSubtype",
    "FailureType",
    "Grade",
    "Polarity",
    "Precedent",
    "Provenance",
    "Question",
    "QuestionId",
    "Regime",
    "Repair",
    "Status",
    "Store",
    "Verdict",
]
