"""The audit passes on every honest run, and catches whatever is changed afterwards."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import ITEMS, FickleModel
from making.commands import refused
from making.memories import WordEncoder
from making.runs import Bench, make_bench
from making.tampering import ANSWERS, ENTRIES, LOG, TURNS, Record, reidentify, rewrite, settle, turn_where
from merit.agent import METHODS, RELATED, find_method
from merit.agent.behaviour import Recalled, moment_of, repair_prompt
from merit.audit import AuditData, Findings, audit_run
from merit.errors import AuditFailed, MeritError, RunUnusable
from merit.files import take_lock
from merit.memory import Repair, entries_in
from merit.prompts import SPIDER
from merit.runs import RunView, read_run
from merit.runs.manifest import run_id
from merit.runs.text import json_text


def audit(path: Path, *, encoder: WordEncoder | None = None, data: AuditData | None = None) -> Findings:
    return audit_run(read_run(path), encoder=encoder, data=data)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def data(bench: Bench) -> Iterator[AuditData]:
    """The benchmark with a judge that is not the one of any run."""
    with bench.data() as opened:
        yield opened


@pytest.fixture(scope="module")
def honest(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("honest") / "run"
    bench.run(out, "merit", model=FickleModel(luck=4))
    return out


@pytest.fixture
def run(honest: Path, tmp_path: Path) -> Path:
    shutil.copytree(honest, tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize("regime", ["denotation_confirmed", "dbms_only"])
@pytest.mark.parametrize("method", [*METHODS, *RELATED])
def test_every_honest_run_holds(bench: Bench, data: AuditData, tmp_path: Path, method: str, regime: str) -> None:
    view = bench.run(tmp_path / "run", method, regime=regime)
    report = audit(view.path, encoder=WordEncoder(), data=data)
    assert report.questions == len(ITEMS)
    assert report.recalls == sum(turn.recalls for turn in view.turns)
    assert report.judged
    assert report.ranked == (find_method(method).recall is not None)


@pytest.mark.parametrize("method", ["merit", "transductive_batch"])
def test_a_shorter_run_holds_too(bench: Bench, tmp_path: Path, method: str) -> None:
    report = audit(bench.run(tmp_path / "run", method, limit=5).path)
    assert (report.questions, report.stream) == (5, len(ITEMS))


def move_position(records: list[Record]) -> None:
    records[3]["position"] = 2


def swap_polarity(records: list[Record]) -> None:
    turn = turn_where(records, lambda one: (one["entry"] or "").startswith("pos-"))
    turn["entry"] = turn["entry"].replace("pos-", "neg-")


def remove_entry(records: list[Record]) -> None:
    del records[0]


def insert_entry(records: list[Record]) -> None:
    forged = json.loads(json.dumps(records[0]))
    forged["after"] = "SELECT 'forged'"
    records.append(forged)


def edit_entry(records: list[Record]) -> None:
    records[0]["after"] = "SELECT 'forged'"


def edit_prompt(records: list[Record]) -> None:
    turn_where(records, lambda one: len(one["attempts"]) > 1)["attempts"][1]["prompt_sha256"] = "0" * 64


def edit_verdict(records: list[Record]) -> None:
    """Of an attempt that says what an earlier one of its episode said."""

    def again(record: Record) -> int | None:
        sqls = [attempt["sql"] for attempt in record["attempts"]]
        return next((at for at in range(1, len(sqls) - 1) if sqls[at] in sqls[:at]), None)

    turn = turn_where(records, lambda one: again(one) is not None)
    at = again(turn)
    assert at is not None
    limit = {"error": "timed out after 30 s", "cause": "timeout"}
    turn["attempts"][at].update(status="TIMEOUT", type="EXECUTION", subtype="TIMEOUT", **limit)


def edit_last_verdict(records: list[Record]) -> None:
    turn = turn_where(records, lambda one: not one["final_correct"])
    turn["attempts"][-1].update(
        status="TIMEOUT", error="timed out", cause="timeout", type="EXECUTION", subtype="TIMEOUT"
    )


def claim_success(records: list[Record]) -> None:
    turn = turn_where(records, lambda one: not one["final_correct"])
    turn["attempts"][-1].update(status="CORRECT", error=None, cause=None, type=None, subtype=None)
    turn["final_correct"] = True


def edit_type(records: list[Record]) -> None:
    turn = turn_where(records, lambda one: len(one["attempts"]) > 2)
    turn["attempts"][1].update(type="AGGREGATION", subtype="UNKNOWN")


def edit_sql(records: list[Record]) -> None:
    turn_where(records, lambda one: len(one["attempts"]) > 1)["attempts"][-1]["sql"] = "SELECT 'better'"


def edit_first_answer(records: list[Record]) -> None:
    records[0]["attempts"][0]["sql"] = "SELECT 'better'"


def drop_attempt(records: list[Record]) -> None:
    turn_where(records, lambda one: len(one["attempts"]) == 8)["attempts"].pop()


def edit_tokens(records: list[Record]) -> None:
    turn_where(records, lambda one: len(one["attempts"]) > 1)["attempts"][1]["prompt_tokens"] += 1


def reorder(records: list[Record]) -> None:
    records[0], records[1] = records[1], records[0]


def recall_own(records: list[Record]) -> None:
    """Put the entry that a question left itself into its own recall."""
    match = next(m for one in reversed(records) for pool in one["pools"] for m in pool["matches"])
    match["entry"] = OWN[0]


def recall_future(records: list[Record]) -> None:
    first = next(one for one in records if any(pool["matches"] for pool in one["pools"]))
    last = records[-1]["pools"]
    used = {m["entry"] for pool in first["pools"] for m in pool["matches"]}
    later = next(m["entry"] for pool in reversed(last) for m in pool["matches"] if m["entry"] not in used)
    next(m for pool in first["pools"] for m in pool["matches"])["entry"] = later


def edit_score(records: list[Record]) -> None:
    match = next(m for one in records for pool in one["pools"] for m in pool["matches"])
    match["score"] += 0.001


def edit_pool_size(records: list[Record]) -> None:
    records[-1]["pools"][0]["legal"] += 1


def drop_recall(records: list[Record]) -> None:
    del records[1]


def edit_prediction(records: list[Record]) -> None:
    records[0]["sql"] = "SELECT 'better'"


def drop_prediction(records: list[Record]) -> None:
    records.pop()


OWN: list[str] = []


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        (TURNS, move_position, "recorded at position 2, not 3"),
        (TURNS, swap_polarity, "left the entry neg-"),
        (ENTRIES, remove_entry, "is not the entry"),
        (ENTRIES, insert_entry, "has a line that belongs to no turn"),
        (ENTRIES, edit_entry, "is not the entry"),
        (TURNS, edit_prompt, "the prompt is not the one"),
        (TURNS, edit_verdict, "the same SQL got another verdict before"),
        (TURNS, edit_last_verdict, "the same SQL got another verdict before"),
        (TURNS, claim_success, "the same SQL got another verdict before"),
        (TURNS, edit_type, "the failure type does not follow"),
        (TURNS, edit_sql, "the SQL is not the one in the reply"),
        (TURNS, edit_first_answer, "not the shared first answer"),
        (TURNS, drop_attempt, "should go on here"),
        (TURNS, edit_tokens, "metrics.json: tokens is"),
        (TURNS, reorder, "the stream was reordered"),
        (LOG, recall_own, "was recalled before any finished episode had left it"),
        (LOG, recall_future, "was recalled before any finished episode had left it"),
        (LOG, edit_score, "ranking the same memory again gives another result"),
        (LOG, edit_pool_size, "the pool is recorded as"),
        (LOG, drop_recall, "is not the recall of this step"),
        (ANSWERS, edit_prediction, "is not the final SQL of that turn"),
        (ANSWERS, drop_prediction, "11 lines for 12 answered questions"),
    ],
)
def test_tampering_is_caught(run: Path, file: str, change: Callable[[list[Record]], object], said: str) -> None:
    rewrite(run, file, lambda _: None)
    audit(run, encoder=WordEncoder())  # writing the file anew is not what is caught
    last = json.loads((run / LOG).read_text().splitlines()[-1])
    turns = [json.loads(line) for line in (run / TURNS).read_text().splitlines()]
    OWN[:] = [_own_entry(turns, last)]
    rewrite(run, file, change)
    with pytest.raises(MeritError) as caught:
        audit(run, encoder=WordEncoder())
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def _own_entry(turns: list[Record], last: Record) -> str:
    return next(str(one["entry"]) for one in turns if one["question_id"] == last["question_id"])


def test_a_recall_of_an_own_attempt_is_caught_even_where_it_is_in_the_memory(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", "transductive_batch")
    own = {turn.episode.task.question.id: turn.entry for turn in view.turns if turn.entry}

    def recall_itself(records: list[Record]) -> None:
        one = next(one for one in records if any(pool["matches"] for pool in one["pools"]))
        next(m for pool in one["pools"] for m in pool["matches"])["entry"] = own[one["question_id"]]

    rewrite(view.path, LOG, recall_itself)
    with pytest.raises(AuditFailed, match="was recalled, but it comes from the question's own attempts"):
        audit(view.path)


@pytest.mark.parametrize(
    ("field", "value"), [("calls", {"initial": 12}), ("accuracy", 99.0), ("repaired", 11), ("oscillation", 0.0)]
)
def test_a_changed_count_is_caught(run: Path, field: str, value: object) -> None:
    found = json.loads((run / "metrics.json").read_text())
    (run / "metrics.json").write_text(json.dumps({**found, field: value}))
    with pytest.raises(AuditFailed, match=f"metrics.json: {field} is"):
        audit(run)


def test_an_edited_question_is_caught(run: Path) -> None:
    text = (run / "stream.json").read_text()
    (run / "stream.json").write_text(text.replace("How many items", "How many things"))
    with pytest.raises(RunUnusable, match="stream.json: is not the stream"):
        audit(run)


def test_another_seed_is_caught(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["identity"]["seed"] = 1
    manifest["run"] = run_id(manifest["identity"])
    (run / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(AuditFailed, match="the stream was reordered"):
        audit(run)


def test_a_consistent_lie_about_a_verdict_needs_the_judge(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", "zero_shot")
    rewrite(view.path, TURNS, _claim_all_right)
    found = json.loads((view.path / "metrics.json").read_text())
    lie: Record = {"initial_correct": 12, "correct": 12, "initial_accuracy": 100.0, "accuracy": 100.0}
    lie |= {"initial_status": {"CORRECT": 12}, "final_status": {"CORRECT": 12}, "initial_failures": {}}
    (view.path / "metrics.json").write_text(json_text({**found, **lie}))
    audit(view.path)
    with (
        bench.data() as data,
        pytest.raises(AuditFailed, match="recorded as CORRECT, but the judge says"),
    ):
        audit(view.path, data=data)


def _claim_all_right(records: list[Record]) -> None:
    for record in records:
        record.update(initial_correct=True, final_correct=True)
        record["attempts"][0].update(status="CORRECT", error=None, cause=None, type=None, subtype=None)


def test_an_unfinished_run_is_not_called_whole(run: Path) -> None:
    (run / "metrics.json").unlink()
    with pytest.raises(AuditFailed, match=r"the run is not finished \(no metrics.json, 12 turns so far\)"):
        audit(run)


@pytest.mark.parametrize("cut", ["between lines", "within a line"])
def test_a_run_that_is_being_written_is_called_unfinished(run: Path, cut: str) -> None:
    """Its trajectory comes last: the lines of the turn in the other files belong to no turn yet."""
    (run / "metrics.json").unlink()
    *lines, last = (run / TURNS).read_bytes().splitlines(keepends=True)
    (run / TURNS).write_bytes(b"".join([*lines, b"" if cut == "between lines" else last[:30]]))
    assert refused("audit", run) == (
        f"{run}: the run is not finished (no metrics.json, 11 turns so far); go on with it by the same `merit run`"
    )
    with (run / "run.lock").open("rb") as lock:
        assert take_lock(lock.fileno())
        assert "another process is at it: wait for it" in refused("audit", run)


@pytest.mark.parametrize("name", [LOG, ANSWERS, ENTRIES])
def test_a_file_that_is_gone_is_said_to_be_missing(run: Path, name: str) -> None:
    (run / name).unlink()
    with pytest.raises(AuditFailed, match=f"{name}: is missing, though the run is finished; put it back, or run it"):
        audit(run)


# One lie for every check, such that no other check can tell: counts and names are made to agree with it.


@pytest.fixture(scope="module")
def honest_runs(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    folder = tmp_path_factory.mktemp("runs")

    def made(method: str, regime: str) -> Path:
        out = folder / f"{method}-{regime}"
        if not out.exists():
            bench.run(out, method, model=FickleModel(luck=12), regime=regime)
        return out

    return made


Made = Callable[..., Path]


@pytest.fixture
def made(honest_runs: Callable[[str, str], Path], tmp_path: Path) -> Made:
    """A copy of an honest run of a method."""

    def copy(method: str, regime: str = "denotation_confirmed") -> Path:
        shutil.copytree(honest_runs(method, regime), tmp_path / "run")
        return tmp_path / "run"

    return copy


def caught(run: Path, said: str, **options: Any) -> None:
    with pytest.raises(MeritError) as refusal:
        audit(run, **options)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_covering_up_nothing_is_not_what_is_caught(made: Made) -> None:
    run = made("reflexion")
    settle(run)
    reidentify(run, lambda identity: identity.update(code="another"))
    rewrite(run, TURNS, lambda _: None)
    audit(run)


def wrong_after_all(one: Record) -> bool:
    return len(one["attempts"]) == 8 and not one["final_correct"]


@pytest.mark.parametrize("flag", ["initial_correct", "final_correct"])
def test_what_is_right_is_what_the_verdicts_say(made: Made, flag: str) -> None:
    run = made("merit")
    rewrite(run, TURNS, lambda all_: turn_where(all_, wrong_after_all).update({flag: True}))
    settle(run)
    caught(run, "what is recorded as right is not what the verdicts say")


@pytest.mark.parametrize("flag", ["initial_correct", "final_correct"])
def test_what_did_not_run_is_not_right(made: Made, flag: str) -> None:
    run, at = made("zero_shot", "dbms_only"), {"initial_correct": 0, "final_correct": -1}[flag]
    rewrite(run, TURNS, lambda all_: turn_where(all_, lambda one: _broken(one["attempts"][at])).update({flag: True}))
    settle(run)
    caught(run, "what is recorded as right is not what the verdicts say")


def _broken(attempt: Record) -> bool:
    return bool(attempt["status"] == "EXECUTION_ERROR")


def test_what_ran_is_right_only_if_the_judge_says_so(made: Made, bench: Bench) -> None:
    run = made("zero_shot", "dbms_only")

    def claim(records: list[Record]) -> None:
        turn = turn_where(records, lambda one: not one["final_correct"] and not _broken(one["attempts"][0]))
        turn.update(initial_correct=True, final_correct=True)

    rewrite(run, TURNS, claim)
    settle(run)
    audit(run)
    with bench.data() as data:
        caught(run, "what is recorded as right is not what the verdicts say", data=data)


def test_there_is_a_recall_for_every_repair(made: Made) -> None:
    run = made("merit")

    def shift(records: list[Record]) -> None:
        one, other = [record for record in records if record["recalls"]][:2]
        one["recalls"] += 1
        other["recalls"] -= 1

    rewrite(run, TURNS, shift)
    settle(run)
    caught(run, "the number of recalls is not that of the repairs")


def test_a_method_without_a_memory_recalls_nothing(made: Made) -> None:
    run = made("iterative")
    rewrite(run, TURNS, lambda all_: turn_where(all_, lambda one: len(one["attempts"]) > 1).update(recalls=1))
    settle(run)
    caught(run, "the number of recalls is not that of the repairs")


def unsuccessful(records: list[Record]) -> list[Record]:
    return [record for record in records if wrong_after_all(record)]


def test_there_is_a_reflection_for_every_unsuccessful_attempt(made: Made) -> None:
    run = made("reflexion")

    def shift(records: list[Record]) -> None:
        one, other = unsuccessful(records)[:2]
        one["reflections"].pop()
        other["reflections"].append(other["reflections"][-1])

    rewrite(run, TURNS, shift)
    settle(run)
    caught(run, "7 reflections for 8 unsuccessful attempts")


@pytest.mark.parametrize("change", [{"text": "Another thought."}, {"prompt_sha256": "0" * 64}])
def test_a_reflection_is_what_was_asked_and_said(made: Made, change: Record) -> None:
    """The last one of an unsuccessful episode, which no later prompt shows."""
    run = made("reflexion")
    rewrite(run, TURNS, lambda all_: unsuccessful(all_)[0]["reflections"][-1].update(change))
    caught(run, "reflection 8: prompt or text is not the one that the records give")


@pytest.mark.parametrize(
    ("regime", "before", "after"),
    [
        ("denotation_confirmed", "CORRECT", {"status": "EXECUTED"}),
        ("dbms_only", "EXECUTED", {"status": "CORRECT"}),
        ("dbms_only", "EXECUTED", {"status": "DENOTATION_MISMATCH", "type": "RESULT_MISMATCH", "subtype": "UNKNOWN"}),
    ],
)
def test_a_status_is_one_that_can_be_seen_in_the_regime(made: Made, regime: str, before: str, after: Record) -> None:
    run = made("zero_shot", regime)

    def restate(records: list[Record]) -> None:
        turn = turn_where(records, lambda one: one["attempts"][0]["status"] == before)
        turn.update(initial_correct=False, final_correct=False)
        turn["attempts"][0].update(after)

    rewrite(run, TURNS, restate)
    settle(run)
    caught(run, f"the status {after['status']} cannot be seen in the regime {regime}")


def test_the_same_sql_is_not_judged_in_two_ways(made: Made) -> None:
    run = made("iterative")

    def restate(records: list[Record]) -> None:
        """In an episode's last attempt, which no prompt and no entry shows."""
        for record in unsuccessful(records):
            *before, last = record["attempts"]
            if last["sql"] in [one["sql"] for one in before]:
                timeout = {"status": "TIMEOUT", "error": "late", "cause": "timeout"}
                last.update(timeout, type="EXECUTION", subtype="TIMEOUT")
                return
        raise AssertionError("no episode ends with what it had tried before")

    rewrite(run, TURNS, restate)
    settle(run)
    caught(run, "attempt 7: the same SQL got another verdict before")


