"""`merit view`: the page follows runs that go on, and answers nobody but this machine's browser."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from selenium.webdriver.common.by import By

from making.browser import browser, find_browser
from making.runs import Bench, make_bench
from merit.cli.main import cli
from merit.errors import InputError
from merit.report import build
from merit.report.page import Live, PageServer
from merit.report.page.pack import pack
from merit.stream import RunView


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture
def run(bench: Bench, tmp_path: Path) -> RunView:
    return bench.run(tmp_path / "runs" / "merit-0", "merit")


def live_over(folder: Path) -> Live:
    return Live(folder, lambda runs, refused: build(runs, refused=refused))


def asked(live: Live, name: str, start: int = 0) -> Any:
    return json.loads(live.answer(name, start) or "null")


@contextmanager
def served(live: Live) -> Iterator[PageServer]:
    with PageServer(live, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def get(server: PageServer, path: str, host: str = "localhost") -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
    connection.request("GET", path, headers={"Host": host})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(), dict(answer.headers)
    connection.close()
    return found


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


def test_only_who_names_this_machine_is_answered(run: RunView, tmp_path: Path) -> None:
    live = live_over(tmp_path / "runs")
    live.look()
    with served(live) as server:
        port = server.server_address[1]
        for host in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
            assert get(server, "/data/state", host)[0] == 200
        for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "", "127.0.0.1.nip.io"):
            status, text, _ = get(server, "/data/state", host)
            assert status == 421
            assert "episodes" not in text
        status, text, headers = get(server, "/")
        assert status == 200
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        for path in ("/data/nothing", "/../etc/passwd", "/data/run/..%2f..%2fetc", "/data/run/x?from=1"):
            assert get(server, path)[0] == 404


def test_a_port_that_is_taken_and_a_folder_that_is_not_there_are_said(tmp_path: Path) -> None:
    with served(live_over(tmp_path)) as server, pytest.raises(InputError, match="choose another --port"):
        PageServer(live_over(tmp_path), "127.0.0.1", server.server_address[1])
    result = CliRunner().invoke(cli, ["view", str(tmp_path / "nowhere")])
    assert isinstance(result.exception, InputError)
    assert "no such folder" in str(result.exception)


def test_ctrl_c_ends_it_with_one_line(run: RunView) -> None:
    begin = (  # a shell's background jobs ignore the signal, and so would their children
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from merit.cli import main; sys.argv = ['merit', *sys.argv[1:]]; main()"
    )
    command = [sys.executable, "-c", begin, "view", str(run.path), "--port", "0", "--no-browser"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src"), "PYTHONUNBUFFERED": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        assert "http://127.0.0.1:" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    said = "merit: stopped; the page is closed, runs are as they were; the same command opens it again\n"
    assert (out, err, process.returncode) == ("", said, 130)


@pytest.mark.skipif(
    find_browser() is None, reason="no browser: install chromium and chromium-driver, or set MERIT_BROWSER"
)
def test_a_browser_sees_a_run_grow(run: RunView, tmp_path: Path) -> None:
    metrics, rest = (run.path / "metrics.json").read_bytes(), cut(run, 4)
    live = live_over(tmp_path / "runs")
    live.start()
    with served(live) as server, browser() as driver:
        driver.get(f"{server.address}#/episodes")
        _until(lambda: len(driver.find_elements(By.CSS_SELECTOR, "a.row")) == 4)
        with (run.path / "trajectories.jsonl").open("ab") as file:
            file.write(rest)
        _until(lambda: len(driver.find_elements(By.CSS_SELECTOR, "a.row")) == len(run.turns))
        (run.path / "metrics.json").write_bytes(metrics)
        driver.get(f"{server.address}#/")
        _until(lambda: driver.find_elements(By.CSS_SELECTOR, "[id='table/main']"))
        assert "0 of 1 runs unfinished" in driver.find_element(By.CSS_SELECTOR, ".live").text
        assert [one for one in driver.get_log("browser") if "favicon" not in one["message"]] == []
    live.stop()


def _until(seen: Any, seconds: float = 15.0) -> None:
    over = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < over, "nothing came"
        time.sleep(0.05)
