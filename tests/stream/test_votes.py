"""Without an oracle: candidates vote, what they agree on is kept with its grade, and the unsure is not recalled."""

import json
import shutil
from pathlib import Path

import pytest

from making.benchmark import ITEMS, FickleModel
from making.memories import WordEncoder
from making.runs import Bench, files_of, make_bench
from making.tampering import TURNS, Record, rewrite, settle
from merit.agent.agreement import Vote, choose, is_agreed
from merit.audit import audit_run
from merit.errors import AuditFailed
from merit.memory import Grade, Precedent, entries_in
from merit.models import AnswerStore, CachingCompleter
from merit.runs import RunView, read_run
from merit.types import Status


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def voted(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> RunView:
    """A run in which some agree and some do not."""
    out = tmp_path_factory.mktemp("voted") / "run"
    return bench.run(out, "precedent", model=FickleModel(luck=3), regime="dbms_only")


@pytest.fixture
def run(voted: RunView, tmp_path: Path) -> Path:
    shutil.copytree(voted.path, tmp_path / "run")
    return tmp_path / "run"


def test_candidates_are_drawn_until_it_is_settled_and_the_largest_group_stands(voted: RunView) -> None:
    assert len({len(turn.episode.attempts) for turn in voted.turns}) > 1
    for turn in voted.turns:
        verdicts = [attempt.verdict for attempt in turn.episode.attempts]
        assert 2 <= len(verdicts) <= 8
        assert turn.episode.chosen == choose([Vote(verdict) for verdict in verdicts])
        assert not any(attempt.repeat for attempt in turn.episode.attempts)
        assert {verdict.status for verdict in verdicts} <= {Status.EXECUTED, Status.EXECUTION_ERROR, Status.TIMEOUT}


def test_an_earlier_answer_can_be_voted_down(voted: RunView) -> None:
    assert {turn.episode.chosen for turn in voted.turns} > {0}


def test_what_is_kept_says_how_sure_it_is(voted: RunView) -> None:
    kept = {one.entry.provenance.question_id: one.entry for one in entries_in(voted.path / "memory")}
    for turn in voted.turns:
        episode = turn.episode
        entry = kept.get(episode.task.question.id)
        assert (entry is not None) == episode.final.verdict.satisfied
        if entry is not None:
            agreed = is_agreed([attempt.verdict for attempt in episode.attempts], 0.5)
            assert entry.grade is (Grade.AGREED if agreed else Grade.EXECUTED)
            assert isinstance(entry, Precedent)
            assert entry.sql == episode.final.sql
    assert {entry.grade for entry in kept.values()} == {Grade.AGREED, Grade.EXECUTED}


def test_what_merely_ran_is_in_quarantine(voted: RunView) -> None:
    grades = {one.entry.id: one.entry.grade for one in entries_in(voted.path / "memory")}
    held_back = 0
    for line in (voted.path / "retrievals.jsonl").read_text().splitlines():
        (pool,) = json.loads(line)["pools"]
        assert {grades[match["entry"]] for match in pool["matches"]} <= {Grade.AGREED}
        held_back += pool["stored"] - pool["legal"]
    assert held_back


def test_all_of_it_can_be_derived_again(bench: Bench, voted: RunView) -> None:
    with bench.data() as data:
        assert audit_run(voted, encoder=WordEncoder(), data=data).questions == len(ITEMS)


@pytest.mark.parametrize("method", ["resample", "precedent"])
def test_looking_ahead_changes_nothing(bench: Bench, tmp_path: Path, method: str) -> None:
    for ahead in (0, 8):
        model = CachingCompleter(FickleModel(luck=3), AnswerStore(None))
        bench.run(tmp_path / f"{ahead}", method, model=model, ahead=ahead, regime="dbms_only")
    assert files_of(tmp_path / "0") == files_of(tmp_path / "8")


def test_with_an_oracle_nobody_votes(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", "precedent", model=FickleModel(luck=3))
    assert {turn.episode.chosen for turn in view.turns} == {-1}
    assert {attempt.verdict.result for turn in view.turns for attempt in turn.episode.attempts} == {None}


def stand_otherwise(records: list[Record]) -> None:
    turn = next(one for one in records if len(one["attempts"]) > 2)
    turn["chosen"] = (turn["chosen"] + 1) % len(turn["attempts"])


def stop_early(records: list[Record]) -> None:
    turn = max(records, key=lambda one: len(one["attempts"]))
    turn["attempts"].pop()
    turn["recalls"] -= 1


@pytest.mark.parametrize(
    ("change", "said"), [(stand_otherwise, "another attempt than the one recorded"), (stop_early, "should go on here")]
)
def test_a_changed_vote_is_caught(run: Path, change: object, said: str) -> None:
    assert callable(change)
    rewrite(run, TURNS, change)
    settle(run)
    with pytest.raises(AuditFailed, match=said):
        audit_run(read_run(run), encoder=WordEncoder())


def test_a_changed_result_is_caught_by_running_it_again(bench: Bench, run: Path) -> None:
    def forge(records: list[Record]) -> None:
        for attempt in records[0]["attempts"]:
            if attempt["result"]:
                attempt["result"] = "f" * 16  # all of them, so that nobody's vote changes

    rewrite(run, TURNS, forge)
    settle(run)
    with (
        bench.data() as data,
        pytest.raises(AuditFailed, match=r"the result f{12}, but the judge says EXECUTED with the result [0-9a-f]{12}"),
    ):
        audit_run(read_run(run), encoder=WordEncoder(), data=data)