def test_a_first_answer_has_no_prompt(made: Made) -> None:
    run = made("zero_shot")
    rewrite(run, TURNS, lambda all_: all_[0]["attempts"][0].update(prompt_sha256="0" * 64))
    caught(run, "attempt 0 is not the shared first answer")


@pytest.mark.parametrize("change", [{"prompt_tokens": 5}, {"output_tokens": 5}, {"reply": "SELECT 2"}])
def test_a_first_answer_is_the_shared_one_with_its_cost(made: Made, change: Record) -> None:
    run = made("zero_shot")
    rewrite(run, TURNS, lambda all_: all_[0]["attempts"][0].update(change))
    settle(run)
    caught(run, "attempt 0 is not the shared first answer")


def test_no_turn_comes_after_the_stream(made: Made) -> None:
    run = made("zero_shot")
    for file in (TURNS, ANSWERS):
        rewrite(run, file, lambda records: records.append(records[-1]))
    settle(run)
    caught(run, "13 turns, but the stream has 12")


def test_a_turn_is_of_its_phase(made: Made) -> None:
    run = made("zero_shot")
    rewrite(run, TURNS, lambda records: records[-1].update(phase="gather"))
    rewrite(run, ANSWERS, lambda records: records.pop())
    settle(run)
    caught(run, "the stream was reordered")


