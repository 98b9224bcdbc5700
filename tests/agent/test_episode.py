"""The episode beside Algorithm 1, with an oracle and a model that do as they are told."""

from pathlib import Path

import pytest

from making.one_episode import CONFIRMED, NO_TABLE, RIGHT, WRONG, Counting, episode_of
from merit.agent import METHODS, Method, finalise
from merit.memory import Grade, Repair
from merit.types import FailureType, Polarity, Regime, Status, Verdict


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_right_first_answer_ends_it_without_a_call_or_an_entry(tmp_path: Path, method: Method) -> None:
    episode, model, oracle = episode_of(tmp_path, [RIGHT], method)
    assert not model.prompts
    assert oracle.judged == ["SELECT 0"]
    entry = finalise(episode, method, "run", CONFIRMED)
    assert (entry is not None) == (Polarity.PRECEDENT in method.writes)


def test_repair_goes_on_until_it_is_right(tmp_path: Path) -> None:
    episode, model, oracle = episode_of(tmp_path, [WRONG, NO_TABLE, RIGHT], METHODS["iterative"])
    assert oracle.judged == ["SELECT 0", "SELECT 1", "SELECT 2"]
    assert len(model.prompts) == 2
    assert episode.final.verdict is RIGHT


@pytest.mark.parametrize("budget", [0, 1, 7])
def test_the_budget_is_the_number_of_repairs(tmp_path: Path, budget: int) -> None:
    episode, model, _ = episode_of(tmp_path, [WRONG], METHODS["iterative"], budget=budget)
    assert len(episode.attempts) == budget + 1
    assert len(model.prompts) == budget


def test_the_label_is_recomputed_after_every_attempt(tmp_path: Path) -> None:
    timeout = Verdict(Status.TIMEOUT, "timed out after 30 s")
    episode, model, _ = episode_of(tmp_path, [WRONG, NO_TABLE, timeout, RIGHT], METHODS["iterative"])
    types = [attempt.failure.type for attempt in episode.attempts if attempt.failure]
    assert types == [FailureType.RESULT_MISMATCH, FailureType.SCHEMA_LINKING, FailureType.EXECUTION]
    assert "Current error type: Schema Linking\nDB error: no such table: x\n" in model.prompts[1]
    assert "Status: TIMEOUT\nCurrent error type: Execution\n" in model.prompts[2]


def test_a_reply_without_sql_is_a_failed_attempt(tmp_path: Path) -> None:
    model = Counting(["I would rather not.", "<answer>SELECT 1</answer>"])
    episode, _, oracle = episode_of(tmp_path, [WRONG, NO_TABLE, RIGHT], METHODS["iterative"], model=model)
    assert oracle.judged == ["SELECT 0", "", "SELECT 1"]
    assert episode.attempts[1].reply == "I would rather not."
    assert "[Attempt 2 - observed unsuccessful]\n\n\nREPAIR RULES" in model.prompts[1]


def test_reflexion_reflects_after_the_first_and_the_last_failure(tmp_path: Path) -> None:
    episode, model, _ = episode_of(tmp_path, [WRONG], METHODS["reflexion"], budget=2)
    kinds = ["reflection" if "-reflection-" in prompt else "repair" for prompt in model.prompts]
    assert kinds == ["reflection", "repair", "reflection", "repair", "reflection"]
    assert [reflection.text for reflection in episode.reflections] == ["thought 1", "thought 3", "thought 5"]


def test_recall_reads_but_never_writes(tmp_path: Path) -> None:
    episode, _, _ = episode_of(tmp_path, [WRONG], METHODS["merit"], known=4)
    for attempt in episode.attempts[1:]:
        assert attempt.recall is not None
        assert attempt.recall.pools[0].stored == 4
    assert [attempt.recall is not None for attempt in episode.attempts] == [False] + [True] * 7


def test_a_repair_leaves_the_last_change_as_a_positive_entry(tmp_path: Path) -> None:
    episode, _, _ = episode_of(tmp_path, [WRONG, NO_TABLE, RIGHT], METHODS["merit"])
    entry = finalise(episode, METHODS["merit"], "run", CONFIRMED)
    assert isinstance(entry, Repair)
    assert entry.polarity is Polarity.POSITIVE
    assert (entry.before, entry.after) == ("SELECT 1", "SELECT 2")  # not from the first answer
    assert (entry.status, entry.db_error, entry.type) == (Status.EXECUTION_ERROR, "no such table: x", "SCHEMA_LINKING")
    assert (entry.outcome, entry.outcome_error, entry.grade) == (Status.CORRECT, None, Grade.CONFIRMED)
    assert (entry.provenance.position, entry.provenance.step, entry.provenance.question_id) == (5, 2, "q")


def test_an_unresolved_episode_leaves_its_last_direction_as_a_negative_entry(tmp_path: Path) -> None:
    episode, _, _ = episode_of(tmp_path, [WRONG, WRONG, WRONG, NO_TABLE], METHODS["merit"], budget=3)
    entry = finalise(episode, METHODS["merit"], "run", CONFIRMED)
    assert isinstance(entry, Repair)
    assert entry.polarity is Polarity.NEGATIVE
    assert (entry.before, entry.after, entry.type) == ("SELECT 2", "SELECT 3", "SCHEMA_LINKING")
    assert (entry.outcome, entry.outcome_error) == (Status.EXECUTION_ERROR, "no such table: x")
    assert entry.failure_context == "attempted_sql=SELECT 3; status=EXECUTION_ERROR; db_error=no such table: x"


@pytest.mark.parametrize("method", ["dynamic_rag", "positive_only"])
def test_some_methods_keep_no_failed_direction(tmp_path: Path, method: str) -> None:
    episode, _, _ = episode_of(tmp_path, [WRONG], METHODS[method])
    assert finalise(episode, METHODS[method], "run", CONFIRMED) is None


def test_a_change_that_merely_ran_is_not_kept_as_a_repair(tmp_path: Path) -> None:
    episode, _, _ = episode_of(tmp_path, [NO_TABLE, Verdict(Status.EXECUTED)], METHODS["merit"])
    assert finalise(episode, METHODS["merit"], "run", Regime.DBMS_ONLY) is None


def test_a_direction_that_failed_is_kept_where_no_reference_decides(tmp_path: Path) -> None:
    episode, _, _ = episode_of(tmp_path, [NO_TABLE], METHODS["merit"], budget=1)
    entry = finalise(episode, METHODS["merit"], "run", Regime.DBMS_ONLY)
    assert isinstance(entry, Repair)
    assert (entry.polarity, entry.grade) == (Polarity.NEGATIVE, Grade.EXECUTED)
