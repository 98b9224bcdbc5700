"""An endpoint that has never answered is given up soon, with what may be wrong; one that did may come back."""

import asyncio
import time
from dataclasses import replace

import pytest

from making.clock import STALL_S
from making.endpoint import UNKNOWN_MODEL, Asked, ChatServer, Reply, answer, refusal, status
from merit.errors import EncoderFailed, ModelFailed
from merit.models.connection import Patience, usual_patience
from merit.models.encoders import open_encoder
from merit.models.endpoint import EndpointCompleter
from merit.models.endpoint_encoder import EndpointEncoder
from merit.types import Sampling

pytestmark = pytest.mark.timed
HASTY = Patience(faults_s=60.0, first_faults_s=0.4, first_pause_s=0.02, longest_pause_s=0.1, tries=1000)


def ask(prompts: list[str], patience: Patience = HASTY) -> list[object]:
    """What becomes of prompts, asked one after the other."""

    async def go() -> list[object]:
        completer, found = EndpointCompleter("m", patience=patience), list[object]()
        try:
            for prompt in prompts:
                found += await asyncio.gather(completer.complete(prompt, Sampling()), return_exceptions=True)
        finally:
            await completer.close()
        return found

    return asyncio.run(go())


def down_for(seconds: float, prompt: str) -> object:
    """Faults for so long from the first time that a prompt is asked."""
    begun: list[float] = []

    def behave(asked: Asked) -> Reply:
        if asked.prompt != prompt:
            return answer(asked)
        begun.append(time.monotonic())
        down = time.monotonic() - begun[0] < seconds
        return Reply(500, b"not now") if down else answer(asked)

    return behave


def test_an_endpoint_that_never_answered_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(status(500)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        started = time.monotonic()
        [error] = ask(["p"])
    assert 0.4 <= time.monotonic() - started < 2 * STALL_S
    assert isinstance(error, ModelFailed)
    assert "tries (status 500: <html>not now</html>); check that the server works and that OPENAI_BASE_URL" in str(
        error
    )
    assert server.requests >= 2


def test_one_that_answered_once_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        server.behaviour = down_for(1.2, "later")  # type: ignore[assignment]
        found = ask(["first", "later"])
    assert [one for one in found if isinstance(one, BaseException)] == []


def test_one_that_asks_for_patience_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit on the rate may have been used up by somebody else."""
    until = time.monotonic() + 1.2
    with ChatServer(lambda asked: status(429)(asked) if time.monotonic() < until else answer(asked)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        [found] = ask(["p"])
    assert not isinstance(found, BaseException)


def test_as_it_stands_it_takes_about_ten_seconds() -> None:
    usual = Patience()
    assert usual.first_faults_s == 10.0
    assert usual_patience("30").first_faults_s == 30.0
    assert usual_patience("5").first_faults_s == 10.0
    assert usual_patience("120").first_faults_s == usual.faults_s


def test_an_encoder_that_answered_once_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        encoder = EndpointEncoder("e", patience=HASTY)
        until = time.monotonic() + 1.2
        server.behaviour = lambda asked: status(500)(asked) if time.monotonic() < until else answer(asked)
        assert encoder.encode(["text"]).shape == (1, 3)
        server.behaviour = status(500)
        started = time.monotonic()
        with pytest.raises(EncoderFailed):
            EndpointEncoder("e", patience=HASTY)
        assert time.monotonic() - started < 2 * STALL_S


def test_everybody_who_is_refused_hears_which_models_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(UNKNOWN_MODEL) as server:
        server.models = ["qwen", "llama"]
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)

        async def go() -> list[object]:
            completer = EndpointCompleter("m")
            try:
                calls = (completer.complete(f"p{i}", Sampling()) for i in range(20))
                return list(await asyncio.gather(*calls, return_exceptions=True))
            finally:
                await completer.close()

        found = asyncio.run(go())
    assert len(found) == 20
    assert all("it offers qwen, llama" in str(one) for one in found)
    assert server.probes == 1


def test_https_for_a_server_that_speaks_http_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url.replace("http:", "https:"))
        started = time.monotonic()
        [error] = ask(["p"], replace(HASTY, first_faults_s=200.0))
        assert time.monotonic() - started < 2 * STALL_S
    assert isinstance(error, ModelFailed)
    secure = server.url.replace("http:", "https:")
    assert str(error) == f"{secure}: it speaks http, not https; set OPENAI_BASE_URL to {server.url}"


def test_an_endpoint_without_embeddings_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(refusal(404, "Not Found")) as server:
        server.models = ["qwen"]
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        with pytest.raises(EncoderFailed) as caught:
            open_encoder("openai:emb")
    said = str(caught.value)
    assert said.startswith(f"{server.url}: answered 404 for the encoder emb (")
    assert "it offers qwen); set OPENAI_BASE_URL to an endpoint that has /embeddings" in said
    assert said.endswith("or use the encoder wordllama")
