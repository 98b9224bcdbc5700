"""Drawing again: resampling from the first prompt, and candidates that came before."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making.memories import make_entry, make_precedent
from making.one_episode import CONFIRMED, NO_TABLE, RIGHT, TASK, WRONG, Counting, Told, episode_of, run_episode
from merit.agent import METHODS, Method, finalise, find_method
from merit.memory import Grade, Precedent, Repair
from merit.memory.format4 import entry_line
from merit.prompts import SPIDER, initial
from merit.sql import canonical
from merit.types import FailureType, Polarity, Question, Regime, Sampling, Status, Verdict

RESAMPLE, PRECEDENT = METHODS["resample"], METHODS["precedent"]
FIRST = initial(SPIDER, TASK.question, TASK.schema).text


def saying(*sqls: str) -> Counting:
    return Counting([f"<answer>{sql}</answer>" for sql in sqls])


def same_again(budget: int = 7) -> Counting:
    return saying(*["SELECT 0"] * 3 * budget)


# What is sent.


def test_resample_sends_the_first_prompt_again(tmp_path: Path) -> None:
    _, model, _ = episode_of(tmp_path, [WRONG], RESAMPLE, known=4)
    assert model.prompts == [FIRST] * 7
    assert {sampling.temperature for sampling in model.samplings} == {0.8}
    assert {sampling.max_tokens for sampling in model.samplings} == {Sampling().max_tokens}


def test_no_two_draws_share_a_seed_in_one_stream_or_in_several(tmp_path: Path) -> None:
    seeds = []
    for stream in range(4):
        episode_of(tmp_path / f"{stream}", [WRONG], RESAMPLE.seeded(stream), model=(model := same_again()))
        seeds += [sampling.seed for sampling in model.samplings]
    assert len(seeds) == len(set(seeds)) == 4 * 21
    assert all(type(seed) is int and seed > 0 for seed in seeds)


def test_the_same_stream_draws_the_same(tmp_path: Path) -> None:
    drawn = [episode_of(tmp_path / name, [WRONG], RESAMPLE.seeded(3))[1].samplings for name in "ab"]
    assert drawn[0] == drawn[1]


def test_methods_of_the_paper_are_greedy_in_every_stream(tmp_path: Path) -> None:
    for name, method in METHODS.items():
        if not method.temperature:
            _, model, _ = episode_of(tmp_path / name, [WRONG], method.seeded(5), known=4)
            assert set(model.samplings) <= {Sampling()}
            assert method.seeded(5).seed == 0
            assert (method.history, method.draws, method.temperature) == (True, 1, 0.0)


def test_the_first_repair_may_be_greedy(tmp_path: Path) -> None:
    _, model, _ = episode_of(tmp_path, [WRONG], find_method("precedent:greedy_first=true"), budget=3)
    assert model.samplings[0] == Sampling()
    assert [sampling.temperature for sampling in model.samplings[1:]] == [0.8, 0.8]
    assert [sampling.seed for sampling in model.samplings[1:]] == [2, 3]


def test_precedents_are_shown_in_a_first_prompt_and_nothing_else_is(tmp_path: Path) -> None:
    answers = [make_precedent(i, question=f"how many {i}") for i in range(6)]
    model = Counting()
    episode = run_episode(tmp_path, Told([WRONG]), PRECEDENT, model, budget=2, entries=[*answers, make_entry(9)])
    for prompt, attempt in zip(model.prompts, episode.attempts[1:], strict=True):
        assert attempt.recall is not None
        assert len(attempt.recall.precedents) == 4  # of those before position 5
        assert prompt == initial(SPIDER, TASK.question, TASK.schema, attempt.recall.precedents).text
        assert "SELECT b5 FROM t" not in prompt
        assert "SELECT 0" not in prompt
        assert "REPAIR" not in prompt


# Candidates that came before.


def test_a_repeat_is_set_aside(tmp_path: Path) -> None:
    model = saying("select 0 ;", "SELECT 1", "SELECT  1", "SELECT 0", "SELECT 2")
    episode, _, oracle = episode_of(tmp_path, [NO_TABLE, WRONG, RIGHT], RESAMPLE, model=model)
    assert oracle.judged == ["SELECT 0", "SELECT 1", "SELECT 2"]
    assert [attempt.repeat for attempt in episode.attempts] == [False, True, False, True, True, False]
    verdicts = [attempt.verdict for attempt in episode.attempts]
    assert verdicts == [NO_TABLE, NO_TABLE, WRONG, WRONG, NO_TABLE, RIGHT]
    types = [attempt.failure.type for attempt in episode.attempts if attempt.failure]
    assert types == ["SCHEMA_LINKING", "SCHEMA_LINKING", "RESULT_MISMATCH", "RESULT_MISMATCH", "SCHEMA_LINKING"]
    assert episode.attempts[1].sql == "select 0 ;"  # as it was said
    assert all((attempt.prompt_tokens, attempt.output_tokens) == (10, 1) for attempt in episode.attempts[1:])


def test_nothing_said_twice_is_a_repeat_too(tmp_path: Path) -> None:
    model = Counting(["I do not know.", "No idea.", "<answer>SELECT 1</answer>"])
    episode, _, oracle = episode_of(tmp_path, [WRONG, NO_TABLE, RIGHT], RESAMPLE, model=model)
    assert [attempt.repeat for attempt in episode.attempts] == [False, False, True, False]
    assert oracle.judged == ["SELECT 0", "", "SELECT 1"]


def test_without_further_draws_every_candidate_counts(tmp_path: Path) -> None:
    episode, _, _ = episode_of(tmp_path, [WRONG], METHODS["iterative"], model=same_again())
    assert not any(attempt.repeat for attempt in episode.attempts)
    assert len(episode.attempts) == 8


@pytest.mark.parametrize("budget", [0, 1, 2, 7])
def test_the_budget_is_of_candidates_and_draws_are_bounded(tmp_path: Path, budget: int) -> None:
    episode, model, _ = episode_of(tmp_path / "new", [WRONG], RESAMPLE, budget=budget)
    assert len(model.prompts) == len(episode.attempts) - 1 == budget
    episode, model, oracle = episode_of(tmp_path / "old", [WRONG], RESAMPLE, budget=budget, model=same_again(budget))
    assert len(model.prompts) == len(episode.attempts) - 1 == 3 * budget
    assert oracle.judged == ["SELECT 0"]


class Knowing:
    """Says of each statement always the same, as a judge does."""

    def __init__(self, right: int) -> None:
        self.right = right
        self.judged: list[str] = []

    async def judge(self, _question: Question, sql: str) -> Verdict:
        self.judged.append(sql)
        number = int(canonical(sql).removeprefix("select "))
        return RIGHT if number == self.right else WRONG if number % 2 else NO_TABLE


@settings(max_examples=150)
@given(
    said=st.lists(st.tuples(st.integers(0, 6), st.sampled_from(["SELECT {}", "select {};", "Select\n{} -- so"]))),
    budget=st.integers(0, 5),
    draws=st.integers(2, 4),
    right=st.integers(1, 9),
    history=st.booleans(),
)
def test_an_episode_never_judges_twice_nor_draws_too_often(
    tmp_path_factory: pytest.TempPathFactory,
    said: list[tuple[int, str]],
    budget: int,
    draws: int,
    right: int,
    history: bool,
) -> None:
    method = replace(RESAMPLE, draws=draws, history=history)
    model = saying(*[way.format(number) for number, way in said], *["SELECT 0"] * budget * draws)
    oracle = Knowing(right)
    episode = run_episode(tmp_path_factory.mktemp("episode"), oracle, method, model, budget=budget)
    assert len({canonical(sql) for sql in oracle.judged}) == len(oracle.judged)
    first, *drawn = episode.attempts
    candidates = [attempt for attempt in drawn if not attempt.repeat]
    assert [first.sql, *(attempt.sql for attempt in candidates)] == oracle.judged
    assert all(attempt.failure for attempt in episode.attempts[:-1])
    assert episode.final.verdict is RIGHT or len(candidates) == budget or len(drawn) == budget * draws
    assert len(candidates) <= budget
    assert len(drawn) <= budget * draws
    for step, attempt in enumerate(drawn, 1):
        earlier = [one for one in episode.attempts[:step] if canonical(one.sql) == canonical(attempt.sql)]
        assert attempt.repeat == bool(earlier)
        assert all(one.verdict == attempt.verdict for one in earlier)


# With the history shown.


def test_each_candidate_is_shown_once_with_the_feedback_of_the_last_one(tmp_path: Path) -> None:
    method = find_method("iterative:temperature=0.8,draws=3")
    model = saying("SELECT 1", "SELECT 0", "SELECT 2")
    episode, _, _ = episode_of(tmp_path, [NO_TABLE, WRONG, RIGHT], method, model=model)
    assert [attempt.repeat for attempt in episode.attempts] == [False, False, True, False]
    before, after = model.prompts[1:]
    assert before == after  # a repeat leaves nothing in the prompt; the seed alone is another
    assert model.samplings[1].seed != model.samplings[2].seed
    assert after.count("observed unsuccessful]") == 2
    assert "[Attempt 2 - observed unsuccessful]\nSELECT 1\n" in after
    assert "Status: DENOTATION_MISMATCH\nCurrent error type: Result Mismatch\nDB error: (none)\n" in after


def test_a_reflection_is_on_each_candidate_once(tmp_path: Path) -> None:
    method = find_method("reflexion:temperature=0.8,draws=2")
    replies = ["<reflection>a</reflection>", "<answer>SELECT 0</answer>", "<reflection>b</reflection>", "SELECT 1"]
    _, model, _ = episode_of(tmp_path, [NO_TABLE, RIGHT], method, model=Counting(replies))
    assert model.prompts[2].count("Outcome: status=") == 1
    assert model.prompts[2] == model.prompts[0]
    assert [sampling.temperature for sampling in model.samplings] == [0.0, 0.8, 0.0, 0.8]


# What is left behind.


def test_a_right_first_answer_is_a_precedent(tmp_path: Path) -> None:
    episode, _, _ = episode_of(tmp_path, [RIGHT], PRECEDENT)
    entry = finalise(episode, PRECEDENT, "run", CONFIRMED)
    assert isinstance(entry, Precedent)
    assert (entry.question, entry.sql) == ("how many", "SELECT 0")
    assert (entry.observed, entry.outcome, entry.type) == (Status.CORRECT, Status.CORRECT, FailureType.UNKNOWN)
    assert entry.grade is Grade.CONFIRMED
    source = entry.provenance
    assert (source.question_id, source.db_id, source.position, source.step) == ("q", "shop", 5, 0)


def test_a_repaired_answer_is_a_precedent_and_nothing_of_its_failures(tmp_path: Path) -> None:
    model = saying("SELECT 1", "SELECT 1", "SELECT 2")
    episode, _, _ = episode_of(tmp_path, [NO_TABLE, WRONG, RIGHT], PRECEDENT, model=model)
    entry = finalise(episode, PRECEDENT, "run", CONFIRMED)
    assert isinstance(entry, Precedent)
    assert entry.sql == "SELECT 2"
    assert entry.provenance.step == 2  # the second candidate, at the third draw
    assert "SELECT 1" not in entry_line(entry)
    assert "no such table" not in entry_line(entry)


@pytest.mark.parametrize("budget", [0, 2])
def test_a_question_that_stays_wrong_leaves_no_precedent(tmp_path: Path, budget: int) -> None:
    episode, _, _ = episode_of(tmp_path, [WRONG], PRECEDENT, budget=budget)
    assert finalise(episode, PRECEDENT, "run", CONFIRMED) is None


def test_resample_leaves_nothing(tmp_path: Path) -> None:
    for name, verdicts in {"first": [RIGHT], "later": [WRONG, RIGHT], "never": [WRONG]}.items():
        episode, _, _ = episode_of(tmp_path / name, verdicts, RESAMPLE)
        assert finalise(episode, RESAMPLE, "run", CONFIRMED) is None


def test_what_merely_ran_is_a_weaker_precedent(tmp_path: Path) -> None:
    episode, _, _ = episode_of(tmp_path, [NO_TABLE, Verdict(Status.EXECUTED)], PRECEDENT)
    entry = finalise(episode, PRECEDENT, "run", Regime.DBMS_ONLY)
    assert entry is not None
    assert (entry.outcome, entry.grade) == (Status.EXECUTED, Grade.EXECUTED)


@pytest.mark.parametrize(
    ("verdicts", "left"),
    [([RIGHT], Polarity.PRECEDENT), ([WRONG, RIGHT], Polarity.PRECEDENT), ([WRONG], Polarity.NEGATIVE)],
)
def test_a_method_that_keeps_everything_keeps_one_entry(
    tmp_path: Path, verdicts: list[Verdict], left: Polarity
) -> None:
    method: Method = replace(PRECEDENT, writes=frozenset(Polarity))
    episode, _, _ = episode_of(tmp_path, verdicts, method, budget=2)
    entry = finalise(episode, method, "run", CONFIRMED)
    assert entry is not None
    assert entry.polarity is left


def test_the_last_change_is_between_candidates(tmp_path: Path) -> None:
    method = find_method("merit:temperature=0.8,draws=3")
    model = saying("SELECT 1", "SELECT 0", "SELECT 2", "SELECT 0", "SELECT 1", "SELECT 2")
    repaired, _, _ = episode_of(tmp_path / "right", [NO_TABLE, WRONG, RIGHT], method, model=model)
    entry = finalise(repaired, method, "run", CONFIRMED)
    assert isinstance(entry, Repair)
    assert (entry.polarity, entry.before, entry.after) == (Polarity.POSITIVE, "SELECT 1", "SELECT 2")
    assert (entry.type, entry.provenance.step) == (FailureType.RESULT_MISMATCH, 2)
    model = saying(
        "SELECT 1", "SELECT 2", "SELECT 1", "SELECT 0", "SELECT 0", "SELECT 0", "SELECT 1", "SELECT 2", "SELECT 2"
    )
    failed, _, _ = episode_of(tmp_path / "wrong", [NO_TABLE, WRONG], method, model=model, budget=3)
    assert len(failed.attempts) == 10
    entry = finalise(failed, method, "run", CONFIRMED)
    assert isinstance(entry, Repair)
    assert (entry.polarity, entry.before, entry.after) == (Polarity.NEGATIVE, "SELECT 1", "SELECT 2")