def test_no_attempt_comes_after_the_budget(made: Made) -> None:
    run = made("iterative")
    reidentify(run, lambda identity: identity.update(budget=6))
    caught(run, "attempt 6: the episode should end here")


def test_a_method_that_does_not_repair_stops_at_the_first_answer(made: Made) -> None:
    run = made("iterative")

    def disguise(identity: Record) -> None:
        identity["method"] = METHODS["zero_shot"].record()

    reidentify(run, disguise)
    settle(run)
    caught(run, "attempt 0: the episode should end here")


@pytest.mark.parametrize(
    ("method", "change", "said"),
    [
        ("zero_shot", {"prompts": {"family": "v3", "sha256": "0" * 64}}, "made with other prompt templates"),
        ("zero_shot", {"method": METHODS["zero_shot"].record() | {"summary": "x"}}, "zero_shot is another one in this"),
        ("zero_shot", {"encoder": {"name": "x", "revision": "1", "dimension": 2}}, "zero_shot should have no encoder"),
        ("no_dense", {"encoder": {"name": "x", "revision": "1", "dimension": 2}}, "no_dense should have no encoder"),
        ("no_bm25", {"encoder": None}, "no_bm25 should have an encoder"),
        (
            "zero_shot",
            {"demonstrations": [{"question": "q", "sql": "s", "evidence": ""}]},
            "zero_shot should have 0 examples",
        ),
    ],
)
def test_a_run_is_what_its_manifest_says(made: Made, method: str, change: Record, said: str) -> None:
    run = made(method)
    reidentify(run, lambda identity: identity.update(change))
    caught(run, said)


