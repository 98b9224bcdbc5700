"""Encoders: the one that ships, an endpoint, and what they may not do."""

import asyncio
import base64
import math
import subprocess
import sys
import traceback
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from making.endpoint import (
    UNAUTHORIZED,
    Behaviour,
    ChatServer,
    Reply,
    answer,
    as_json,
    at_first,
    cut_off,
    embeddings,
    garbled,
    reset,
    status,
    truncated_json,
)
from making.memories import WordEncoder
from merit.errors import EncoderFailed, InputError
from merit.models import CachingEncoder, open_encoder
from merit.models.connection import Patience
from merit.models.endpoint_encoder import EndpointEncoder
from merit.types import EncoderIdentity
from merit.vectors import unit_vectors


def test_the_default_encoder_ships_and_knows_some_english() -> None:
    encoder = open_encoder("wordllama")
    assert encoder.identity.dimension == 256
    singers, vocalists, engines = encoder.encode(
        ["How many singers are there?", "Count the vocalists.", "Diesel engine horsepower"]
    )
    assert float(singers @ vocalists) > float(singers @ engines)
    assert np.allclose(np.linalg.norm(encoder.encode(["one", "", "três ✓"]), axis=1)[[0, 2]], 1.0, atol=1e-6)


_MANY_TEXTS = """
import sys, threading
from pathlib import Path
from merit.models import open_encoder

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

encoder = open_encoder("wordllama")
said = [f"How many orders are in each state, asked as number {n}?" * 3 for n in range(4000)]
def work(texts):
    for text in texts:
        encoder.encode([text])
for part in (said[:200], said[200:]):
    before = resident()
    threads = [threading.Thread(target=work, args=(part[n::8],)) for n in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_default_encoder_keeps_no_text_in_any_thread() -> None:
    done = subprocess.run([sys.executable, "-c", _MANY_TEXTS], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 4 << 20  # measured 1 MB; 29 MB where each thread keeps 500 texts


@pytest.mark.parametrize("uri", ["", "openai:", "bge"])
def test_an_unknown_encoder_is_named(uri: str) -> None:
    with pytest.raises(InputError, match="unknown encoder; use wordllama, sentence-transformers:NAME or openai:MODEL"):
        open_encoder(uri)


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="sentence-transformers is installed")
def test_a_missing_extra_is_named() -> None:
    with pytest.raises(EncoderFailed, match=r"run, in merit's own folder: pip install '.\[paper\]'"):
        open_encoder("sentence-transformers:any")


def test_without_a_name_sentence_transformers_loads_the_papers_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        def __init__(self, name: str) -> None:
            self.name, self.auto_model = name, SimpleNamespace(config=SimpleNamespace(_commit_hash="d4aa690"))

        def __getitem__(self, _: int) -> "Model":
            return self

        def get_embedding_dimension(self) -> int:
            return 2

        def encode(self, texts: list[str], *, normalize_embeddings: bool, show_progress_bar: bool) -> list[list[float]]:
            assert (normalize_embeddings, show_progress_bar) == (True, False)
            return [[0.6, 0.8] for _ in texts]

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Model))
    encoder = open_encoder("sentence-transformers:")
    assert encoder.identity == EncoderIdentity("BAAI/bge-large-en-v1.5", "d4aa690", 2)
    assert np.allclose(encoder.encode(["a", "b"]), [[0.6, 0.8], [0.6, 0.8]])


# An endpoint


QUICK = Patience(request_s=5.0, connect_s=2.0, first_pause_s=0.01, longest_pause_s=0.02, tries=4)
KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ChatServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def failure(server: ChatServer, behaviour: Behaviour) -> str:
    """What is said when an endpoint that was good behaves like this."""
    server.behaviour = answer
    encoder = EndpointEncoder("small", patience=QUICK)
    server.behaviour = behaviour
    with pytest.raises(EncoderFailed) as caught:
        encoder.encode(["a", "b"])
    said = str(caught.value)
    assert "\n" not in said
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert len(said) < 600
    return said


def test_an_openai_compatible_endpoint(server: ChatServer) -> None:
    encoder = open_encoder("openai:small")
    assert encoder.identity == EncoderIdentity("openai:small", server.url, 3)
    texts = ["a" * (i % 7 + 1) for i in range(300)]
    vectors = encoder.encode(texts)
    assert np.allclose(vectors[4], np.array([5.0, 1.0, 2.0]) / math.sqrt(30))
    assert {(asked.path, asked.authorization) for asked in server.asked} == {("/v1/embeddings", f"Bearer {KEY}")}
    assert [asked.body for asked in server.asked[:1]] == [{"model": "small", "input": ["dimension"]}]
    assert [len(asked.texts) for asked in server.asked] == [1, 128, 128, 44]


def test_it_can_be_asked_from_within_an_event_loop(server: ChatServer) -> None:
    encoder = open_encoder("openai:small")

    async def recall() -> int:
        return len(encoder.encode(["a", "b"]))

    assert asyncio.run(recall()) == 2


@pytest.mark.parametrize(
    "fault", [status(503), status(429, "0.05"), reset, cut_off, garbled, truncated_json, lambda _: embeddings([])]
)
def test_what_may_pass_is_asked_again(server: ChatServer, fault: Behaviour) -> None:
    server.behaviour = at_first(fault, times=2)
    assert EndpointEncoder("small", patience=QUICK).identity.dimension == 3
    assert server.requests == 3


def test_the_dimension_is_bounded(server: ChatServer) -> None:
    server.behaviour = lambda _: embeddings([[0.5] * 65_536])
    assert EndpointEncoder("small", patience=QUICK).identity.dimension == 65_536
    server.behaviour = lambda _: embeddings([[0.5] * 65_537])
    says = "small answered with a vector of 65,537 numbers, at most 65,536 are used; is it an embedding model"
    with pytest.raises(EncoderFailed, match=says):
        EndpointEncoder("small", patience=QUICK)
    assert server.requests == 2  # it is not asked again


def test_an_endpoint_may_ask_for_time(server: ChatServer) -> None:
    server.behaviour = at_first(status(429, "0.3"))
    EndpointEncoder("small", patience=QUICK)
    first, second = server.asked
    assert second.at - first.at >= 0.3


NO_EMBEDDINGS: dict[str, object] = {
    "an error": {"error": "no"},
    "nothing": None,
    "a list": [],
    "a number": {"data": 5},
    "no data": {"data": None},
    "too few": {"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}]},
    "one twice": {"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}] * 2},
    "wrong numbers": {"data": [{"index": i, "embedding": [1.0, 2.0, 3.0]} for i in (1, 2)]},
    "words for numbers": {"data": [{"index": str(i), "embedding": [1.0, 2.0, 3.0]} for i in (0, 1)]},
    "a list for a number": {"data": [{"index": [0], "embedding": [1.0]}] * 2},
    "texts": {"data": [{"index": i, "embedding": ["1.0", "2.0", "3.0"]} for i in (0, 1)]},
    "base64": {"data": [{"index": i, "embedding": "AACAPwAAAEA="} for i in (0, 1)]},
    "not a number": {"data": [{"index": i, "embedding": [1.0, math.nan, 3.0]} for i in (0, 1)]},
    "infinite": {"data": [{"index": i, "embedding": [1.0, math.inf, 3.0]} for i in (0, 1)]},
    "beyond all numbers": {"data": [{"index": i, "embedding": [1.0, 10**400, 3.0]} for i in (0, 1)]},
    "truth": {"data": [{"index": i, "embedding": [True, True, False]} for i in (0, 1)]},
    "of two lengths": {"data": [{"index": i, "embedding": [1.0] * (i + 1)} for i in (0, 1)]},
    "empty ones": {"data": [{"index": i, "embedding": []} for i in (0, 1)]},
    "nested": {"data": [{"index": i, "embedding": [[1.0], [2.0], [3.0]]} for i in (0, 1)]},
}


@pytest.mark.parametrize("reply", NO_EMBEDDINGS)
def test_what_is_no_embedding_is_refused(server: ChatServer, reply: str) -> None:
    said = failure(server, lambda _: as_json(NO_EMBEDDINGS[reply]))
    assert said.startswith(f"{server.url}: no answer after 4 tries (")
    assert reply == "an error" or "what came is not a valid embedding: " in said


def test_another_dimension_than_before_is_refused(server: ChatServer) -> None:
    said = failure(server, lambda asked: embeddings([[1.0, 2.0]] * len(asked.texts)))
    assert said.endswith("2 texts gave an array of shape (2, 2), expected (2, 3); is it the same model as before?")


def test_a_refusal_is_reported_at_once(server: ChatServer) -> None:
    said = failure(server, UNAUTHORIZED)
    assert said.startswith(f"{server.url}: answered 401 for model small (")
    assert server.requests == 2  # the good one and this


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_its_key_follows_no_redirect(server: ChatServer, code: int) -> None:
    with ChatServer() as other:
        moved = Reply(code, b"moved", {"Location": f"{other.url}/embeddings?token={KEY}"})
        said = failure(server, lambda _: moved)
        assert (other.asked, other.probes) == ([], 0)
    assert f"it redirects to {other.url}/embeddings?token=***, which merit does not follow" in said


def test_an_endpoint_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(EncoderFailed, match=r"^http://127.0.0.1:9/v1: no answer after 4 tries \(connection refused\)"):
        EndpointEncoder("small", patience=QUICK)


def test_a_vector_never_has_a_secret_in_its_name(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url.replace("//", "//me:pass-word@") + "?api_key=hidden")
    encoder = open_encoder("openai:small")
    assert encoder.identity == EncoderIdentity("openai:small", server.url, 3)
    assert server.asked[0].authorization == "Basic " + base64.b64encode(b"me:pass-word").decode()
    assert server.asked[0].path == "/v1/embeddings?api_key=hidden"


# Vectors


def test_what_is_no_vector_is_refused() -> None:
    identity = EncoderIdentity("x", "1", 2)
    with pytest.raises(EncoderFailed, match="not a number"):
        unit_vectors([[1.0, float("nan")]], ["a"], identity)
    with pytest.raises(EncoderFailed, match=r"shape \(1, 3\), expected \(1, 2\)"):
        unit_vectors([[1.0, 2.0, 3.0]], ["a"], identity)
    assert np.allclose(unit_vectors([[3.0, 4.0], [0.0, 0.0]], ["a", "b"], identity), [[0.6, 0.8], [0.0, 0.0]])


def test_scaling_twice_changes_nothing() -> None:
    identity = EncoderIdentity("x", "1", 50)
    texts = [str(i) for i in range(200)]
    once = unit_vectors(np.random.default_rng(1).standard_normal((200, 50)), texts, identity)
    assert np.array_equal(unit_vectors(once, texts, identity), once)


def test_no_text_is_encoded_twice(tmp_path: Path) -> None:
    plain = WordEncoder()
    cached = CachingEncoder(plain, tmp_path)
    first = cached.encode(["a b", "c", "a b"])
    assert plain.encoded == ["a b", "c"]
    assert np.array_equal(first, WordEncoder().encode(["a b", "c", "a b"]))
    cached.close()
    again = CachingEncoder(plain, tmp_path)
    assert np.array_equal(again.encode(["c", "d"]), WordEncoder().encode(["c", "d"]))
    assert plain.encoded == ["a b", "c", "d"]
    again.close()
    other = WordEncoder(revision="2")  # another revision shares nothing
    third = CachingEncoder(other, tmp_path)
    third.encode(["c"])
    assert other.encoded == ["c"]
    third.close()
