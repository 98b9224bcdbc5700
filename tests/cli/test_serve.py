"""`merit serve` as a command: what is wrong with its options and settings is said before anything is opened."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from making.clock import COMES_S
from making.commands import refused
from making.live import COUNT, make_shop
from merit.web.access_tokens import Right, TokenStore


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_shop(tmp_path / "shop.sqlite")
    (tmp_path / "script.jsonl").write_text(json.dumps({"reply": f"<answer>{COUNT}</answer>"}) + "\n")
    database = '[database]\nname = "shop"\nurl = "sqlite:///shop.sqlite"\n[model]\nuri = "scripted:script.jsonl"\n'
    (tmp_path / "merit.toml").write_text(database)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_other_machines_are_let_in_with_tokens_only(project: Path) -> None:
    for options in (["--host", "0.0.0.0"], ["--public-url", "https://merit.example"]):
        assert "there is no token yet" in refused("serve", "--port", 0, *options)


def test_options_and_settings_are_checked_first(project: Path) -> None:
    assert "--public-url" in refused("serve", "--port", 0, "--public-url", "merit.example")
    assert "--trust-proxy" in refused("serve", "--port", 0, "--trust-proxy", "*")
    assert "no such folder" in refused("serve", "--port", 0, "--runs", "nowhere")
    with (project / "merit.toml").open("a") as file:
        file.write("[serve]\nkeep_days = 0\n")
    assert "[serve]: the field 'keep_days' cannot be 0" in refused("serve", "--port", 0)
    (project / "merit.toml").write_text("[serve]\nasks = 1.5\n")
    assert "[serve]: the field 'asks' cannot be 1.5" in refused("serve", "--port", 0)
    (project / "merit.toml").unlink()
    assert "no database was named" in refused("serve", "--port", 0)


def test_a_damaged_list_of_tokens_is_said(project: Path) -> None:
    TokenStore(project / ".merit").add("ann", list(Right))
    (project / ".merit" / "tokens.json").write_text("{")
    assert "tokens.json" in refused("serve", "--port", 0)


def test_a_signal_ends_it_and_its_logs_are_json(project: Path) -> None:
    command = [sys.executable, "-m", "merit", "serve", "--port", "0", "--no-browser"]
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source, "MERIT_CACHE": str(project / "cache"), "PYTHONUNBUFFERED": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        assert "http://127.0.0.1:" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=COMES_S)
    events = [json.loads(line)["event"] for line in errors.splitlines()]
    assert events == ["started", "stopping", "stopped"]
