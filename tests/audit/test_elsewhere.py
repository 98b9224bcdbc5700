"""Where a run and its audit happen on different machines: other engines, and time limits met on one of them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from making.runs import Bench, make_bench
from making.tampering import TURNS, Record, rewrite, settle
from merit.agent import Attempt
from merit.audit import AuditData, Findings, audit_run
from merit.audit.verdicts import VerdictChecks
from merit.cli.audit import gone_through
from merit.errors import AuditFailed
from merit.oracle import Judge
from merit.runs import read_run
from merit.runs.text import json_text
from merit.types import Cause, Status, Verdict

SLOW = {"status": "TIMEOUT", "error": "the query timed out after 5 s", "cause": "timeout", "result": None}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path / "bench")


@pytest.fixture
def run(bench: Bench, tmp_path: Path) -> Path:
    return bench.run(tmp_path / "run", "zero_shot").path


@pytest.fixture
def data(bench: Bench) -> Iterator[AuditData]:
    with bench.data() as opened:
        yield opened


def _met_the_limit(records: list[Record]) -> None:
    wrong = next(record for record in records if not record["final_correct"])
    wrong["attempts"][0].update(SLOW, type="EXECUTION", subtype="TIMEOUT")


def test_a_time_limit_that_was_met_elsewhere_is_said_and_contradicts_nothing(run: Path, data: AuditData) -> None:
    rewrite(run, TURNS, _met_the_limit)
    settle(run)
    report = audit_run(read_run(run), data=data)
    assert report.timeouts == 1
    assert "(judged again, but for 1 that met the time limit then and not now)" in gone_through(report)


def test_a_machine_that_is_too_slow_confirms_nothing(
    run: Path, data: AuditData, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = Verdict(Status.TIMEOUT, "the query timed out after 5 s", Cause.TIMEOUT)
    monkeypatch.setattr(Judge, "judge", lambda *_: late)
    with pytest.raises(AuditFailed, match="but the judge says TIMEOUT .*; audit it on a machine that has nothing else"):
        audit_run(read_run(run), data=data)


def test_a_time_limit_hides_no_right_answer(run: Path, data: AuditData) -> None:
    def lie(records: list[Record]) -> None:
        _met_the_limit(records)
        next(record for record in records if record["attempts"][0]["status"] == "TIMEOUT")["final_correct"] = True

    rewrite(run, TURNS, lie)
    settle(run)
    with pytest.raises(AuditFailed, match="recorded as right is not what the verdicts say"):
        audit_run(read_run(run), data=data)


def _another_error(records: list[Record]) -> None:
    failed = next(record for record in records if record["attempts"][0]["status"] == "EXECUTION_ERROR")
    failed["attempts"][0]["error"] = "no such column: elsewhere"


@pytest.mark.parametrize("version", ["3.8.3", None])
def test_another_engine_is_named_where_a_verdict_differs(run: Path, data: AuditData, version: str | None) -> None:
    rewrite(run, TURNS, _another_error)
    settle(run)
    manifest = json.loads((run / "manifest.json").read_text())
    if version:
        manifest["made_with"]["sqlite"] = version
    (run / "manifest.json").write_text(json_text(manifest))
    with pytest.raises(AuditFailed) as caught:
        audit_run(read_run(run), data=data)
    assert "recorded as EXECUTION_ERROR (no such column: elsewhere), but the judge says EXECUTION_ERROR (" in str(
        caught.value
    )
    assert ("the run was made with SQLite 3.8.3, and this is" in str(caught.value)) == (version is not None)


@pytest.mark.parametrize(("sql", "unsteady"), [("SELECT julianday('now')", 1), ("SELECT 1.5", 0)])
def test_rows_that_depend_on_the_time_are_said_to_and_contradict_nothing(
    bench: Bench, data: AuditData, tmp_path: Path, sql: str, unsteady: int
) -> None:
    view = read_run(bench.run(tmp_path / "told", "zero_shot", regime="dbms_only").path)
    question = next(iter(view.questions.values())).question
    judge = data.benchmark.judge
    then = replace(judge.execute(question, sql), result="0" * 64)  # of another moment
    findings = Findings()
    checks = VerdictChecks(view, judge, findings)
    attempt = Attempt(sql, sql, 1, 1, then, None)
    if unsteady:
        checks.check(attempt, question, "here")
        assert any("ask for the time or for chance" in words for words in findings.on_trust)
    else:
        with pytest.raises(AuditFailed, match="here: recorded as EXECUTED with the result 0"):
            checks.check(attempt, question, "here")
    assert findings.unsteady == unsteady
