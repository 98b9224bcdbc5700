"""The page over runs that go on: what it knows of them, and of what is damaged."""

import fcntl
import json
import os
import shutil
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from making.clock import COMES_S
from making.disks import no_waiting
from making.runs import Bench, make_bench
from merit.errors import RunUnusable
from merit.report import build
from merit.report.page import FollowedRuns
from merit.report.page.pack import pack
from merit.report.page.progress import RunPace, RunProgress, duration, summary
from merit.runs import RunView
from merit.runs.folder import RunFolder, in_use


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture
def run(bench: Bench, tmp_path: Path) -> RunView:
    return bench.run(tmp_path / "runs" / "merit-0", "merit")


def live_over(folder: Path) -> FollowedRuns:
    return FollowedRuns(folder, lambda runs, refused: build(runs, refused=refused))


def asked(live: FollowedRuns, name: str, start: int = 0) -> Any:
    return json.loads(live.answer(name, start) or "null")


def cut(run: RunView, turns: int, torn: bytes = b"") -> bytes:
    """Take a run back to its first turns; returns what was cut off."""
    path = run.path / "trajectories.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    (run.path / "metrics.json").unlink(missing_ok=True)
    path.write_bytes(b"".join(lines[:turns]) + torn)
    return b"".join(lines[turns:])


@pytest.mark.parametrize("regime", ["denotation_confirmed", "dbms_only"])
@pytest.mark.parametrize("method", ["merit", "precedent"])
def test_a_live_page_knows_what_a_page_of_the_finished_run_knows(
    bench: Bench, tmp_path: Path, method: str, regime: str
) -> None:
    run = bench.run(tmp_path / "runs" / "run", method, regime=regime)
    live = live_over(tmp_path / "runs")
    live.look()
    live.tabulate()
    [record] = asked(live, "overview")["runs"]
    assert record["finished"]
    assert asked(live, f"run/{record['id']}")["turns"] == [json.loads(turn) for turn in pack(run).turns]
    assert asked(live, "index") == {record["id"]: pack(run).index}
    assert asked(live, "overview")["tables"]
    assert len(asked(live, f"stream/{record['stream']}")["questions"]) == len(run.questions)


def test_turns_come_in_as_they_are_written_and_a_torn_line_waits(run: RunView, tmp_path: Path) -> None:
    rest = cut(run, 3, torn=b'{"format":1,"run":"torn \xc3')
    live = live_over(tmp_path / "runs")
    live.look()
    [record] = asked(live, "overview")["runs"]
    name, before = f"run/{record['id']}", asked(live, "state")
    assert len(asked(live, name)["turns"]) == 3
    assert not record["finished"]
    cut(run, 3)
    with (run.path / "trajectories.jsonl").open("ab") as file:
        for line in rest.splitlines(keepends=True):
            file.write(line[:20])
            file.flush()
            live.look()
            file.write(line[20:])
            file.flush()
            live.look()
    assert asked(live, "state")["index"] > before["index"]
    assert asked(live, name)["turns"] == [json.loads(turn) for turn in pack(run).turns]
    assert asked(live, name, 5)["turns"] == asked(live, name)["turns"][5:]


def test_a_run_that_is_begun_anew_is_read_anew(run: RunView, tmp_path: Path) -> None:
    live = live_over(tmp_path / "runs")
    live.look()
    [record] = asked(live, "overview")["runs"]
    cut(run, 2)
    live.look()
    assert len(asked(live, f"run/{record['id']}")["turns"]) == 2


