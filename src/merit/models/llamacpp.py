"""A GGUF file answered in this process by llama.cpp (extra `[llamacpp]`): no server, no torch."""

import asyncio
import hashlib
import json
import os
import threading
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from merit.errors import ContextOverflow, InputError, ModelFailed
from merit.models.greedy import NEUTRAL, Neutral, is_greedy
from merit.models.priority import PrioritySemaphore
from merit.models.token_counts import AS_CHAT
from merit.types import Completion, ModelIdentity, Sampling

CONTEXT_TOKENS = 8192
THREADS = "MERIT_LLAMACPP_THREADS"  # llama.cpp takes every core, which is slow where others are busy on them


class LlamaCppCompleter:
    """One model in memory; prompts are answered one after the other, which is what a CPU does best."""

    concurrency = 1
    recorded = False
    neutral = NEUTRAL

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
        if (threads := _threads()) is not None:
            parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
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
            return await asyncio.to_thread(self._complete, prompt, sampling, NEUTRAL if is_greedy(sampling) else {})

    async def complete_by_default(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer where all that `Sampling` does not say is left to llama.cpp and the GGUF file."""
        async with self._slot:
            return await asyncio.to_thread(self._complete, prompt, sampling, {})

    async def close(self) -> None:
        """Free the model."""
        self._server = None

    def _complete(self, prompt: str, sampling: Sampling, neutral: Neutral) -> Completion:
        messages = [{"role": "user", "content": prompt}]
        request: dict[str, Any] = {
            "temperature": sampling.temperature,
            "max_tokens": sampling.max_tokens,
            "seed": 0 if sampling.seed is None else sampling.seed,
            "cache_prompt": False,  # reusing another prompt's state changes the last bits, and with them answers
            **neutral,
        }
        with self._lock:
            cut = self._cut(messages, sampling.max_prompt_tokens)
            if cut is None:
                reply = self._server.handle_chat_completions({**request, "messages": messages})
            else:
                reply = self._server.handle_completions({**request, "prompt": cut})
        if "error" in reply:
            self._refuse(reply["error"])
        usage, choice = reply["usage"], reply["choices"][0]
        text = (choice["message"]["content"] if cut is None else choice["text"]) or ""
        return Completion(text, usage["prompt_tokens"], usage["completion_tokens"])

    def _cut(self, messages: list[dict[str, str]], most: int | None) -> list[int] | None:
        """The last tokens of a prompt that is too long; None where it is read as it is."""
        if most is None:
            return None
        text = self._post("/apply-template", {"messages": messages})["prompt"]
        tokens: list[int] = self._post("/tokenize", {"content": text, **AS_CHAT})["tokens"]
        return tokens[-most:] if len(tokens) > most else None

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """A request that llama.cpp answers only over HTTP, on a port of this machine that it opens by itself."""
        connection = HTTPConnection(urlsplit(self._server.listening_address).netloc)
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            reply: dict[str, Any] = json.loads(response.read())
        except (OSError, HTTPException, ValueError) as error:
            raise ModelFailed(f"{self.identity.name}: llama.cpp cannot count a prompt's tokens ({error})") from None
        finally:
            connection.close()
        if response.status != 200:
            self._refuse(reply.get("error", {}))
        return reply

    def _refuse(self, error: dict[str, Any]) -> None:
        if error.get("type") == "exceed_context_size_error":
            raise ContextOverflow(
                f"{self.identity.name}: a prompt of {error['n_prompt_tokens']} tokens does not fit into the context of "
                f"{self._context}; raise it with llamacpp:FILE?context=TOKENS"
            )
        raise ModelFailed(f"{self.identity.name}: llama.cpp refused a prompt ({error.get('message')})")


def _threads() -> int | None:
    """How many threads the environment allows; None leaves it to llama.cpp."""
    given = os.environ.get(THREADS)
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal() and 1 <= int(given) <= 1024):
        raise InputError(f"{THREADS} is {given!r}; it should be a number of threads, such as 4")
    return int(given)
