"""A GGUF file answered in this process by llama.cpp (extra `[llamacpp]`): no server, no torch."""

import asyncio
import hashlib
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

from merit.errors import ContextOverflow, InputError, ModelFailed
from merit.models.priority import PrioritySemaphore
from merit.types import Completion, ModelIdentity, Sampling

CONTEXT_TOKENS = 8192


class LlamaCppCompleter:
    """One model in memory; prompts are answered one after the other, which is what a CPU does best."""

    concurrency = 1
    recorded = False

    def __init__(self, path: Path, *, context_tokens: int = CONTEXT_TOKENS) -> None:
        if not path.is_file():
            raise InputError(f"{path}: no such file; give the path of a .gguf model")
        try:
            library = import_module("xllamacpp")
        except ImportError:
            raise ModelFailed(
                "llama.cpp is not installed; run, in merit's own folder: pip install '.[llamacpp]'"
            ) from None
        parameters = library.CommonParams()
        parameters.model.path = str(path)
        parameters.n_ctx = context_tokens
        parameters.n_parallel = 1
        parameters.verbosity = -1
        try:
            self._server: Any = library.Server(parameters)
        except (RuntimeError, ValueError) as error:
            raise ModelFailed(f"{path}: llama.cpp cannot load it ({error})") from None
        self._context = context_tokens
        self._slot = PrioritySemaphore(1)
        self._lock = threading.Lock()  # a cancelled call leaves the model working in its thread
        with path.open("rb") as file:
            self.identity = ModelIdentity(path.stem, hashlib.file_digest(file, "sha256").hexdigest()[:16])

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The model's answer through its own chat template."""
        async with self._slot:
            return await asyncio.to_thread(self._complete, prompt, sampling)

    async def close(self) -> None:
        """Free the model."""
        self._server = None

    def _complete(self, prompt: str, sampling: Sampling) -> Completion:
        request = {
            "messages": [{"role": "user", "content": prompt}],
            "temperature": sampling.temperature,
            "max_tokens": sampling.max_tokens,
            "seed": 0 if sampling.seed is None else sampling.seed,
            "cache_prompt": False,  # reusing another prompt's state changes the last bits, and with them answers
        }
        with self._lock:
            reply = self._server.handle_chat_completions(request)
        if "error" in reply:
            self._refuse(reply["error"])
        usage = reply["usage"]
        text = reply["choices"][0]["message"]["content"] or ""
        return Completion(text, usage["prompt_tokens"], usage["completion_tokens"])

    def _refuse(self, error: dict[str, Any]) -> None:
        if error.get("type") == "exceed_context_size_error":
            raise ContextOverflow(
                f"{self.identity.name}: a prompt of {error['n_prompt_tokens']} tokens does not fit into the context of "
                f"{self._context}; raise it with llamacpp:FILE?context=TOKENS"
            )
        raise ModelFailed(f"{self.identity.name}: llama.cpp refused a prompt ({error.get('message')})")