@pytest.mark.parametrize("name", ["mine", "ZERO_SHOT", "zero_shot ", "z\u0435ro_shot", "mine:draws=2", ""])
def test_a_name_that_no_method_has_is_refused(made: Made, name: str) -> None:
    run = made("zero_shot")
    reidentify(run, lambda identity: identity["method"].update(name=name))
    settle(run)
    caught(run, f"{name!r} is not a method of this merit")


@pytest.mark.parametrize("name", ["zero_shot:", "zero_shot:luck=7", "zero_shot:draws=5"])
def test_a_variant_that_cannot_be_is_refused(made: Made, name: str) -> None:
    run = made("zero_shot")
    reidentify(run, lambda identity: identity["method"].update(name=name))
    settle(run)
    caught(run, f"{run}: {name!r} is not a method of this merit")


def test_a_random_methods_seed_is_the_streams(made: Made) -> None:
    run = made("random_same_type")
    reidentify(run, lambda identity: identity["method"]["recall"].update(random_seed=1))
    caught(run, "the method random_same_type is another one in this merit")


def test_the_dataset_has_as_many_questions_as_the_stream(made: Made) -> None:
    run = made("zero_shot")
    reidentify(run, lambda identity: identity["dataset"].update(questions=11))
    caught(run, "11 questions, but the stream has 12")


