"""The paper's ordered rule table (appendix "Deterministic Online Error Classifier"): the first match wins."""

from collections.abc import Callable
from dataclasses import dataclass

from merit.types import Cause, Failure, FailureSubtype, FailureType, Status, Verdict


def _says(*fragments: str) -> Callable[[Verdict], bool]:
    """Whether the database's text contains one of the fragments, whatever its case."""

    def matches(verdict: Verdict) -> bool:
        text = (verdict.error or "").lower()
        return any(fragment in text for fragment in fragments)

    return matches


def _timed_out(verdict: Verdict) -> bool:
    return verdict.status is Status.TIMEOUT or _says("timed out")(verdict)


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table."""

    matches: Callable[[Verdict], bool]
    failure: Failure


RULES = (
    Rule(_says("no such table:"), Failure(FailureType.SCHEMA_LINKING, FailureSubtype.MISSING_TABLE)),
    Rule(_says("no such column:"), Failure(FailureType.SCHEMA_LINKING, FailureSubtype.MISSING_COLUMN)),
    Rule(_says("no such view:"), Failure(FailureType.SCHEMA_LINKING, FailureSubtype.MISSING_VIEW)),
    Rule(_says("ambiguous column name:"), Failure(FailureType.SCHEMA_LINKING, FailureSubtype.AMBIGUOUS_COLUMN)),
    Rule(_says("no such function:"), Failure(FailureType.SYNTAX, FailureSubtype.UNKNOWN_FUNCTION)),
    Rule(
        _says("syntax error", "incomplete input", "unrecognized token"),
        Failure(FailureType.SYNTAX, FailureSubtype.PARSE_FAILURE),
    ),
    Rule(
        _says("misuse of aggregate", "aggregate functions are not allowed"),
        Failure(FailureType.AGGREGATION, FailureSubtype.DBMS_AGGREGATE_MISUSE),
    ),
    Rule(_says("datatype mismatch", "type mismatch"), Failure(FailureType.FILTER_VALUE, FailureSubtype.TYPE_MISMATCH)),
    # Causes that SQLite words badly are told by their type, which the sandbox knows.
    Rule(
        lambda verdict: verdict.cause is Cause.READ_ONLY,
        Failure(FailureType.EXECUTION, FailureSubtype.READ_ONLY_VIOLATION),
    ),
    Rule(
        lambda verdict: verdict.cause is Cause.DATABASE_MISSING,
        Failure(FailureType.EXECUTION, FailureSubtype.DB_NOT_FOUND),
    ),
    Rule(_timed_out, Failure(FailureType.EXECUTION, FailureSubtype.TIMEOUT)),
    Rule(lambda verdict: bool(verdict.error), Failure(FailureType.UNKNOWN, FailureSubtype.UNKNOWN)),
    Rule(
        lambda verdict: verdict.status is Status.DENOTATION_MISMATCH,
        Failure(FailureType.RESULT_MISMATCH, FailureSubtype.UNKNOWN),
    ),
)


def classify(verdict: Verdict) -> Failure:
    """Name the failure of an unsuccessful attempt."""
    if verdict.satisfied:
        raise ValueError("an attempt that did not fail has no failure to name")
    for rule in RULES:
        if rule.matches(verdict):
            return rule.failure
    return Failure(FailureType.UNKNOWN, FailureSubtype.UNKNOWN)
