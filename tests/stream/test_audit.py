"""The audit passes on every honest run, and catches whatever is changed afterwards."""

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import ITEMS, FickleModel
from making.memories import WordEncoder
from making.runs import Bench, make_bench
from merit.agent import METHODS
from merit.data import load
from merit.errors import AuditFailed, MeritError, RunUnusable
from merit.oracle import Judge, open_judge
from merit.stream import Report, audit_run, read_run
from merit.stream.folder import json_text
from merit.stream.manifest import run_id


def audit(path: Path, *, encoder: WordEncoder | None = None, judge: Judge | None = None) -> Report:
    return audit_run(read_run(path), encoder=encoder, judge=judge)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


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
@pytest.mark.parametrize("method", METHODS)
def test_every_honest_run_holds(bench: Bench, tmp_path: Path, method: str, regime: str) -> None:
    view = bench.run(tmp_path / "run", method, regime=regime)
    with closing(open_judge(load("spider", bench.root), "db", cache=None, timeout_s=5.0)) as judge:
        report = audit(view.path, encoder=WordEncoder(), judge=judge)
    assert report.questions == len(ITEMS)
    assert report.recalls == sum(turn.recalls for turn in view.turns)
    assert report.judged
    assert report.ranked == (METHODS[method].recall is not None)


def test_a_shorter_run_holds_too(bench: Bench, tmp_path: Path) -> None:
    assert audit(bench.run(tmp_path / "run", limit=5).path).questions == 5


Record = dict[str, Any]


def rewrite(run: Path, file: str, change: Callable[[list[Record]], object]) -> None:
    """Change the records of a file of JSON lines."""
    path = run / file
    records = [json.loads(line) for line in path.read_text().splitlines()]
    change(records)
    compact = file != "memory/memory_positive.jsonl"
    path.write_text("".join(_line(record, compact) + "\n" for record in records))


def _line(record: Record, compact: bool) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), sort_keys=not compact)


def turn_where(records: list[Record], holds: Callable[[Record], bool]) -> Record:
    return next(record for record in records if holds(record))


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
    turn = turn_where(records, lambda one: len(one["attempts"]) > 2)
    turn["attempts"][1].update(
        status="TIMEOUT", error="timed out", cause="timeout", type="EXECUTION", subtype="TIMEOUT"
    )


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
TURNS, LOG, ENTRIES, ANSWERS = (
    "trajectories.jsonl",
    "retrievals.jsonl",
    "memory/memory_positive.jsonl",
    "predictions.jsonl",
)


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
        closing(open_judge(load("spider", bench.root), "db", cache=None, timeout_s=5.0)) as judge,
        pytest.raises(AuditFailed, match="recorded as CORRECT, but the judge says"),
    ):
        audit(view.path, judge=judge)


def _claim_all_right(records: list[Record]) -> None:
    for record in records:
        record.update(initial_correct=True, final_correct=True)
        record["attempts"][0].update(status="CORRECT", error=None, cause=None, type=None, subtype=None)


def test_an_unfinished_run_is_not_called_whole(run: Path) -> None:
    (run / "metrics.json").unlink()
    with pytest.raises(AuditFailed, match="was not finished"):
        audit(run)