# Whatever is in a line belongs there.


@pytest.mark.parametrize("place", [lambda one: one, lambda one: one["attempts"][0]])
def test_a_trajectory_has_no_place_for_anything_else(made: Made, place: Callable[[Record], Record]) -> None:
    run = made("merit")
    rewrite(run, TURNS, lambda records: place(records[4]).update(reference="SELECT 1"))
    caught(run, "trajectories.jsonl, line 5")


def test_a_reflection_has_no_place_for_anything_else(made: Made) -> None:
    run = made("reflexion")
    rewrite(run, TURNS, lambda all_: unsuccessful(all_)[0]["reflections"][0].update(reference="SELECT 1"))
    caught(run, "not a turn of a run")


@pytest.mark.parametrize("place", [lambda one: one, lambda one: one["pools"][0]])
def test_a_retrieval_has_no_place_for_anything_else(made: Made, place: Callable[[Record], Record]) -> None:
    run = made("merit")
    rewrite(run, LOG, lambda records: place(records[0]).update(reference="SELECT 1"))
    caught(run, "retrievals.jsonl, line 1 (question ")


@pytest.mark.parametrize(
    "change",
    [{"format": 9}, {"phase": "gather"}, {"position": 11}, {"question_id": "x"}, {"step": 2}, {"reads_from": 12}],
)
def test_a_retrieval_is_that_of_its_step(made: Made, change: Record) -> None:
    run = made("merit")
    rewrite(run, LOG, lambda records: records[0].update(change))
    caught(run, "is not the recall of this step")


