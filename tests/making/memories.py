"""Small memories to recall from."""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from merit.memory import Cue, Grade, Precedent, Provenance, Repair
from merit.types import EncoderIdentity, FailureSubtype, FailureType, Polarity, Status
from merit.vectors import unit_vectors


class WordEncoder:
    """A deterministic encoder for tests: words hashed into a few dimensions. Real arithmetic, no meaning."""

    def __init__(self, dimension: int = 16, revision: str = "1") -> None:
        self.identity = EncoderIdentity("test-words", revision, dimension)
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.encoded += texts
        rows = []
        for text in texts:
            row = [0.0] * self.identity.dimension
            for word in text.lower().split():
                digest = hashlib.sha256((self.identity.revision + word).encode()).digest()
                row[digest[0] % len(row)] += 1.0 if digest[1] % 2 else -1.0
            rows.append(row)
        return unit_vectors(rows, texts, self.identity)


def make_entry(number: int = 0, **changes: Any) -> Repair:
    """A repair; every field can be set by name, those of its provenance too."""
    positive = changes.get("polarity", Polarity.POSITIVE) is Polarity.POSITIVE
    provenance = _provenance(number, changes)
    fields: dict[str, Any] = {
        "id": "",
        "polarity": Polarity.POSITIVE,
        "question": f"question {number}",
        "schema": "Database: shop",
        "before": f"SELECT a{number} FROM t",
        "status": Status.DENOTATION_MISMATCH,
        "db_error": None,
        "type": FailureType.RESULT_MISMATCH,
        "subtype": FailureSubtype.UNKNOWN,
        "after": f"SELECT b{number} FROM t",
        "outcome": Status.CORRECT if positive else Status.DENOTATION_MISMATCH,
        "outcome_error": None,
        "grade": Grade.CONFIRMED,
    }
    return Repair(**{**fields, **changes}, provenance=provenance)


def make_precedent(number: int = 0, **changes: Any) -> Precedent:
    """An answer as `finalise` leaves it; every field can be set by name, those of its provenance too."""
    provenance = _provenance(number, changes)
    fields: dict[str, Any] = {
        "id": "",
        "question": f"question {number}",
        "schema": "Database: shop",
        "sql": f"SELECT b{number} FROM t",
        "observed": Status.CORRECT,
        "outcome": Status.CORRECT,
        "grade": Grade.CONFIRMED,
    }
    return Precedent(**{**fields, **changes}, provenance=provenance)


def _provenance(number: int, changes: dict[str, Any]) -> Provenance:
    """Where an entry comes from; takes what belongs there out of `changes`."""
    fields: dict[str, Any] = {
        "run": "run",
        "question_id": number,
        "db_id": "shop",
        "position": number,
        "step": 1,
        "episode": f"run:{number}",
        "author": None,
        "time": None,
        "schema_fingerprint": None,
        "dialect": None,
    }
    return Provenance(**{name: changes.pop(name, value) for name, value in fields.items()})


def make_cue(**changes: Any) -> Cue:
    fields: dict[str, Any] = {
        "question": "how many things",
        "question_id": "now",
        "db_id": "shop",
        "position": math.inf,
        "step": 1,
        "sql": "SELECT a FROM t",
        "failure_context": "attempted_sql=SELECT a FROM t; status=DENOTATION_MISMATCH; db_error=(none)",
        "type": FailureType.RESULT_MISMATCH,
    }
    return Cue(**{**fields, **changes})
