"""What is said about an answer becomes entries whose failures are those of its own engine."""

import pytest

from merit.agent.feedback import EpisodeAnswer, ExecutedStatement, corrected_change, rejected_change
from merit.memory import Provenance, Repair
from merit.types import FailureSubtype, Status

MISSING = {"postgresql": "42P01", "mysql": "1146", "mariadb": "1146", "sqlite": None}


@pytest.mark.parametrize(("dialect", "code"), MISSING.items())
def test_a_failure_is_typed_by_the_code_of_its_engine(dialect: str, code: str | None) -> None:
    message = "no such table: ordres" if dialect == "sqlite" else "it is not there"
    failed = ExecutedStatement("SELECT 1 FROM ordres", Status.EXECUTION_ERROR, message, code)
    answer = EpisodeAnswer(failed.sql, message, [failed])
    source = Provenance("live", "q", "shop", 1, 0, "live:q", dialect=dialect)
    change = corrected_change(answer, "How many?", "SELECT 1 FROM orders", "", source)
    assert isinstance(change, Repair)
    assert change.subtype is FailureSubtype.MISSING_TABLE


def test_without_a_failed_candidate_a_rejection_leaves_no_change() -> None:
    ran = ExecutedStatement("SELECT 1", Status.EXECUTED)
    source = Provenance("live", "q", "shop", 1, 0, "live:q")
    assert rejected_change(EpisodeAnswer(ran.sql, None, [ran]), "How many?", "", source) is None
    failed = ExecutedStatement("SELECT x", Status.EXECUTION_ERROR, "no such column: x")
    assert rejected_change(EpisodeAnswer(ran.sql, None, [failed, ran]), "How many?", "", source) is not None