@pytest.mark.parametrize("change", [{"db_id": "zoo"}, {"run": "0" * 16}])
def test_a_trajectory_names_its_run_and_database(made: Made, change: Record) -> None:
    run = made("zero_shot")
    rewrite(run, TURNS, lambda records: records[0].update(change))
    caught(run, "has fields that are not part of a turn")


def test_a_line_is_written_in_one_way_only(made: Made) -> None:
    run = made("zero_shot")
    (run / TURNS).write_text((run / TURNS).read_text().replace('"phase":', '"phase": ', 1))
    caught(run, "line 1 (question ")


@pytest.mark.parametrize("value", [5.0, "5", None])
def test_tokens_are_counted_in_whole_numbers(made: Made, value: object) -> None:
    run = made("zero_shot")
    rewrite(run, TURNS, lambda records: records[0]["attempts"][0].update(prompt_tokens=value))
    caught(run, "the field 'prompt_tokens' should be a whole number")


@pytest.mark.parametrize("field", ["recalls", "prompt_tokens"])
def test_a_number_is_not_written_as_a_truth_value(made: Made, field: str) -> None:
    run = made("zero_shot")

    def restate(records: list[Record]) -> None:
        place = records[0] if field == "recalls" else records[0]["attempts"][0]
        assert place[field] == 0
        place[field] = False

    rewrite(run, TURNS, restate)
    caught(run, "trajectories.jsonl, line 1")


