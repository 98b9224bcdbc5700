"""Naming the failure of an attempt, by its engine's table (`merit.failure.error_rules`)."""

from merit.failure.error_rules import TABLES, Observation
from merit.types import Failure, FailureSubtype, FailureType, Verdict


def classify(verdict: Verdict, dialect: str = "sqlite") -> Failure:
    """Name the failure of an unsuccessful attempt on an engine of this dialect."""
    if verdict.satisfied:
        raise ValueError("an attempt that did not fail has no failure to name")
    observation = observe(verdict, dialect)
    for rule in TABLES[dialect]:
        if rule.matches(observation):
            return rule.failure
    return Failure(FailureType.UNKNOWN, FailureSubtype.UNKNOWN)


def observe(verdict: Verdict, dialect: str) -> Observation:
    """What the rules of a dialect look at."""
    text = verdict.error or ""
    if dialect != "sqlite":
        text = text.split("\n", 1)[0]  # the other engines quote the statement in further lines
    return Observation(verdict, verdict.code or "", text.lower())