ENDLESS = "a" * 300  # longer than any file's name
FILES = ["manifest.json", "stream.json", "trajectories.jsonl", "retrievals.jsonl", "metrics.json", "run.lock", "any"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("followed", [False, True], ids=["before", "meanwhile"])
def test_a_link_that_cannot_be_followed_takes_nothing_else_down(run: RunView, name: str, followed: bool) -> None:
    bad = run.path.parent / "bad"
    shutil.copytree(run.path, bad)
    live = live_over(run.path.parent)
    if followed:
        live.look()
        live.tabulate()
    (bad / name).unlink(missing_ok=True)
    (bad / name).symlink_to(ENDLESS)
    live.look()
    live.tabulate()
    live.look()
    assert "finished" in [one["state"] for one in asked(live, "state")["runs"].values()]
    overview = asked(live, "overview")
    assert overview["tables"]
    if (name, followed) != ("manifest.json", True):  # which is not read again
        assert any(str(bad / name) in note for note in overview["notes"])


def test_the_threads_of_a_page_survive_such_a_link(run: RunView) -> None:
    (run.path.parent / "any").symlink_to(ENDLESS)
    live = live_over(run.path.parent)
    live.start()
    try:
        until = time.monotonic() + COMES_S
        while not asked(live, "overview")["tables"] and time.monotonic() < until:
            time.sleep(0.1)
        assert asked(live, "overview")["tables"]
        assert all(thread.is_alive() for thread in live._threads)
    finally:
        live.stop()


def test_a_pipe_for_a_lock_is_not_waited_for(run: RunView) -> None:
    (run.path / "metrics.json").unlink()
    (run.path / "run.lock").unlink()
    os.mkfifo(run.path / "run.lock")
    live = live_over(run.path.parent)
    with no_waiting():
        live.look()
        (state,) = asked(live, "state")["runs"].values()
    assert state["state"] == "unfinished"


def test_tables_come_when_a_run_is_finished(run: RunView, bench: Bench, tmp_path: Path) -> None:
    metrics, rest = (run.path / "metrics.json").read_bytes(), cut(run, 3)
    live = live_over(tmp_path / "runs")
    live.look()
    live.tabulate()
    assert asked(live, "overview")["tables"] == []
    with (run.path / "trajectories.jsonl").open("ab") as file:
        file.write(rest)
    (run.path / "metrics.json").write_bytes(metrics)
    live.look()
    live.tabulate()
    assert asked(live, "overview")["tables"]
    bench.run(tmp_path / "runs" / "later", "iterative")
    live.look()
    live.tabulate()
    assert [one["method"] for one in asked(live, "overview")["runs"]] == ["iterative", "merit"]


def test_a_run_that_goes_on_is_told_from_one_that_was_left(run: RunView, bench: Bench, tmp_path: Path) -> None:
    bench.run(tmp_path / "runs" / "done", "iterative")
    cut(run, 3)
    long_ago = time.time() - 14 * 60
    for file in run.path.iterdir():
        os.utime(file, (long_ago, long_ago))
    live = live_over(tmp_path / "runs")
    live.look()
    size = len(run.questions)
    name = next(one["id"] for one in asked(live, "overview")["runs"] if one["method"] == "merit")

    def states() -> dict[str, Any]:
        return dict(asked(live, "state")["runs"][name])

    assert (states()["state"], states()["said"]) == ("stopped", f"stopped after 3 of {size}, last change 14 min ago")
    assert asked(live, "state")["said"] == f"1 stopped, 1 finished: {3 + size} of {2 * size} episodes"
    with (run.path / "run.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as a process that is at it does
        assert states()["said"] == f"running: 3 of {size}, last change 14 min ago"
        os.utime(run.path / "trajectories.jsonl")
        assert states()["said"] == f"running: 3 of {size}"
    assert states()["state"] == "stopped"
    (run.path / "run.lock").unlink()
    assert states()["state"] == "stopped"


def test_a_run_with_a_limit_goes_as_far_as_its_limit(bench: Bench, tmp_path: Path) -> None:
    run = bench.run(tmp_path / "runs" / "merit-0", "merit", limit=5)
    live = live_over(tmp_path / "runs")
    live.look()
    assert asked(live, "state")["said"] == "1 finished: 5 of 5 episodes"
    cut(run, 3)
    live = live_over(tmp_path / "runs")
    live.look()
    assert asked(live, "state")["said"] == "1 stopped: 3 of 5 episodes"
    (run.path / "timings.json").unlink()  # as an earlier version, which did not say how far a run goes
    assert asked(live, "state")["said"] == "1 stopped: 3 episodes"


def test_looking_at_a_lock_keeps_nobody_from_taking_it(run: RunView) -> None:
    looked = threading.Event()

    def look() -> None:
        while not looked.wait(0.001):  # a thousand times as often as `merit view` does
            assert in_use(run.path) in (False, True)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(200):
            RunFolder(run.path, run.manifest, run.questions).close()
    finally:
        looked.set()
        thread.join()
    held = closing(RunFolder(run.path, run.manifest, run.questions))
    with held, pytest.raises(RunUnusable, match="another process is at this run"):
        RunFolder(run.path, run.manifest, run.questions)


def test_time_left_goes_by_the_pace_that_was_seen() -> None:
    pace = RunPace()
    pace.note(500, 1000.0)  # what was there before says nothing
    assert pace.left_s(100, 1005.0) is None
    for second in range(1, 41):
        pace.note(500 + second // 2, 1000.0 + second)
    assert pace.left_s(100, 1040.0) == pytest.approx(200.0)
    assert pace.left_s(100, 1080.0) == pytest.approx(400.0)  # a stall is noticed
    for second in range(41, 1000):
        pace.note(520 + second, 1000.0 + second)
    assert pace.left_s(100, 1999.0) == pytest.approx(100.0, rel=0.02)  # by the last minutes
    assert [duration(one) for one in (20, 61, 3600, 90 * 60, 49 * 3600)] == [
        "less than a minute", "1 min", "1 h 0 min", "1 h 30 min", "2 d 1 h",
    ]  # fmt: skip
    going = RunProgress("running", 312, 972, 5.0, 840.0)
    assert going.sentence == "running: 312 of 972, about 14 min left"
    assert summary([going, RunProgress("finished", 10, 20, 0.0, None)]) == (
        "1 running, 1 finished: 322 of 992 episodes, about 14 min left"
    )
    assert summary([]) == "no runs yet: 0 of 0 episodes"


def test_a_damaged_run_is_said_and_the_others_are_shown(run: RunView, bench: Bench, tmp_path: Path) -> None:
    bench.run(tmp_path / "runs" / "good", "iterative")
    path = run.path / "trajectories.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b"{}\n", *lines[2:]]))
    live = live_over(tmp_path / "runs")
    for _ in range(2):
        live.look()
        live.tabulate()
        found = asked(live, "overview")
        assert [one["method"] for one in found["runs"]] == ["iterative"]
        assert "trajectories.jsonl, line 2" in found["notes"][0]
    path.write_bytes(b"".join(lines))
    live.look()
    assert len(asked(live, "overview")["runs"]) == 2