@pytest.mark.parametrize("file", [LOG, ENTRIES])
def test_every_line_belongs_to_a_turn(made: Made, file: str) -> None:
    run = made("merit")
    lines = (run / file).read_bytes().splitlines(keepends=True)
    (run / file).write_bytes(b"".join([*lines, lines[-1]]))
    caught(run, f"{file}: has a line that belongs to no turn")


def test_every_recall_has_its_line(made: Made) -> None:
    run = made("merit")
    rewrite(run, LOG, lambda records: records.pop())
    caught(run, "has no line")


def test_an_entry_is_left_where_the_method_leaves_one(made: Made) -> None:
    run = made("iterative")
    rewrite(run, TURNS, lambda all_: turn_where(all_, wrong_after_all).update(entry="neg-0000000000000000"))
    settle(run)
    caught(run, "left the entry neg-0000000000000000, but the episode gives None")


def test_no_prediction_is_one_too_many(made: Made) -> None:
    run = made("zero_shot")
    rewrite(run, ANSWERS, lambda records: records.append(records[-1]))
    caught(run, "13 lines for 12 answered questions")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: json.dumps(found), "is not what a run writes"),
        (lambda found: json_text(dict(reversed(found.items()))), "is not what a run writes"),
        (lambda found: json_text({**found, "reference": "SELECT 1"}), "reference is 'SELECT 1', but the traj"),
        (
            lambda found: json_text({n: v for n, v in found.items() if n != "db_executions"}),
            "db_executions is null, but the traj",
        ),
        (lambda found: json_text({**found, "questions": 12.0}), "questions is 12.0, but the trajectories give 12"),
        (lambda _: "null\n", "is not what a run writes"),
        (lambda _: "[]\n", "is not what a run writes"),
    ],
)
def test_metrics_are_exactly_what_a_run_writes(made: Made, change: Callable[[Record], str], said: str) -> None:
    run = made("zero_shot")
    (run / "metrics.json").write_text(change(json.loads((run / "metrics.json").read_text())))
    caught(run, said)


