"""Runs of the two methods beyond the paper: what they ask, keep and count, and that nothing of it can be changed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import ITEMS, Failing, FickleModel
from making.memories import WordEncoder
from making.runs import Bench, files_of, make_bench
from making.tampering import ANSWERS, LOG, TURNS, Record, reidentify, rewrite, settle, turn_where
from merit.agent import Task, rules
from merit.audit import AuditData, audit_run
from merit.errors import AuditFailed, InputError, MeritError
from merit.memory import Precedent, entries_in
from merit.models import AnswerStore, CachingCompleter
from merit.prompts import SPIDER, initial
from merit.runs import RunView, read_run

OURS = ["resample", "precedent"]
ENTRIES = "memory/memory.jsonl"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


def metrics(view: RunView) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((view.path / "metrics.json").read_text())
    return found


def recalls(view: RunView) -> list[Record]:
    return [json.loads(line) for line in (view.path / LOG).read_text().splitlines()]


def repeats(view: RunView) -> int:
    return sum(attempt.repeat for turn in view.turns for attempt in turn.episode.attempts)


def shown_entries(view: RunView) -> set[str]:
    return {match["entry"] for one in recalls(view) for pool in one["pools"] for match in pool["matches"]}


# What they do.


def test_resample_asks_the_first_prompt_again_and_keeps_nothing(bench: Bench, tmp_path: Path) -> None:
    model = FickleModel(luck=9)
    view = bench.run(tmp_path / "run", "resample", model=model)
    first = {initial(SPIDER, one.question, one.schema).text for one in view.questions.values()}
    assert model.prompts
    assert set(model.prompts) <= first
    assert not recalls(view)
    assert not list(entries_in(view.path / "memory"))
    for turn in view.turns:
        seeds = [s.seed for p, s in zip(model.prompts, model.samplings, strict=True) if _asks(p, turn.episode.task)]
        assert seeds == list(range(1, len(turn.episode.attempts)))


def _asks(prompt: str, task: Task) -> bool:
    return f"QUESTION:\n{task.question.text}\n" in prompt


def test_another_stream_draws_other_answers(bench: Bench, tmp_path: Path) -> None:
    models = [FickleModel(luck=9), FickleModel(luck=9)]
    for seed, model in enumerate(models):
        view = bench.run(tmp_path / f"{seed}", "resample", model=model, seed=seed)
        assert view.identity.method.seed == seed
    drawn = [{(p, s.seed) for p, s in zip(m.prompts, m.samplings, strict=True)} for m in models]
    assert not drawn[0] & drawn[1]


def test_precedent_keeps_every_right_answer_and_shows_earlier_ones(bench: Bench, tmp_path: Path) -> None:
    model = FickleModel(luck=4)
    view = bench.run(tmp_path / "run", "precedent", model=model)
    everything = [one.entry for one in entries_in(view.path / "memory")]
    kept = {entry.provenance.question_id: entry for entry in everything if isinstance(entry, Precedent)}
    assert len(kept) == len(everything)
    assert len(kept) == metrics(view)["correct"] == metrics(view)["entries"]["precedent"] > 4
    for turn in view.turns:
        entry = kept.get(turn.episode.task.question.id)
        assert (entry.sql if entry else None) == (turn.episode.final.sql if turn.final_correct else None)
        assert turn.entry == (entry.id if entry else None)
    for one in recalls(view):
        (pool,) = one["pools"]
        sources = [entry for m in pool["matches"] for entry in kept.values() if entry.id == m["entry"]]
        assert len(sources) == min(4, pool["stored"])
        assert all(entry.provenance.position < one["position"] for entry in sources)
    prompts = iter(model.prompts)
    for turn, question in ((turn, turn.episode.task.question) for turn in view.turns):
        for one in (one for one in recalls(view) if one["question_id"] == question.id):
            best = [next(e for e in kept.values() if e.id == m["entry"]) for m in one["pools"][0]["matches"]]
            assert next(prompts) == initial(SPIDER, question, turn.episode.task.schema, best).text
    assert next(prompts, None) is None


def test_precedents_of_the_questions_own_database_come_first(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", "precedent:database_bonus=2", model=FickleModel(luck=2))
    source = {one.entry.id: one.entry.provenance.db_id for one in entries_in(view.path / "memory")}
    here = {turn.episode.task.question.id: turn.episode.task.question.db_id for turn in view.turns}
    both = 0
    for one in recalls(view):
        own = [source[m["entry"]] == here[one["question_id"]] for pool in one["pools"] for m in pool["matches"]]
        assert own == sorted(own, reverse=True)
        both += len(set(own)) == 2
    assert both


@pytest.mark.parametrize("method", OURS)
def test_a_repeat_costs_a_call_and_its_tokens_and_is_not_judged(bench: Bench, tmp_path: Path, method: str) -> None:
    model = FickleModel(luck=9)
    view = bench.run(tmp_path / "run", method, model=model, budget=3)
    found = metrics(view)
    assert repeats(view) > 5
    assert found["calls"]["repair"] == len(model.prompts)
    assert found["db_executions"] == len(ITEMS) + len(model.prompts) - repeats(view)
    wrong = len(ITEMS) - found["initial_correct"]
    assert found["steps"] == pytest.approx(len(model.prompts) / wrong, abs=0.0005)
    asked = sum(len(prompt.split()) for prompt in model.prompts)
    assert found["tokens"]["prompt"] == asked  # first answers of a plain file have no cost
    again = [any(attempt.repeat for attempt in turn.episode.attempts) for turn in view.turns]
    assert found["oscillating"] >= sum(again) > 0  # a repeat is part of its trajectory
    for turn in view.turns:
        _, *drawn = turn.episode.attempts
        assert sum(not attempt.repeat for attempt in drawn) <= 3
        assert len(drawn) <= 9
    assert any(len(turn.episode.attempts) == 10 for turn in view.turns)


@pytest.mark.parametrize("regime", ["denotation_confirmed", "dbms_only"])
def test_our_fields_go_with_the_papers_prompts(bench: Bench, tmp_path: Path, regime: str) -> None:
    ours = "precedent:history=true,precedents=2,greedy_first=true,votes=false"  # what votes, sets nothing aside
    for name in (ours, "merit:temperature=0.8,draws=2"):
        view = bench.run(tmp_path / name.partition(":")[0], name, model=FickleModel(luck=9), regime=regime)
        assert repeats(view)
        assert view.method.name == name
        with bench.data() as data:
            assert audit_run(view, encoder=WordEncoder(), data=data).questions == len(ITEMS)


# The same files, however they came about. (That a shorter run is the beginning of a longer one is in test_run.)


@pytest.mark.parametrize("luck", [2, 6, 12])
def test_what_other_tests_run_has_repeats_and_precedents(bench: Bench, tmp_path: Path, luck: int) -> None:
    resampled = bench.run(tmp_path / "resample", "resample", model=FickleModel(luck))
    recalled = bench.run(tmp_path / "precedent", "precedent", model=FickleModel(luck))
    assert repeats(resampled)
    assert repeats(recalled)
    assert len(shown_entries(recalled)) > 2


@pytest.mark.parametrize("method", [*OURS, "precedent:history=true"])
@pytest.mark.parametrize("luck", [3, 12])
def test_files_are_the_same_with_and_without_looking_ahead(
    bench: Bench, tmp_path: Path, method: str, luck: int
) -> None:
    views = [
        bench.run(
            tmp_path / f"{ahead}", method, model=CachingCompleter(FickleModel(luck), AnswerStore(None)), ahead=ahead
        )
        for ahead in (0, 8)
    ]
    assert repeats(views[0])
    assert files_of(views[0].path) == files_of(views[1].path)


@pytest.mark.parametrize("method", OURS)
@pytest.mark.parametrize("answers", [0, 1, 7, 20, 33])
def test_a_run_that_broke_off_goes_on(bench: Bench, tmp_path: Path, method: str, answers: int) -> None:
    bench.run(tmp_path / "whole", method)
    with pytest.raises(InputError, match="the model is gone"):
        bench.run(tmp_path / "broken", method, model=Failing(answers))
    assert not (tmp_path / "broken" / "metrics.json").exists()
    bench.run(tmp_path / "broken", method)
    assert files_of(tmp_path / "broken") == files_of(tmp_path / "whole")


@pytest.mark.parametrize("file", [TURNS, LOG, ANSWERS, ENTRIES])
@pytest.mark.parametrize("lost", [1, 40, 900, 10**6])
def test_files_cut_anywhere_are_made_whole_again(
    honest: Path, bench: Bench, tmp_path: Path, file: str, lost: int
) -> None:
    """As a kill leaves them: each file by itself is behind the others."""
    run = tmp_path / "run"
    shutil.copytree(honest, run)
    whole = files_of(run)
    (run / file).write_bytes(whole[file][:-lost])
    bench.run(run, "precedent", model=FickleModel(luck=20))
    assert files_of(run) == whole


# Whatever is changed afterwards is noticed, though it was counted anew.


@pytest.fixture(scope="module")
def honest(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("honest") / "run"
    view = bench.run(out, "precedent", model=FickleModel(luck=20))
    assert repeats(view)
    assert shown_entries(view)
    return out


@pytest.fixture
def run(honest: Path, tmp_path: Path) -> Path:
    shutil.copytree(honest, tmp_path / "run")
    return tmp_path / "run"


def audited(run: Path, data: AuditData | None = None) -> None:
    audit_run(read_run(run), encoder=WordEncoder(), data=data)


def caught(run: Path, said: str, data: AuditData | None = None) -> None:
    with pytest.raises(MeritError) as refusal:
        audited(run, data)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_counting_anew_is_not_what_is_caught(run: Path) -> None:
    for file in (TURNS, LOG, ANSWERS, ENTRIES):
        rewrite(run, file, lambda _: None)
    settle(run)
    audited(run)


def attempt_where(records: list[Record], holds: Callable[[Record], bool]) -> Record:
    return next(attempt for record in records for attempt in record["attempts"] if holds(attempt))


def repeat_no_more(records: list[Record]) -> None:
    attempt_where(records, lambda one: one["repeat"])["repeat"] = False


def repeat_nothing(records: list[Record]) -> None:
    fresh = (one for record in records for one in record["attempts"][1:] if not one["repeat"])
    next(fresh)["repeat"] = True


def repeat_at_once(records: list[Record]) -> None:
    records[0]["attempts"][0]["repeat"] = True


def late(records: list[Record]) -> None:
    timeout = {"status": "TIMEOUT", "error": "the query timed out after 5 s", "cause": "timeout"}
    attempt_where(records, lambda one: one["repeat"]).update(timeout, type="EXECUTION", subtype="TIMEOUT")


def repeat_that_is_right(records: list[Record]) -> None:
    turn = turn_where(records, lambda one: one["attempts"][-1]["repeat"])
    turn["attempts"][-1].update(status="CORRECT", error=None, cause=None, type=None, subtype=None)
    turn["final_correct"] = True


def another_error(records: list[Record]) -> None:
    attempt_where(records, lambda one: one["repeat"] and one["error"] is not None)["error"] += "!"


def say_something_new(records: list[Record]) -> None:
    attempt_where(records, lambda one: one["repeat"]).update(sql="SELECT 7", reply="<answer>SELECT 7</answer>")


def exhausted(record: Record) -> bool:
    return len(record["attempts"]) == 1 + 3 * 7


def draw_once_more(records: list[Record]) -> None:
    turn = turn_where(records, exhausted)
    turn["attempts"].append(dict(turn["attempts"][-1]))
    turn["recalls"] += 1


def draw_once_less(records: list[Record]) -> None:
    turn = turn_where(records, exhausted)
    turn["attempts"].pop()
    turn["recalls"] -= 1


def leave_nothing(records: list[Record]) -> None:
    turn_where(records, lambda one: (one["entry"] or "").startswith("pre-"))["entry"] = None


def leave_something(records: list[Record]) -> None:
    turn_where(records, exhausted)["entry"] = "pre-0000000000000000"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (repeat_no_more, "repeats an earlier candidate"),
        (repeat_nothing, "repeats no earlier candidate"),
        (repeat_at_once, "attempt 0: repeats no earlier candidate"),
        (late, "the candidate that it repeats got another verdict"),
        (repeat_that_is_right, "the candidate that it repeats got another verdict"),
        (another_error, "the candidate that it repeats got another verdict"),
        (say_something_new, "repeats no earlier candidate"),
        (draw_once_more, "attempt 21: the episode should end here"),
        (draw_once_less, "attempt 20: the episode should go on here"),
        (leave_nothing, "left the entry None, but the episode gives pre-"),
        (leave_something, "left the entry pre-0000000000000000, but the episode gives None"),
    ],
)
def test_a_changed_episode_is_caught(run: Path, change: Callable[[list[Record]], object], said: str) -> None:
    rewrite(run, TURNS, change)
    settle(run)
    caught(run, said)


def edit_answer(records: list[Record]) -> None:
    records[1]["sql"] = "SELECT 'forged'"


def edit_question(records: list[Record]) -> None:
    records[1]["question"] += " Really?"


def move_entry(records: list[Record]) -> None:
    records[1]["provenance"]["position"] = 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit_answer, f"{ENTRIES}, line 2: is not the entry pre-"),
        (edit_question, f"{ENTRIES}, line 2: is not the entry pre-"),
        (move_entry, f"{ENTRIES}, line 2: is not the entry pre-"),
        (lambda records: records.pop(1), f"{ENTRIES}, line 2: is not the entry pre-"),
        (lambda records: records.pop(), f"{ENTRIES}: has no line for the entry pre-"),
        (lambda records: records.append(records[0]), f"{ENTRIES}: has a line that belongs to no turn"),
    ],
)
def test_a_changed_precedent_is_caught(run: Path, change: Callable[[list[Record]], object], said: str) -> None:
    rewrite(run, ENTRIES, change)
    caught(run, said)


def first_match(records: list[Record]) -> tuple[Record, Record]:
    return next((one, m) for one in records for pool in one["pools"] for m in pool["matches"])


@pytest.mark.parametrize("whose", ["its own", "a later one's", "nobody's"])
def test_a_precedent_that_was_not_there_yet_is_caught(run: Path, whose: str) -> None:
    turns = [json.loads(line) for line in (run / TURNS).read_text().splitlines()]
    left = {turn["question_id"]: turn["entry"] for turn in turns if turn["entry"]}

    def recall_it(records: list[Record]) -> None:
        if whose == "its own":
            one = next(o for o in records if o["question_id"] in left and o["pools"][0]["matches"])
            one["pools"][0]["matches"][0]["entry"] = left[one["question_id"]]
            return
        one, match = first_match(records)
        later = [entry for turn in turns[one["position"] + 1 :] if (entry := turn["entry"])]
        match["entry"] = later[0] if whose == "a later one's" else "pre-0000000000000000"

    rewrite(run, LOG, recall_it)
    caught(run, "was recalled before any finished episode had left it")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one["pools"][0].update(polarity="positive"), "the pool is recorded as"),
        (lambda one: one["pools"][0].update(legal=one["pools"][0]["legal"] + 1), "the pool is recorded as"),
        (lambda one: one["pools"][0]["matches"].pop(), "entries were recalled from a pool of"),
        (lambda one: one["pools"][0]["matches"][0].update(bonus=0.5), "ranking the same memory again"),
        (lambda one: one["pools"].append(one["pools"][0]), "1 pools should have been recalled from"),
    ],
)
def test_a_changed_recall_is_caught(run: Path, change: Callable[[Record], object], said: str) -> None:
    rewrite(run, LOG, lambda records: change(first_match(records)[0]))
    caught(run, said)


def test_precedents_in_another_order_are_caught(run: Path) -> None:
    def swap(records: list[Record]) -> None:
        one = next(o for o in records if len(o["pools"][0]["matches"]) > 1)
        first, second = one["pools"][0]["matches"][:2]
        first["entry"], second["entry"] = second["entry"], first["entry"]

    rewrite(run, LOG, swap)
    caught(run, "ranking the same memory again gives another result")
    with pytest.raises(
        AuditFailed, match="the prompt is not the one that the records give|not the bonus of this entry"
    ):
        audit_run(read_run(run))  # without an encoder the prompt tells, or the bonus of another database


@pytest.mark.parametrize("change", [{"seed": 1}, {"temperature": 0.7}, {"draws": 4}, {"history": True}])
def test_a_method_of_the_name_is_what_it_is_here(run: Path, change: Record) -> None:
    reidentify(run, lambda identity: identity["method"].update(change))
    caught(run, "the method precedent is another one in this merit")


def test_a_judge_hears_repeats_too(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a candidate that is not what it is said to repeat would be found out."""
    with monkeypatch.context() as patch:
        patch.setattr(rules, "canonical", lambda _: "all the same")
        view = bench.run(tmp_path / "run", "resample", model=FickleModel(luck=2))
        audited(view.path)
        with bench.data() as data:
            caught(view.path, "but the judge says", data)
    caught(view.path, "repeats no earlier candidate")
