"""Encoders by URI.

`wordllama`                        small, torch-free, comes with the package, works offline: the default
`sentence-transformers:NAME`       any model by name or path (extra `[paper]`; without a name, the paper's)
`openai:MODEL`                     any OpenAI-compatible embeddings endpoint (OPENAI_BASE_URL, OPENAI_API_KEY)
"""

import hashlib
import json
import logging
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from merit.errors import EncoderFailed, InputError
from merit.models.encoder import Encoder, EncoderIdentity, Matrix, unit_vectors

PAPER_ENCODER = "BAAI/bge-large-en-v1.5"


class WordLlamaEncoder:
    """Averaged token embeddings distilled from large models, shipped inside the wordllama package."""

    def __init__(self) -> None:
        root = logging.getLogger()
        before = (root.level, list(root.handlers))
        import wordllama

        root.level, root.handlers[:] = before  # importing it would make every library's log show up
        # The package carries its 256-dimensional weights; without both options it would ask a hub.
        self._model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
        self.identity = EncoderIdentity("wordllama", version("wordllama"), 256)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A vector of length 1 for each text."""
        return unit_vectors(self._model.embed(list(texts)), texts, self.identity)


class SentenceTransformerEncoder:
    """Any model that sentence-transformers can load."""

    def __init__(self, name: str) -> None:
        try:
            library = import_module("sentence_transformers")
        except ImportError:
            raise EncoderFailed(
                "sentence-transformers is not installed; install merit-sql[paper], or use the encoder wordllama"
            ) from None
        try:
            self._model: Any = library.SentenceTransformer(name)
        except (OSError, ValueError) as error:
            raise EncoderFailed(
                f"{name}: sentence-transformers cannot load it ({str(error).splitlines()[0]})"
            ) from None
        size = getattr(self._model, "get_embedding_dimension", None) or self._model.get_sentence_embedding_dimension
        config = getattr(self._model[0].auto_model, "config", None)
        revision = _content(Path(name)) if Path(name).is_dir() else getattr(config, "_commit_hash", None)
        self.identity = EncoderIdentity(Path(name).name if Path(name).is_dir() else name, revision or "?", int(size()))

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A vector of length 1 for each text."""
        try:
            raw = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        except RuntimeError as error:  # torch's word for a full or failing device
            raise EncoderFailed(f"{self.identity.name}: cannot encode ({str(error).splitlines()[0]})") from None
        return unit_vectors(raw, texts, self.identity)


class EndpointEncoder:
    """An OpenAI-compatible embeddings endpoint."""

    BATCH = 128
    TIMEOUT_S = 60.0

    def __init__(self, model: str) -> None:
        base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1").rstrip("/")
        self._url = f"{base}/embeddings"
        self._model = model
        dimension = len(self._ask(["dimension"])[0])
        self.identity = EncoderIdentity(f"openai:{model}", base, dimension)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A vector of length 1 for each text."""
        raw = [
            vector
            for start in range(0, len(texts), self.BATCH)
            for vector in self._ask(list(texts[start : start + self.BATCH]))
        ]
        return unit_vectors(raw, texts, self.identity)

    def _ask(self, texts: list[str]) -> list[list[float]]:
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get("OPENAI_API_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        body = json.dumps({"model": self._model, "input": texts}).encode()
        try:
            request = urllib.request.Request(self._url, body, headers)  # noqa: S310 - the user's own endpoint
            with urllib.request.urlopen(request, timeout=self.TIMEOUT_S) as response:  # noqa: S310
                data = json.load(response)["data"]
            return [item["embedding"] for item in sorted(data, key=lambda item: int(item["index"]))]
        except urllib.error.HTTPError as error:
            raise EncoderFailed(f"{self._url}: answered {error.code} {error.reason} for model {self._model}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EncoderFailed(f"{self._url}: gave no embeddings ({error}); check OPENAI_BASE_URL") from None


def _content(folder: Path) -> str:
    """A model folder's revision: a hash of its files, since a path says nothing about what lies there."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            digest.update(f"{path.relative_to(folder)}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def open_encoder(uri: str) -> Encoder:
    """The encoder that a URI names."""
    kind, _, name = uri.partition(":")
    if kind == "wordllama" and not name:
        return WordLlamaEncoder()
    if kind == "sentence-transformers":
        return SentenceTransformerEncoder(name or PAPER_ENCODER)
    if kind == "openai" and name:
        return EndpointEncoder(name)
    raise InputError(f"{uri}: unknown encoder; use wordllama, sentence-transformers:NAME or openai:MODEL")