def test_a_report_says_what_was_gone_through(made: Made) -> None:
    run = made("reflexion")
    view: RunView = read_run(run)
    episodes = [turn.episode for turn in view.turns]
    repairs = sum(len(one.attempts) - 1 for one in episodes)
    assert audit(run) == Findings(
        questions=12,
        stream=12,
        attempts=repairs + 12,
        prompts=repairs + sum(len(one.reflections) for one in episodes),
        recalls=0,
        entries=0,
        ranked=False,
        judged=False,
    )


def test_a_method_that_does_not_encode_is_ranked_again_without_an_encoder(made: Made) -> None:
    run = made("no_dense")
    assert audit(run).ranked
    rewrite(run, LOG, edit_score)
    caught(run, "ranking the same memory again gives another result")


@pytest.mark.parametrize(
    "change",
    [
        lambda pool: pool["matches"][0].update(bonus=0),
        lambda pool: pool["matches"][0].update(rank=1.0),
        lambda pool: pool["matches"][0].update(dense=0.5),
        lambda pool: pool.update(typed=int(pool["typed"])),
        lambda pool: pool.update(lexical_range=None),
        lambda pool: pool.update(lexical_range=pool["lexical_range"] * 2),
        lambda pool: pool.update(lexical_range=7),
        lambda pool: pool.update(dense_range=[0.0, 1.0]),
    ],
)
def test_an_explanation_says_what_ranking_again_says(made: Made, change: Callable[[Record], object]) -> None:
    run = made("no_dense")
    rewrite(run, LOG, lambda all_: change(next(pool for one in all_ for pool in one["pools"] if pool["matches"])))
    caught(run, "ranking the same memory again gives another result")


@pytest.mark.parametrize(("digits", "holds"), [(1e-9, True), (1e-3, False)])
def test_an_encoders_last_digits_are_allowed_for(made: Made, digits: float, holds: bool) -> None:
    run = made("no_bm25")

    def nudge(records: list[Record]) -> None:
        match = next(match for one in records for pool in one["pools"] for match in pool["matches"])
        match["dense"] -= digits

    rewrite(run, LOG, nudge)
    if holds:
        assert audit(run, encoder=WordEncoder()).ranked
    else:
        caught(run, "ranking the same memory again gives another result", encoder=WordEncoder())


def test_an_entry_stands_at_the_rank_of_its_own_score(made: Made) -> None:
    """Two entries of clearly different scores change places, and the prompt is made to show them so."""
    run = made("no_dense")
    view = read_run(run)
    entries = {one.entry.id: one.entry for one in entries_in(run / "memory") if isinstance(one.entry, Repair)}
    turns = {turn.episode.task.question.id: turn.episode for turn in view.turns}
    done: list[tuple[object, int, str]] = []

    def swap(records: list[Record]) -> None:
        for one in records:
            positive, negative = ([*pool["matches"]] for pool in one["pools"])
            if len(positive) > 1 and positive[0]["score"] - positive[1]["score"] > 0.01:
                first, second = positive[:2]
                first["entry"], second["entry"] = second["entry"], first["entry"]
                episode, step = turns[one["question_id"]], one["step"]
                good, bad = ([entries[match["entry"]] for match in matches] for matches in (positive, negative))
                prompt = repair_prompt(
                    METHODS["merit"],
                    moment_of(SPIDER, episode.task, episode.attempts[:step]),
                    Recalled(good, bad),
                )
                done.append((one["question_id"], step, prompt.sha256))
                return

    rewrite(run, LOG, swap)
    ((question, step, sha256),) = done

    def follow(records: list[Record]) -> None:
        turn = turn_where(records, lambda one: one["question_id"] == question)
        assert turn["attempts"][step]["prompt_sha256"] != sha256
        turn["attempts"][step]["prompt_sha256"] = sha256

    rewrite(run, TURNS, follow)
    caught(run, "ranking the same memory again gives another result")


def test_recalls_are_checked_but_not_ranked_without_the_encoder(made: Made) -> None:
    run = made("merit")
    report = audit(run)
    assert not report.ranked
    assert report.recalls > 0
    assert report.entries > 0
