"""The paper's accounting over hand-made turns; every expected number is worked out here, by hand."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from merit.agent import METHODS, Attempt, Episode, FirstAnswer, Method, Reflection, Task
from merit.errors import AuditFailed
from merit.memory import RecallPolicy
from merit.runs.accounting import account, account_as_recorded, check_arithmetic, oscillates
from merit.runs.turn import Phase, Turn
from merit.types import Failure, FailureSubtype, FailureType, Question, Regime, Status, Verdict

MERIT, ITERATIVE, REFLEXION, CONTROL = (METHODS[n] for n in ("merit", "iterative", "reflexion", "transductive_batch"))
PRECEDENT = METHODS["precedent"]
TOLD, UNTOLD = Regime.DENOTATION_CONFIRMED, Regime.DBMS_ONLY
RIGHT, WRONG, BROKEN, LATE, RAN = (
    Status.CORRECT,
    Status.DENOTATION_MISMATCH,
    Status.EXECUTION_ERROR,
    Status.TIMEOUT,
    Status.EXECUTED,
)
_TYPES = {WRONG: FailureType.RESULT_MISMATCH, BROKEN: FailureType.SCHEMA_LINKING, LATE: FailureType.EXECUTION}


def attempt(sql: str, status: Status, prompt: int = 0, output: int = 0) -> Attempt:
    failure = Failure(_TYPES[status], FailureSubtype.UNKNOWN) if status in _TYPES else None
    return Attempt(sql, sql, prompt, output, Verdict(status), failure)


def turn(
    number: int,
    attempts: Sequence[Attempt],
    *,
    phase: Phase = Phase.ANSWER,
    entry: str | None = None,
    recalls: int = 0,
    reflections: Sequence[tuple[int, int]] = (),
    right: tuple[bool, bool] | None = None,
) -> Turn:
    task = Task(Question(number, "shop", f"question {number}"), "schema", number, FirstAnswer("", ""), number)
    said = tuple(Reflection("text", "reply", prompt, output, "0" * 64) for prompt, output in reflections)
    known = (attempts[0].verdict.correct, attempts[-1].verdict.correct)
    return Turn(phase, Episode(task, tuple(attempts), said), entry, *(right or known), recalls)


# Five questions: right at once, right after one repair, right after two, never (three repairs), right at once.
STREAM = [
    turn(0, [attempt("a", RIGHT, 100, 10)]),
    turn(1, [attempt("a", WRONG, 200, 20), attempt("b", RIGHT, 300, 30)], entry="pos-1", recalls=1),
    turn(
        2,
        [attempt("a", BROKEN, 1, 2), attempt("b", WRONG, 3, 4), attempt("c", RIGHT, 5, 6)],
        entry="pos-2",
        recalls=2,
    ),
    turn(
        3,
        [attempt("a", LATE), attempt("b", BROKEN), attempt(" A ;", WRONG), attempt("d", WRONG, 7, 8)],
        entry="neg-3",
        recalls=3,
    ),
    turn(4, [attempt("a", RIGHT)]),
]


def test_everything_that_is_counted() -> None:
    assert account(STREAM, MERIT) == {
        "format": 2,
        "method": "merit",
        "online": True,
        "questions": 5,
        "initial_correct": 2,
        "correct": 4,
        "initial_accuracy": 40.0,
        "accuracy": 80.0,
        "repaired": 2,
        "repaired_at_step": {"1": 1, "2": 1},
        "steps": 2.0,  # (1 + 2 + 3) repairs for 3 questions that were wrong
        "oscillating": 1,
        "oscillation": 20.0,  # of all five
        "calls": {"initial": 5, "repair": 6, "reflection": 0, "total": 11},
        "tokens": {
            "initial": 110 + 220 + 3,
            "repair": 330 + 7 + 11 + 15,
            "reflection": 0,
            "prompt": 100 + 200 + 300 + 1 + 3 + 5 + 7,
            "output": 10 + 20 + 30 + 2 + 4 + 6 + 8,
            "total": 333 + 363,
        },
        "db_executions": 11,
        "retrieval_calls": 6,
        "embedding_calls": 9,  # one a recall, one an entry
        "entries": {"positive": 2, "negative": 1, "precedent": 0},
        "initial_status": {"CORRECT": 2, "DENOTATION_MISMATCH": 1, "EXECUTION_ERROR": 1, "TIMEOUT": 1},
        "final_status": {"CORRECT": 4, "DENOTATION_MISMATCH": 1},
        "initial_failures": {"EXECUTION": 1, "RESULT_MISMATCH": 1, "SCHEMA_LINKING": 1},
    }
    check_arithmetic(account(STREAM, MERIT), MERIT, TOLD, 7)


def test_nothing_at_all_divides_by_nothing() -> None:
    found = account([], MERIT)
    assert (found["steps"], found["accuracy"], found["oscillation"], found["repaired_at_step"]) == (0.0, 0.0, 0.0, {})
    check_arithmetic(found, MERIT, TOLD, 7)


def test_all_right_at_once_are_no_steps() -> None:
    found = account([STREAM[0], STREAM[4]], MERIT)
    assert (found["steps"], found["accuracy"], found["repaired"]) == (0.0, 100.0, 0)


def test_steps_are_those_of_a_question_that_was_wrong() -> None:
    wrong = [turn(i, [attempt("a", WRONG), *(attempt(f"b{j}", WRONG) for j in range(7))]) for i in range(3)]
    right = [turn(i, [attempt("a", RIGHT)]) for i in range(3, 10)]
    assert account([*wrong, *right], ITERATIVE)["steps"] == 7.0
    uneven = [turn(20, [attempt("a", WRONG), attempt("b", RIGHT)]), *wrong[:2]]
    assert account([*uneven, *right], ITERATIVE)["steps"] == 5.0
    assert account([*uneven, wrong[2], turn(21, [attempt("a", WRONG), attempt("b", RIGHT)])], ITERATIVE)["steps"] == 4.6
    thirds = [turn(22, [attempt("a", WRONG), attempt("b", WRONG), attempt("c", RIGHT)]), *uneven[:1], *uneven[:1]]
    assert account(thirds, ITERATIVE)["steps"] == 1.333


def test_a_repair_is_counted_at_its_step() -> None:
    lengths = [1, 3, 3, 7]
    turns = [
        turn(i, [attempt("a", WRONG), *(attempt(f"b{j}", WRONG) for j in range(n - 1)), attempt("c", RIGHT)])
        for i, n in enumerate(lengths)
    ]
    never = turn(9, [attempt("a", WRONG), attempt("b", WRONG)])
    found = account([*turns, never, STREAM[0]], ITERATIVE)
    assert (found["repaired"], found["repaired_at_step"]) == (4, {"1": 1, "3": 2, "7": 1})


# Oscillation.


@pytest.mark.parametrize(
    ("sqls", "same"),
    [
        (["SELECT a", "SELECT b"], False),
        (["SELECT a", "SELECT a"], True),
        (["SELECT a", "SELECT b", "SELECT a"], True),  # not only the one before
        (["SELECT a", "select A"], True),
        (["SELECT a", "  SELECT\n\ta  "], True),
        (["SELECT a", "SELECT a;"], True),
        (["SELECT a", "SELECT a ; "], True),
        (["SELECT a", "SELECT a;;"], False),  # one trailing semicolon
        (["SELECT a", "SELECTa"], False),
        (["", " ;"], True),
        (["SELECT a"], False),
    ],
)
def test_the_same_sql_twice_is_the_same_up_to_case_white_space_and_a_semicolon(sqls: list[str], same: bool) -> None:
    one = turn(0, [attempt(sql, WRONG) for sql in sqls])
    assert oscillates(one.episode) is same
    assert account([one], ITERATIVE)["oscillating"] == int(same)


def test_oscillation_is_of_all_questions() -> None:
    twice = turn(0, [attempt("a", WRONG), attempt("a", WRONG), attempt("a", WRONG)])
    found = account([twice, *(turn(i, [attempt("a", RIGHT)]) for i in (1, 2))], ITERATIVE)
    assert (found["oscillating"], found["oscillation"]) == (1, 33.33)


# Candidates that came before.


def repeat(sql: str, status: Status, prompt: int = 0, output: int = 0) -> Attempt:
    return replace(attempt(sql, status, prompt, output), repeat=True)


def test_a_repeat_is_a_call_with_its_tokens_but_nothing_to_judge() -> None:
    turns = [
        turn(0, [attempt("a", RIGHT, 100, 10)], entry="pre-0"),
        turn(
            1,
            [attempt("a", WRONG, 200, 20), repeat("A", WRONG, 1, 2), attempt("b", RIGHT, 3, 4)],
            entry="pre-1",
            recalls=2,
        ),
        turn(
            2,
            [attempt("a", BROKEN), attempt("b", WRONG), repeat("a;", BROKEN, 5, 6), repeat("a ", BROKEN, 7, 8)],
            recalls=3,
        ),
    ]
    found = account(turns, PRECEDENT)
    assert found["calls"] == {"initial": 3, "repair": 5, "reflection": 0, "total": 8}
    tokens = {"initial": 330, "repair": 3 + 7 + 11 + 15, "reflection": 0, "prompt": 316, "output": 50, "total": 366}
    assert found["tokens"] == tokens
    assert found["db_executions"] == 3 + 5 - 3
    assert (found["steps"], found["repaired_at_step"]) == (2.5, {"2": 1})  # of draws, not of candidates
    assert (found["oscillating"], found["oscillation"]) == (2, 66.67)  # a repeat is part of its trajectory
    assert (found["retrieval_calls"], found["embedding_calls"]) == (5, 7)
    assert found["entries"] == {"positive": 0, "negative": 0, "precedent": 2}
    assert found["final_status"] == {"CORRECT": 2, "EXECUTION_ERROR": 1}
    check_arithmetic(found, PRECEDENT, TOLD, 1)


def test_metrics_of_the_first_format_are_counted_as_they_were() -> None:
    turns = [turn(0, [attempt("a", WRONG), repeat("a", WRONG), attempt("b", RIGHT)])]
    now = account(turns, PRECEDENT)
    then = account_as_recorded(turns, PRECEDENT, {"format": 1})
    assert (now["oscillating"], then["oscillating"], then["oscillation"]) == (1, 0, 0.0)
    assert "db_executions" not in then
    assert then["judged"] == now["db_executions"] == 2
    assert account_as_recorded(turns, PRECEDENT, {"format": 2}) == now


def test_candidates_that_differ_in_a_texts_case_oscillate_as_the_paper_says() -> None:
    one = turn(0, [attempt("SELECT 'a'", WRONG), attempt("SELECT 'A'", WRONG), repeat("select 'a'", WRONG)])
    assert oscillates(one.episode)  # case makes no difference there, though it may in the rows


def test_draws_are_bounded_by_the_budget() -> None:
    again = [repeat("a", WRONG) for _ in range(5)]
    found = account([turn(0, [attempt("a", WRONG), *again, attempt("b", RIGHT)])], PRECEDENT)
    check_arithmetic(found, PRECEDENT, TOLD, 2)
    with pytest.raises(AuditFailed, match="repairs by step$"):
        check_arithmetic(found, PRECEDENT, TOLD, 1)
    with pytest.raises(AuditFailed, match="repairs by step$"):
        check_arithmetic(found, ITERATIVE, TOLD, 2)  # which has one draw a repair


def test_a_recall_in_two_wordings_is_two_embeddings() -> None:
    both = replace(PRECEDENT, recall=RecallPolicy(precedents=4))
    assert account(STREAM, both)["embedding_calls"] == 6 * 2 + 3
    assert account(STREAM, PRECEDENT)["embedding_calls"] == 6 + 3


# The control's two passes.


def test_a_first_pass_costs_its_repairs_but_no_first_answers() -> None:
    gathered = [
        turn(0, [attempt("a", RIGHT, 1000, 1000)], phase=Phase.GATHER),
        turn(1, [attempt("a", LATE, 1000, 1000), attempt("a", RIGHT, 1, 2)], phase=Phase.GATHER, entry="pos-1"),
        turn(2, [attempt("a", BROKEN), attempt("b", WRONG, 3, 4)], phase=Phase.GATHER, entry="neg-2"),
    ]
    answers = [
        turn(0, [attempt("a", RIGHT, 100, 10)]),
        turn(1, [attempt("a", LATE, 200, 20), attempt("b", RIGHT, 5, 6)], recalls=1),
        turn(2, [attempt("a", BROKEN), attempt("b", WRONG), attempt("c", WRONG, 7, 8)], recalls=2),
    ]
    found = account([*gathered, *answers], CONTROL)
    assert found["online"] is False
    assert (found["questions"], found["initial_correct"], found["correct"]) == (3, 1, 2)
    assert found["calls"] == {"initial": 3, "repair": 1 + 1 + 1 + 2, "reflection": 0, "total": 8}
    tokens = {"initial": 330, "repair": 3 + 7 + 11 + 15, "reflection": 0, "prompt": 316, "output": 50, "total": 366}
    assert found["tokens"] == tokens
    assert (found["steps"], found["repaired"], found["repaired_at_step"]) == (1.5, 1, {"1": 1})
    assert found["oscillating"] == 0
    assert (found["db_executions"], found["retrieval_calls"], found["embedding_calls"]) == (11, 3, 5)
    assert found["entries"] == {"positive": 1, "negative": 1, "precedent": 0}
    assert found["initial_status"] == {"CORRECT": 1, "EXECUTION_ERROR": 1, "TIMEOUT": 1}
    assert found["final_status"] == {"CORRECT": 2, "DENOTATION_MISMATCH": 1}
    assert found["initial_failures"] == {"EXECUTION": 1, "SCHEMA_LINKING": 1}
    check_arithmetic(found, CONTROL, TOLD, 7)


# Embeddings and reflections.


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_only_methods_that_encode_have_embedding_calls(method: Method) -> None:
    encodes = method.recall is not None and method.name not in ("no_dense", "random_same_type")
    found = account(STREAM, method)
    assert found["retrieval_calls"] == 6
    assert found["embedding_calls"] == (9 if encodes else 0)


REFLECTED = [
    turn(0, [attempt("a", RIGHT, 1, 1)]),
    turn(1, [attempt("a", WRONG, 1, 1), attempt("b", RIGHT, 2, 2)], reflections=[(10, 20)]),
    turn(2, [attempt("a", WRONG), attempt("b", WRONG)], reflections=[(30, 40), (50, 60)]),
]


def test_reflections_are_calls_and_tokens() -> None:
    found = account(REFLECTED, REFLEXION)
    assert found["calls"] == {"initial": 3, "repair": 2, "reflection": 3, "total": 8}
    tokens = {"initial": 4, "repair": 4, "reflection": 210, "prompt": 94, "output": 124, "total": 218}
    assert found["tokens"] == tokens
    check_arithmetic(found, REFLEXION, TOLD, 1)


def test_what_the_agent_saw_is_not_what_is_right() -> None:
    """Where nobody tells the agent, its episodes end with what ran, and the judge alone says what was right."""
    turns = [
        turn(0, [attempt("a", RAN)], right=(True, True)),
        turn(1, [attempt("a", RAN)], right=(False, False)),
        turn(2, [attempt("a", BROKEN), attempt("b", RAN)], right=(False, True)),
        turn(3, [attempt("a", BROKEN), attempt("b", RAN)], right=(False, False)),
    ]
    found = account(turns, ITERATIVE)
    assert (found["initial_correct"], found["correct"], found["repaired"]) == (1, 2, 1)
    assert found["repaired_at_step"] == {"1": 1}
    assert found["steps"] == 0.667  # 2 repairs, 3 wrong
    assert found["initial_status"] == {"EXECUTION_ERROR": 2, "EXECUTED": 2}
    assert found["final_status"] == {"EXECUTED": 4}
    check_arithmetic(found, ITERATIVE, UNTOLD, 7)


# Arithmetic: with one number changed, one rule does not hold.

CHANGES = [
    (("calls", "initial"), 4, "one first answer a question"),
    (("calls", "total"), 9, "all calls"),
    (("steps",), 1.001, "steps"),
    (("steps",), 0.999, "steps"),
    (("correct",), 3, "right at last"),
    (("correct",), 1, "right at last"),
    (("repaired_at_step",), {"1": 2}, "repairs by step"),
    (("repaired_at_step",), {"2": 1}, "repairs by step"),
    (("repaired_at_step",), {"0": 1}, "repairs by step"),
    (("repaired_at_step",), {}, "repairs by step"),
    (("tokens", "prompt"), 95, "all tokens"),
    (("tokens", "output"), 123, "all tokens"),
    (("tokens", "initial"), 5, "tokens by call"),
    (("tokens", "repair"), 3, "tokens by call"),
    (("tokens", "reflection"), 211, "tokens by call"),
    (("initial_status",), {"CORRECT": 1, "DENOTATION_MISMATCH": 1}, "a first status each"),
    (("final_status",), {"CORRECT": 2, "DENOTATION_MISMATCH": 2}, "a last status each"),
]


def changed(found: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    new = deepcopy(found)
    inner = new
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return new


@pytest.mark.parametrize(("path", "value", "rule"), CHANGES)
def test_one_changed_number_breaks_one_rule(path: tuple[str, ...], value: Any, rule: str) -> None:
    found = account(REFLECTED, REFLEXION)
    check_arithmetic(found, REFLEXION, TOLD, 1)
    with pytest.raises(AuditFailed, match=f"^the accounting does not add up: {rule}$"):
        check_arithmetic(changed(found, path, value), REFLEXION, TOLD, 1)


def test_there_is_one_reflection_an_unsuccessful_attempt() -> None:
    found = account(REFLECTED, REFLEXION)
    fewer = changed(changed(found, ("calls", "reflection"), 2), ("calls", "total"), 7)
    with pytest.raises(AuditFailed, match="one reflection an unsuccessful attempt$"):
        check_arithmetic(fewer, REFLEXION, TOLD, 1)
    with pytest.raises(AuditFailed, match="one reflection an unsuccessful attempt$"):
        check_arithmetic(found, ITERATIVE, TOLD, 1)  # which has none at all


def test_reflections_that_were_not_asked_for_have_no_tokens() -> None:
    found = account(STREAM, ITERATIVE)
    tokens = {**found["tokens"], "repair": found["tokens"]["repair"] - 5, "reflection": 5}
    with pytest.raises(AuditFailed, match="no call without its tokens$"):
        check_arithmetic({**found, "tokens": tokens}, ITERATIVE, TOLD, 7)


def test_steps_may_be_rounded_and_no_more() -> None:
    thirds = [turn(0, [attempt("a", WRONG), attempt("b", WRONG), attempt("c", RIGHT)])]
    thirds += [turn(i, [attempt("a", WRONG), attempt("b", RIGHT)]) for i in (1, 2)]
    found = account(thirds, ITERATIVE)
    check_arithmetic(found, ITERATIVE, TOLD, 2)
    with pytest.raises(AuditFailed, match="steps$"):
        check_arithmetic({**found, "steps": 1.334}, ITERATIVE, TOLD, 2)


@pytest.mark.parametrize(("method", "regime"), [(ITERATIVE, UNTOLD), (CONTROL, TOLD)])
def test_episodes_that_are_not_those_that_were_wrong_need_not_add_up(method: Method, regime: Regime) -> None:
    found = account(STREAM, method)
    loose = {**found, "steps": 5.0, "correct": 3}
    check_arithmetic(loose, method, regime, 7)
    with pytest.raises(AuditFailed, match="steps$"):
        check_arithmetic(loose, ITERATIVE, TOLD, 7)
    with pytest.raises(AuditFailed, match="all calls$"):
        check_arithmetic(changed(found, ("calls", "total"), 0), method, regime, 7)


def test_an_agent_that_is_not_told_that_it_was_wrong_does_not_reflect() -> None:
    found = account([turn(0, [attempt("a", RAN)], right=(False, False))], REFLEXION)
    check_arithmetic(found, REFLEXION, UNTOLD, 7)
    with pytest.raises(AuditFailed, match="one reflection an unsuccessful attempt$"):
        check_arithmetic(found, REFLEXION, TOLD, 7)


def test_no_repair_comes_after_the_budget() -> None:
    found = account(STREAM, MERIT)
    check_arithmetic(found, MERIT, TOLD, 2)
    with pytest.raises(AuditFailed, match="repairs by step$"):
        check_arithmetic(found, MERIT, TOLD, 1)
