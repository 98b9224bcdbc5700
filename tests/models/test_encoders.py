"""Encoders: the one that ships, an endpoint, and what they may not do."""

import json
import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from making.memories import WordEncoder
from merit.errors import EncoderFailed, InputError
from merit.models import CachedEncoder, EncoderIdentity, open_encoder, unit_vectors


def test_the_default_encoder_ships_and_knows_some_english() -> None:
    encoder = open_encoder("wordllama")
    assert encoder.identity.dimension == 256
    singers, vocalists, engines = encoder.encode(
        ["How many singers are there?", "Count the vocalists.", "Diesel engine horsepower"]
    )
    assert float(singers @ vocalists) > float(singers @ engines)
    assert np.allclose(np.linalg.norm(encoder.encode(["one", "", "três ✓"]), axis=1)[[0, 2]], 1.0, atol=1e-6)


@pytest.mark.parametrize("uri", ["", "wordlama", "openai:", "wordllama:big", "bge"])
def test_an_unknown_encoder_is_named(uri: str) -> None:
    with pytest.raises(InputError, match="unknown encoder; use wordllama, sentence-transformers:NAME or openai:MODEL"):
        open_encoder(uri)


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="sentence-transformers is installed")
def test_a_missing_extra_is_named() -> None:
    with pytest.raises(EncoderFailed, match=r"install merit-sql\[paper\]"):
        open_encoder("sentence-transformers:any")


class Embeddings(BaseHTTPRequestHandler):
    """A real endpoint on this machine: word lengths as embeddings, out of order."""

    mode = "good"
    asked: list[dict[str, object]] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({**body, "key": self.headers.get("Authorization")})
        data = [{"index": i, "embedding": [float(len(text)), 1.0, 2.0]} for i, text in enumerate(body["input"])]
        answers = {"good": {"data": data[::-1]}, "empty": {"data": []}, "odd": {"error": "no"}}
        if self.mode == "down":
            self.send_error(503)
            return
        payload = json.dumps(answers[self.mode]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Embeddings]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    Embeddings.mode = "good"
    Embeddings.asked = []
    yield Embeddings
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_openai_compatible_endpoint(endpoint: type[Embeddings]) -> None:
    encoder = open_encoder("openai:small")
    assert encoder.identity.dimension == 3
    texts = ["a" * (i % 7 + 1) for i in range(300)]
    vectors = encoder.encode(texts)
    assert np.allclose(vectors[4], np.array([5.0, 1.0, 2.0]) / math.sqrt(30))
    assert {(ask["model"], ask["key"]) for ask in endpoint.asked} == {("small", "Bearer secret")}
    assert [len(ask["input"]) for ask in endpoint.asked] == [1, 128, 128, 44]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "message"), [("down", "answered 503"), ("empty", "gave an array"), ("odd", "gave no embeddings")]
)
def test_an_endpoint_that_fails_is_named(endpoint: type[Embeddings], mode: str, message: str) -> None:
    encoder = open_encoder("openai:small")
    endpoint.mode = mode
    with pytest.raises(EncoderFailed, match=message):
        encoder.encode(["a", "b"])


def test_an_endpoint_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(EncoderFailed, match="127.0.0.1:9/v1/embeddings: gave no embeddings"):
        open_encoder("openai:small")


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
    cached = CachedEncoder(plain, tmp_path)
    first = cached.encode(["a b", "c", "a b"])
    assert plain.encoded == ["a b", "c"]
    assert np.array_equal(first, WordEncoder().encode(["a b", "c", "a b"]))
    cached.close()
    again = CachedEncoder(plain, tmp_path)
    assert np.array_equal(again.encode(["c", "d"]), WordEncoder().encode(["c", "d"]))
    assert plain.encoded == ["a b", "c", "d"]
    again.close()
    other = WordEncoder(revision="2")  # another revision shares nothing
    third = CachedEncoder(other, tmp_path)
    third.encode(["c"])
    assert other.encoded == ["c"]
    third.close()
