"""Encoders by URI.

`wordllama`                        small, torch-free, comes with the package, works offline: the default
`sentence-transformers:NAME`       any model by name or path (extra `[paper]`; without a name, the paper's)
`openai:MODEL`                     any OpenAI-compatible embeddings endpoint (OPENAI_BASE_URL, OPENAI_API_KEY)
"""

import hashlib
import logging
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from merit.errors import EncoderFailed, InputError
from merit.models.weights import first_line
from merit.types import Encoder, EncoderIdentity, Matrix
from merit.vectors import unit_vectors

PAPER_ENCODER = "BAAI/bge-large-en-v1.5"


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
    from merit.models.endpoint_encoder import EndpointEncoder  # only here: its HTTP client takes 0.1 s to import

    return EndpointEncoder(name)
