"""The server under requests that no browser sends: each is answered, nothing is logged, and others are served on."""

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from making.clock import COMES_S, STALL_S
from making.outcomes import RIGHT, Tried, write_run
from making.serving import Served, runs_in, served
from merit.report import build
from merit.report.page import FollowedRuns
from merit.types import Question
from merit.web.protocol import TimedProtocol


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_run(tmp_path / "runs" / "a", [Question(0, "db", "?")], "zero_shot", {0: [Tried("SELECT 1", RIGHT)]})
    return tmp_path / "runs"


@pytest.fixture
def server(folder: Path, tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "own", runs=runs_in(folder)) as server:
        yield server


def connected(server: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=COMES_S)


def read_all(connection: socket.socket) -> bytes:
    found = b""
    while chunk := connection.recv(1 << 16):
        found += chunk
    return found


def answer(server: Served, request: bytes) -> bytes:
    """Everything that comes back for some bytes, until the server closes."""
    with connected(server) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return read_all(connection)


def status(found: bytes) -> int:
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", found)
    assert match, found
    return int(match[1])


def works(server: Served) -> None:
    found = answer(server, b"GET /runs/data/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert status(found) == 200
    assert b"1 episodes" in found


def get(path: bytes, *headers: bytes, host: bytes = b"localhost") -> bytes:
    return b"\r\n".join([b"GET " + path + b" HTTP/1.1", b"Host: " + host, *headers, b"", b""])


ATTACKS = {
    "no request": (b"\r\n", 400),
    "noise": (bytes(range(256)) + b"\r\n\r\n", 400),
    "one word": (b"HELLO\r\n\r\n", 400),
    "zeros": (b"\0\0\0\0\r\n\r\n", 400),
    "no version": (b"GET /\r\n\r\n", 400),
    "a version that is none": (b"GET / HTTP/x.y\r\nHost: localhost\r\n\r\n", 400),
    "a version of many digits": (b"GET / HTTP/" + b"9" * 5000 + b".1\r\nHost: localhost\r\n\r\n", 400),
    "a later version": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 421),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500 + b"\r\n", 400),
    "a long line": (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n", 400),
    "a long header": (get(b"/", b"X: " + b"a" * 200_000), 400),
    "many headers": (get(b"/", *(b"X-%d: 1" % i for i in range(5_000))), (307, 400)),
    "no Host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "an empty Host": (get(b"/", host=b""), 421),
    "half an IPv6 Host": (get(b"/", host=b"[::1"), 421),
    "a Host of brackets": (get(b"/", host=b"[]"), 421),
    "a Host that normalises": (get(b"/", host="localhost\u2100".encode()), 421),
    "a Host with NUL": (get(b"/", host=b"localhost\0"), 400),
    "a Host with a user": (get(b"/", host=b"localhost@evil.example"), 421),
    "two Hosts": (get(b"/", b"Host: evil.example"), 400),
    "another address": (get(b"http://evil.example/runs/data/state"), 404),
    "half an IPv6 address": (get(b"//[::1/runs/data/state"), 404),
    "half an IPv6 address, whole": (get(b"http://[::1/runs/data/state"), 404),
    "a negative length": (get(b"/", b"Content-Length: -1"), 400),
    "an absurd length": (get(b"/", b"Content-Length: 99999999999999999999"), 400),
    "a length that is none": (get(b"/", b"Content-Length: abc"), 400),
    "two lengths": (get(b"/", b"Content-Length: 0", b"Content-Length: 5"), 400),
    "chunks": (get(b"/", b"Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n", 400),
    "a bad escape": (get(b"/runs/data/run/%zz%"), 404),
    "an escape that is no text": (get(b"/runs/data/run/%ff%fe"), 404),
    "NUL": (get(b"/runs/data/run/%00"), 404),
    "raw NUL": (get(b"/runs/data/run/\0"), 400),
    "high bytes": (get(b"/runs/data/run/\xff\xfe"), 400),
    "a way up": (get(b"/runs/data/../../../../etc/passwd"), 404),
    "a way up, escaped": (get(b"/runs/data/run/..%2f..%2f..%2fetc%2fpasswd"), 404),
    "a negative number": (get(b"/runs/data/state?from=-1"), 422),
    "a word for a number": (get(b"/runs/data/state?from=abc"), 422),
    "a long number": (get(b"/runs/data/state?from=" + b"9" * 5000), 422),
    "a number of another script": (get(b"/runs/data/state?from=%D9%A3"), 422),
    "many parameters": (get(b"/runs/data/state?" + b"&".join(b"a=1" for _ in range(5_000))), 200),
    "POST": (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", 405),
    "a method of many letters": (b"A" * 5_000 + b" / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    "a method that is an attribute": (b"GET__class__ / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_a_request_that_is_none_gets_an_answer(server: Served, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    request, wanted = ATTACKS[name]
    found = answer(server, request)
    assert status(found) in (wanted if isinstance(wanted, tuple) else (wanted,))
    assert b"root:" not in found
    assert b"Python" not in found
    if status(found) >= 400:
        assert re.search(rb"content-type: (text/plain|application/json)", found)
    works(server)
    assert capfd.readouterr() == ("", "")


def test_an_answer_comes_while_more_is_being_sent(server: Served) -> None:
    """A server that closes with unread bytes before it has its own answer thrown away by the system."""
    with connected(server) as connection:
        connection.sendall(get(b"/", b"Content-Length: 3000000") + b"x" * 3_000_000)
        connection.shutdown(socket.SHUT_WR)
        assert status(read_all(connection)) == 400


@pytest.mark.timed
def test_slow_clients_are_let_go_and_others_served(
    server: Served, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(TimedProtocol, "request_s", 0.6)
    slow = [connected(server) for _ in range(8)]
    started = time.monotonic()
    try:
        for _ in range(30):  # a byte now and then, which no pause between bytes would give away
            for connection in slow:
                try:
                    connection.sendall(b"G")
                except OSError:
                    continue
            time.sleep(0.05)
            works(server)
        for connection in slow:
            try:
                read_all(connection)
            except ConnectionError:
                continue
        assert time.monotonic() - started < 10 + STALL_S
    finally:
        for connection in slow:
            connection.close()
    assert capfd.readouterr() == ("", "")


@pytest.mark.timed
def test_too_many_at_a_time_are_told_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(TimedProtocol, "most_connections", 3)
    monkeypatch.setattr(TimedProtocol, "request_s", 1.0)
    live = FollowedRuns(folder, lambda runs, refused: build(runs, refused=refused))
    live.look()
    with served(tmp_path / "own", runs=live) as server:
        idle = [connected(server) for _ in range(3)]
        with connected(server) as one_more:
            assert status(read_all(one_more)) == 503
        for connection in idle:  # they are let go when they said nothing for too long
            with closing(connection), suppress(ConnectionError):
                assert read_all(connection) == b""
        works(server)
    assert capfd.readouterr() == ("", "")


def test_a_pipe_in_the_place_of_a_file_does_not_hold_up_the_page(folder: Path) -> None:
    (folder / "b").mkdir()
    os.mkfifo(folder / "b" / "manifest.json")
    live = FollowedRuns(folder, lambda runs, refused: build(runs, refused=refused))
    (folder / "a" / "metrics.json").unlink()
    (folder / "a" / "trajectories.jsonl").unlink()
    os.mkfifo(folder / "a" / "trajectories.jsonl")
    looking = threading.Thread(target=live.look, daemon=True)
    looking.start()
    looking.join(COMES_S)
    assert not looking.is_alive()
    assert "only regular files are read" in (live.answer("overview") or "")
