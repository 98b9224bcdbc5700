"""Models in Hugging Face's format, by hub name or folder: their identity, and prompts as their tokens."""

import hashlib
from importlib import import_module
from pathlib import Path
from typing import Any

from merit.errors import ContextOverflow, InputError, ModelFailed
from merit.models.redaction import redacted
from merit.reading import sendable
from merit.types import Sampling

_PART = 1 << 20  # bytes read at a time


class Weights:
    """A model's configuration and tokenizer; the weights themselves are the backend's."""

    def __init__(self, name: str, context_tokens: int | None) -> None:
        folder = Path(name).expanduser()
        local = folder.is_dir()
        if not local and (name.startswith((".", "/", "~")) or name.count("/") > 1):
            raise InputError(f"{name}: no such folder; give a model folder or a name on the hub")
        self.location = str(folder) if local else name
        self.name = folder.absolute().name if local else name
        library: Any = import_module("transformers")
        try:
            config = library.AutoConfig.from_pretrained(self.location)
            self.tokenizer: Any = library.AutoTokenizer.from_pretrained(self.location)
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise ModelFailed(f"{name}: transformers cannot load it ({first_line(error)})") from None
        if not getattr(self.tokenizer, "chat_template", None):
            raise ModelFailed(f"{name}: its tokenizer has no chat template; use an instruction-tuned model")
        self.revision = content_hash(folder) if local else (getattr(config, "_commit_hash", None) or "?")[:16]
        most = getattr(config.get_text_config(), "max_position_embeddings", None)
        self.context = min(filter(None, (context_tokens, most)), default=None)

    def tokens(self, prompt: str, sampling: Sampling) -> list[int]:
        """A prompt as the model reads it, cut on the left where asked; it and the answer must fit into the context."""
        message = {"role": "user", "content": sendable(prompt)}
        text = self.tokenizer.apply_chat_template([message], tokenize=False, add_generation_prompt=True)
        tokens: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if sampling.max_prompt_tokens is not None:
            tokens = tokens[-sampling.max_prompt_tokens :]
        if self.context is not None and len(tokens) + sampling.max_tokens > self.context:
            raise ContextOverflow(
                f"{self.name}: a prompt of {len(tokens)} tokens and an answer of up to {sampling.max_tokens} do not "
                f"fit into the context of {self.context}"
            )
        return tokens


def content_hash(folder: Path) -> str:
    """A model folder's revision: every byte counts, since a merged adapter may change only a few layers."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            while part := file.read(_PART):
                digest.update(part)
    return digest.hexdigest()[:16]


def first_line(error: BaseException) -> str:
    """The first line of a library's error, without its advice and without a proxy's password."""
    return redacted(next(iter(str(error).strip().splitlines()), type(error).__name__))
