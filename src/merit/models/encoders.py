"""Encoders by URI.

`wordllama`                        small, torch-free, comes with the package, works offline: the default
`sentence-transformers:NAME`       any model by name or path (extra `[paper]`; without a name, the paper's)
`openai:MODEL`                     any OpenAI-compatible embeddings endpoint (OPENAI_BASE_URL, OPENAI_API_KEY)
"""

import asyncio
import hashlib
import logging
import math
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from merit.errors import EncoderFailed, InputError, ModelFailed
from merit.models.address import Address
from merit.models.connection import Patience, usual_patience
from merit.models.retrying_client import RetryingClient
from merit.models.wait_notice import WaitNotice
from merit.models.weights import first_line
from merit.reading import sendable
from merit.types import Encoder, EncoderIdentity, Matrix
from merit.vectors import unit_vectors

PAPER_ENCODER = "BAAI/bge-large-en-v1.5"
_MOST_EMBEDDING_BYTES = 64 << 20  # of one answer: 128 vectors of 16,384 numbers, at 30 bytes each

_MOST_DIMENSIONS = 65_536  # large models have some thousands; a memory holds four bytes for each of an entry


class WordLlamaEncoder:
    """Averaged token embeddings distilled from large models, shipped inside the wordllama package."""

    def __init__(self) -> None:
        self._model = _wordllama()
        self.identity = EncoderIdentity("wordllama", version("wordllama"), 256)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A vector of length 1 for each text."""
        return unit_vectors(self._model.embed(list(texts)), texts, self.identity)


@cache
def _wordllama() -> Any:
    """The package's model, loaded once a process: it takes a third of a second, and only reads."""
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    import wordllama

    root.level, root.handlers[:] = before  # importing wordllama reconfigures the root logger
    # The package carries its 256-dimensional weights; without both options it would download them.
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    with suppress(AttributeError):  # of a tokenizer without a cache
        # Each thread would keep thousands of whole texts, 3 KB for each, and texts hardly ever come again.
        model.tokenizer.model._resize_cache(0)
    return model


class SentenceTransformerEncoder:
    """Any model that sentence-transformers can load."""

    def __init__(self, name: str) -> None:
        try:
            library = import_module("sentence_transformers")
        except ImportError:
            raise EncoderFailed(
                "sentence-transformers is not installed; use wordllama, or "
                "run, in merit's own folder: pip install '.[paper]'"
            ) from None
        try:
            self._model: Any = library.SentenceTransformer(name)
        except (OSError, ValueError) as error:
            raise EncoderFailed(f"{name}: sentence-transformers cannot load it ({first_line(error)})") from None
        size = getattr(self._model, "get_embedding_dimension", None) or self._model.get_sentence_embedding_dimension
        config = getattr(self._model[0].auto_model, "config", None)
        revision = _content(Path(name)) if Path(name).is_dir() else getattr(config, "_commit_hash", None)
        self.identity = EncoderIdentity(Path(name).name if Path(name).is_dir() else name, revision or "?", int(size()))

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A vector of length 1 for each text."""
        try:
            raw = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        except RuntimeError as error:  # torch raises this for a full or failing device
            raise EncoderFailed(f"{self.identity.name}: cannot encode ({first_line(error)})") from None
        return unit_vectors(raw, texts, self.identity)


class EndpointEncoder:
    """An OpenAI-compatible embeddings endpoint, with the same retries as an endpoint for answers."""

    BATCH = 128

    def __init__(self, model: str, *, patience: Patience | None = None) -> None:
        self._model = model
        self._patience = patience
        self._address = Address.of_environment()
        self._waiting = WaitNotice(self._address.shown)
        dimension = len(self._ask(["dimension"])[0])
        if dimension > _MOST_DIMENSIONS:
            raise EncoderFailed(
                f"{self._address.shown}: {model} answered with a vector of {dimension:,} numbers, at most "
                f"{_MOST_DIMENSIONS:,} are used; is it an embedding model?"
            )
        usual = patience or usual_patience(os.environ.get("MERIT_PATIENCE_S", ""))
        self._patience = replace(usual, first_faults_s=usual.faults_s)  # it has answered once, and may come back
        self.identity = EncoderIdentity(f"openai:{model}", self._address.shown, dimension)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A vector of length 1 for each text."""
        return unit_vectors(self._ask(texts), texts, self.identity)

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        """The endpoint's vectors, by an event loop of its own: the caller may already be running one."""
        vectors: Future[list[list[float]]] = Future()

        def work() -> None:
            try:
                vectors.set_result(asyncio.run(self._vectors(texts)))
            except BaseException as error:  # raised again below, in the thread that waits
                vectors.set_exception(error)

        threading.Thread(target=work, daemon=True).start()  # a daemon, so that Ctrl-C ends the command
        try:
            return vectors.result()
        except ModelFailed as error:
            raise EncoderFailed(str(error)) from None

    async def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        client = RetryingClient(
            self._model,
            self._address,
            self._waiting,
            kind="embedding",
            patience=self._patience,
            most_bytes=_MOST_EMBEDDING_BYTES,
        )
        try:
            vectors = []
            for start in range(0, len(texts), self.BATCH):
                batch = [sendable(text) for text in texts[start : start + self.BATCH]]
                body = {"model": self._model, "input": batch}
                vectors += await client.ask("/embeddings", body, partial(_embeddings, len(batch)))
            return vectors
        finally:
            await client.close()


def _embeddings(count: int, reply: Any) -> list[list[float]]:
    """A reply's vectors in the order of the texts, whatever order they came in."""
    vectors = {item["index"]: item["embedding"] for item in reply["data"]}
    if len(reply["data"]) != count or sorted(vectors) != list(range(count)):
        raise ValueError(f"{len(reply['data'])} embeddings for {count} texts, or their numbers are wrong")
    lengths = {len(vector) for vector in vectors.values()}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError("vectors of different lengths, or empty ones")
    for vector in vectors.values():
        if not all(type(value) in (int, float) and math.isfinite(value) for value in vector):
            raise ValueError("a vector that is not made of finite numbers")
    return [vectors[index] for index in range(count)]


def _content(folder: Path) -> str:
    """A model folder's revision: a hash of its files, since a path does not identify what lies there."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            digest.update(f"{path.relative_to(folder)}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def check_encoder(uri: str) -> None:
    """Refuse a URI that names no encoder, without loading one."""
    kind, _, name = uri.partition(":")
    if not (uri == "wordllama" or kind == "sentence-transformers" or (kind == "openai" and name)):
        near = get_close_matches(kind.lower(), ("wordllama", "sentence-transformers", "openai"), 1)
        meant = near[0] if near == ["wordllama"] else f"{near[0]}:{name}" if near and name else ""
        hint = f"did you mean {meant}?" if meant else "use wordllama, sentence-transformers:NAME or openai:MODEL"
        raise InputError(f"{uri}: unknown encoder; {hint}")


def open_encoder(uri: str) -> Encoder:
    """The encoder that a URI names."""
    check_encoder(uri)
    kind, _, name = uri.partition(":")
    if kind == "wordllama":
        return WordLlamaEncoder()
    if kind == "sentence-transformers":
        return SentenceTransformerEncoder(name or PAPER_ENCODER)
    return EndpointEncoder(name)
