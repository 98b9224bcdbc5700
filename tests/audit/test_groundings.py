"""Groundings are made again from the replies and the schema; a forged one is noticed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from making.runs import make_bench
from making.tampering import ANSWERS, TURNS, Record, restream, rewrite, settle
from merit.audit import audit_run
from merit.errors import AuditFailed, MeritError
from merit.failure import classify
from merit.runs import RunView, read_run
from merit.runs.accounting import account
from merit.runs.turn import prediction_line
from merit.types import Cause, Status, Verdict


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    folder = tmp_path_factory.mktemp("bench")
    return make_bench(folder).run(folder / "run", "grounded")


def grounded(records: list[Record]) -> Record:
    """The first attempt that grounding changed."""
    found: Record = next(r["attempts"][0] for r in records if "written" in r["attempts"][0])
    return found


def test_a_run_records_what_was_written_and_why_it_was_changed(honest: RunView) -> None:
    attempts = [turn.episode.attempts[0] for turn in honest.turns]
    written = [attempt.written for attempt in attempts if attempt.written]
    assert written
    assert all(attempt.sql != attempt.written.sql for attempt in attempts if attempt.written)
    assert all(change.why for one in written for change in one.changes)
    assert audit_run(honest).groundings == len(written)


def test_groundings_are_counted_beside_the_reference(honest: RunView) -> None:
    metrics = account(honest.turns, honest.method)
    assert metrics["groundings"] > 0
    assert metrics["db_executions"] == metrics["questions"] + metrics["groundings"]
    assert metrics["tokens"]["repair"] == metrics["calls"]["repair"] == 0
    assert metrics["correct"] > metrics["initial_correct"]


FORGERIES: dict[str, Callable[[Record], object]] = {
    "other SQL": lambda attempt: attempt.update(sql="SELECT 1"),
    "another reason": lambda attempt: attempt["written"]["changes"][0].update(why="it was better"),
    "no reason": lambda attempt: attempt["written"].update(changes=[]),
    "no grounding": lambda attempt: attempt.update(sql=attempt.pop("written")["sql"]),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_grounding_is_noticed(honest: RunView, tmp_path: Path, forgery: str) -> None:
    run = Path(shutil.copytree(honest.path, tmp_path / "run"))
    rewrite(run, TURNS, lambda records: FORGERIES[forgery](grounded(records)))
    settle(run)
    with pytest.raises(AuditFailed):
        audit_run(read_run(run))


def undo_groundings(records: list[Record]) -> None:
    """Let what was written stand as it would without grounding."""
    for turn in records:
        for attempt in turn["attempts"]:
            if written := attempt.pop("written", None):
                failure = classify(Verdict(Status.EXECUTION_ERROR, written["error"], Cause(written["cause"])))
                attempt |= {name: written[name] for name in ("sql", "error", "cause")}
                attempt |= {"status": Status.EXECUTION_ERROR, "result": None}
                attempt |= {"type": failure.type, "subtype": failure.subtype}
                turn["final_correct"] = False


@pytest.mark.parametrize("taken", [("shop", "school"), ("shop",)])
def test_a_method_that_grounds_cannot_have_been_run_without_tables(
    honest: RunView, tmp_path: Path, taken: tuple[str, ...]
) -> None:
    """Nothing is grounded where a stream has no tables, as those of earlier versions have none."""
    run = Path(shutil.copytree(honest.path, tmp_path / "run"))
    restream(run, lambda stream: [stream["tables"].pop(database) for database in taken])
    if len(taken) > 1:
        restream(run, lambda stream: stream.pop("tables"))
    rewrite(run, TURNS, undo_groundings)
    lines = [prediction_line(turn) for turn in read_run(run).answers]
    (run / ANSWERS).write_text("".join(f"{line}\n" for line in lines))
    settle(run)
    with pytest.raises(AuditFailed, match="no tables for some databases, and the method grounded grounds by them"):
        audit_run(read_run(run))


def test_tables_that_contradict_the_schema_text_are_noticed(honest: RunView, tmp_path: Path) -> None:
    run = Path(shutil.copytree(honest.path, tmp_path / "run"))
    restream(run, lambda stream: stream["tables"]["shop"][0].update(name="forged"))
    with pytest.raises(MeritError, match="do not say the same"):
        audit_run(read_run(run))
