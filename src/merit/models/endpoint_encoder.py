"""An OpenAI-compatible endpoint for embeddings: OPENAI_BASE_URL says where it is, OPENAI_API_KEY opens it."""

import asyncio
import math
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from merit.errors import EncoderFailed, ModelFailed
from merit.models.address import Address
from merit.models.connection import Patience, usual_patience
from merit.models.retrying_client import RetryingClient
from merit.models.wait_notice import WaitNotice
from merit.reading import sendable
from merit.types import EncoderIdentity, Matrix
from merit.vectors import unit_vectors

_MOST_EMBEDDING_BYTES = 64 << 20  # of one answer: 128 vectors of 16,384 numbers, at 30 bytes each
_MOST_DIMENSIONS = 65_536  # large models have some thousands; a memory holds four bytes for each of an entry


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
