"""An endpoint that is waited for is said to be, soon and not for ever."""

import asyncio
import logging

import pytest

from making.endpoint import ChatServer, at_first, silence, status
from merit.models import wait_notice
from merit.models.connection import Patience
from merit.models.endpoint import EndpointCompleter
from merit.models.endpoint_encoder import EndpointEncoder
from merit.types import Sampling

PATIENCE = Patience(
    request_s=60.0, first_pause_s=0.02, longest_pause_s=0.05, faults_s=60.0, first_faults_s=60.0, tries=1000
)
pytestmark = pytest.mark.timed


assert wait_notice._FIRST_S <= 2.5, "people are to hear of it within three seconds"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_notice, "_FIRST_S", 0.3)


def ask(server: ChatServer, monkeypatch: pytest.MonkeyPatch, *prompts: str) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)

    async def go() -> None:
        completer = EndpointCompleter("m", patience=PATIENCE)
        for prompt in prompts:
            await asyncio.gather(*(completer.complete(f"{prompt} {i}", Sampling()) for i in range(5)))
        await completer.close()

    asyncio.run(go())


def test_a_quick_endpoint_is_not_spoken_of(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with ChatServer() as server:
        ask(server, monkeypatch, *"abcdefgh")
    assert caplog.messages == []


def test_a_slow_one_is_at_ever_longer_distances(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with ChatServer(latency_s=1.5) as server:
        ask(server, monkeypatch, "a")
        # after 0.3, 0.6 and 1.2 seconds, once for all calls; a busy machine may take longer
        assert 3 <= len(caplog.messages) <= 5
        assert all(f"merit: waiting for {server.url} (" in message for message in caplog.messages)
        assert all(record.levelno == logging.WARNING for record in caplog.records)
        caplog.clear()


def test_one_that_is_always_slow_is_not_spoken_of_without_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with ChatServer(latency_s=0.45) as server:
        ask(server, monkeypatch, *"abcdefgh")
    assert 1 <= len(caplog.messages) <= 4  # not once a call


def test_what_goes_wrong_meanwhile_is_said_without_secrets(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    with ChatServer(at_first(status(503), times=16)) as server:
        ask(server, monkeypatch, "a")
        assert f"merit: waiting for {server.url} (0 s; status 503: <html>not now</html>)" in caplog.messages
    assert "secret" not in caplog.text


def test_an_encoder_says_so_too_and_not_for_every_text(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with ChatServer(latency_s=0.45) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        encoder = EndpointEncoder("m", patience=PATIENCE)
        for text in "abcd":
            encoder.encode([text])
    assert caplog.messages == [f"merit: waiting for {server.url} (0 s)"]


def test_who_stops_waiting_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def go(server: ChatServer) -> None:
        completer = EndpointCompleter("m", patience=PATIENCE)
        call = asyncio.create_task(completer.complete("p", Sampling()))
        while not server.requests:
            await asyncio.sleep(0.01)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        caplog.clear()
        await asyncio.sleep(0.7)
        await completer.close()

    with ChatServer(silence) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        asyncio.run(go(server))
    assert caplog.messages == []
