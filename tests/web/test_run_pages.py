"""`merit view` and `merit serve --runs`: the page follows runs that go on, for this machine's browser alone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from selenium.webdriver.common.by import By

from making.browser import browser, find_browser
from making.clock import COMES_S
from making.runs import Bench, make_bench
from making.serving import Served, ServeShop, runs_in, served, until
from merit.cli.main import cli
from merit.errors import InputError
from merit.runs import RunView
from merit.web.running import listen


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture
def run(bench: Bench, tmp_path: Path) -> RunView:
    return bench.run(tmp_path / "runs" / "merit-0", "merit")


def get(server: Served, path: str, host: str = "localhost") -> tuple[int, str, dict[str, str]]:
    found = server.get(path, headers={"Host": host})
    return found.status, found.body.decode(), found.headers


def cut(run: RunView, turns: int) -> bytes:
    """Take a run back to its first turns; returns what was cut off."""
    path = run.path / "trajectories.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    (run.path / "metrics.json").unlink(missing_ok=True)
    path.write_bytes(b"".join(lines[:turns]))
    return b"".join(lines[turns:])


def test_only_who_names_this_machine_is_answered(run: RunView, tmp_path: Path) -> None:
    with served(tmp_path / "own", runs=runs_in(tmp_path / "runs")) as server:
        port = server.port
        for host in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
            assert get(server, "/runs/data/state", host)[0] == 200
        for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "", "127.0.0.1.nip.io"):
            status, text, _ = get(server, "/runs/data/state", host)
            assert status == 421
            assert "episodes" not in text
        status, text, headers = get(server, "/runs/")
        assert status == 200
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert get(server, "/")[2]["location"] == "/runs/"
        for path in ("nothing", "../../etc/passwd", "run/..%2f..%2fetc", "run/x?from=1"):
            assert get(server, f"/runs/data/{path}")[0] == 404


def test_a_port_that_is_taken_and_a_folder_that_is_not_there_are_said(tmp_path: Path) -> None:
    with served(tmp_path) as server, pytest.raises(InputError, match="choose another --port"):
        listen("127.0.0.1", server.port)
    result = CliRunner().invoke(cli, ["view", str(tmp_path / "nowhere")])
    assert isinstance(result.exception, InputError)
    assert "no such folder" in str(result.exception)


def test_a_folder_without_runs_is_said_to_have_none(tmp_path: Path) -> None:
    arguments = ["view", str(tmp_path), "--host", "0.0.0.0", "--port", "0", "--tokens", str(tmp_path / "own")]
    result = CliRunner().invoke(cli, arguments)  # refused afterwards, as there is no token
    told = f"merit: {tmp_path}: there is no run here yet; those that are made here will be shown\n"
    assert result.stderr == told


def test_other_machines_need_a_token_for_runs_too(run: RunView, tmp_path: Path) -> None:
    arguments = ["view", str(run.path), "--host", "0.0.0.0", "--port", "0", "--tokens", str(tmp_path / "own")]
    result = CliRunner().invoke(cli, arguments)
    assert isinstance(result.exception, InputError)
    assert "there is no token yet" in str(result.exception)
    with served(tmp_path / "own", runs=runs_in(tmp_path / "runs"), host="0.0.0.0") as server:
        token = server.site.tokens.add("ann", [])
        assert server.get("/runs/data/state").status == 401
        assert server.get("/runs/").headers["location"] == "/"  # where one signs in
        assert server.get("/runs/data/state", token=token).status == 200


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
        out, err = process.communicate(timeout=COMES_S)
    said = "merit: stopped; the page is closed, runs are as they were; the same command opens it again\n"
    assert (out, err, process.returncode) == ("", said, 130)


@pytest.mark.skipif(
    find_browser() is None, reason="no browser: install chromium and chromium-driver, or set MERIT_BROWSER"
)
def test_a_browser_sees_a_run_grow(run: RunView, tmp_path: Path) -> None:
    metrics, rest = (run.path / "metrics.json").read_bytes(), cut(run, 4)
    live = runs_in(tmp_path / "runs")
    live.start()
    with served(tmp_path / "own", runs=live) as server, browser() as driver:
        driver.get(f"{server.address}runs/#/episodes?as=list")
        until(lambda: len(driver.find_elements(By.CSS_SELECTOR, "a.row")) == 4)
        with (run.path / "trajectories.jsonl").open("ab") as file:
            file.write(rest)
        until(lambda: len(driver.find_elements(By.CSS_SELECTOR, "a.row")) == len(run.turns))
        (run.path / "metrics.json").write_bytes(metrics)
        driver.get(f"{server.address}runs/#/")
        until(lambda: driver.find_elements(By.CSS_SELECTOR, "[id='table/main']"))
        until(lambda: "1 finished: " in driver.find_element(By.CSS_SELECTOR, ".live").text)
        assert [one for one in driver.get_log("browser") if "favicon" not in one["message"]] == []
    live.stop()


def test_a_server_that_also_asks_leads_back_to_asking(serve_shop: ServeShop, run: RunView, tmp_path: Path) -> None:
    there = '<a href="../">Ask</a>'
    assert there in serve_shop(runs=runs_in(run.path.parent)).get("/runs/").body.decode()
    with served(tmp_path / "alone", runs=runs_in(run.path.parent)) as alone:
        assert there not in alone.get("/runs/").body.decode()
