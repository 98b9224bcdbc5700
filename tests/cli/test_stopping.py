"""Ctrl-C means the same everywhere: exit 130, one sentence that says what is kept, and how to go on."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest

from making.clock import COMES_S
from making.reports import letters, questions, write_all
from making.serving import until
from merit.cli import main

SENTENCE = re.compile(r"merit: stopped; [^\n]+; (the same command (goes on|begins anew|writes all of them|opens it again)|look with `merit memory list`)\n")  # fmt: skip


def stop(*_: object, **__: object) -> NoReturn:
    raise KeyboardInterrupt


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    write_all(tmp_path / "runs", letters(4, 1, ("merit",)), questions(4))
    return tmp_path / "runs"


def stopped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    monkeypatch.setattr(sys, "argv", ["merit", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    heard = capsys.readouterr()
    assert heard.out == ""
    last = heard.err.splitlines(keepends=True)[-1]
    assert SENTENCE.fullmatch(last), heard.err
    return last


def test_every_command_says_what_is_kept(
    runs: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one, out = runs / "merit" / "seed0", tmp_path / "out"
    (tmp_path / "grid.toml").write_text("")
    common = ["spider", "--data", root, "--model", "openai:m"]
    cases: list[tuple[str, list[object], str]] = [
        ("audit.audit_run", ["audit", one], "runs are as they were"),
        ("data.survey", ["data", "check", root], "stopped; the data is as it was; the same"),
        ("data.write_subset", ["data", "subset", "spider", "--data", root, "--out", out], "remove what the subset wrote"),
        ("demo.recorded", ["demo", "--out", tmp_path / "demo", "--limit", 1], "stopped; nothing was changed; the same"),
        ("demo.run_covered", ["demo", "--out", tmp_path / "demo", "--limit", 1], f"stopped; the runs in {tmp_path / 'demo'} are not finished; the same command begins anew"),
        ("demo.run_covered", ["demo", "--out", tmp_path / "demo", "--limit", 1, "--model", "openai:m"], "stopped; every answer of openai:m is kept, the runs in"),
        ("grid.read_grid", ["grid", tmp_path / "grid.toml"], "nothing was changed"),
        ("label.open_run", ["label", one], "nothing was changed"),
        ("answers._store", ["answers", "export", "--out", tmp_path / "a.jsonl"], "changed as a whole or not"),
        ("answers.open_recording", ["answers", "merge", tmp_path / "a.jsonl"], "changed as a whole or not at all"),
        ("memory.open_store", ["memory", "stats", one], "every entry is whole"),
        ("report.open_runs", ["report", runs, "--out", tmp_path / "report"], "no report was written"),
        ("report.write_report", ["report", runs, "--out", tmp_path / "report"], "every file that was written is whole"),
        ("predict.predict_all", ["predict", *common, "--out", tmp_path / "p"], "no first answer was finished"),
        ("run.run_stream", ["run", *common, "--initial", root / "predictions.jsonl", "--method", "iterative", "--out", out], "no turn was finished"),
        ("score.run", ["score", "spider", "--data", root, "--pred", root / "predictions.jsonl", "--out", tmp_path / "v"], "no verdict was written"),
        ("show.open_run", ["show", one], "nothing was changed"),
        ("view.serve", ["view", one, "--port", 0, "--no-browser"], "the page is closed"),
    ]  # fmt: skip
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setattr("merit.cli.serving.say", lambda _: None)
    monkeypatch.setattr("merit.cli.demo._announce", lambda *_: None)
    for place, arguments, said in cases:
        with monkeypatch.context() as patch:
            patch.setattr(f"merit.cli.{place}", stop)
            assert said in stopped(patch, capsys, *arguments), arguments
    assert not (tmp_path / "v").exists()


def test_a_demo_that_is_stopped_says_that_the_earlier_one_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "demo"
    (out / "runs").mkdir(parents=True)
    (out / "made-by-merit-demo.txt").touch()
    (out / "initial.jsonl").write_text("earlier")
    monkeypatch.setattr("merit.cli.demo._announce", lambda *_: None)
    monkeypatch.setattr("merit.cli.demo.run_covered", stop)
    said = stopped(monkeypatch, capsys, "demo", "--out", out, "--limit", 1)
    assert said == f"merit: stopped; the earlier demo in {out} is back as it was; the same command begins anew\n"
    assert (out / "initial.jsonl").read_text() == "earlier"


_IMPORTING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)
module = sys.argv.pop(1)
sys.meta_path.insert(0, Finder())
from merit.cli import main
main()
"""


@pytest.mark.parametrize("module", ["merit.cli.main", "merit.agent", "numpy", "merit.benchmark"])
def test_ctrl_c_while_everything_is_imported_is_one_sentence(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTING, module, "score"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "merit: stopped; nothing was begun; the same command begins anew\n"


def test_once_imported_ctrl_c_means_what_it_always_does() -> None:
    code = "import signal; b = signal.getsignal(2); import merit.cli; print(signal.getsignal(2) is b)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout == "True\n"


_MERIT = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from merit.cli import main; main()"


def children(process: int) -> list[str]:
    """The processes that one has started."""
    return " ".join(path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children")).split()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_real_ctrl_c_ends_judging_at_once(root: Path, tmp_path: Path, jobs: int) -> None:
    endless = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c"
    pred, out = tmp_path / "pred.txt", tmp_path / "verdicts.jsonl"
    pred.write_text((endless + "\n") * 10)
    command = ["score", "spider", "--data", root, "--pred", pred, "--out", out, "--jobs", jobs, "--timeout", 600]
    process = subprocess.Popen(
        [sys.executable, "-c", _MERIT, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    until(lambda: len(children(process.pid)) >= jobs or process.poll() is not None)
    time.sleep(1)  # each has begun with a statement, as a rule
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    heard, said = process.communicate(timeout=COMES_S)
    assert (heard, process.returncode) == ("", 130), said
    assert SENTENCE.fullmatch(said), said
    assert list(tmp_path.glob("verdicts*")) == []
