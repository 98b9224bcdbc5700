"""Any OpenAI-compatible chat endpoint: vLLM, llama.cpp's server, Ollama, hosted ones.

OPENAI_BASE_URL says where it is, OPENAI_API_KEY opens it. `client` sends the requests and retries them.
"""

import os
from typing import Any

from merit.models.address import Address
from merit.models.client import Client
from merit.models.connection import Patience
from merit.models.tokens import with_tokens
from merit.models.waiting import Waiting
from merit.reading import sendable, shown
from merit.types import Completion, ModelIdentity, Sampling

_MOST_TOKENS = 2**40  # a larger count is not a count of tokens


class EndpointCompleter:
    """A chat endpoint, with at most `concurrency` requests under way."""

    recorded = False

    def __init__(self, model: str, *, concurrency: int = 32, patience: Patience | None = None) -> None:
        address = Address.of_environment()
        self.address = address.named
        self.concurrency = concurrency
        self._model = model
        waiting = Waiting(address.shown)
        self._client = Client(model, address, waiting, concurrency=concurrency, patience=patience)
        self.identity = ModelIdentity(f"openai:{model}", os.environ.get("MERIT_MODEL_REVISION", ""))

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The endpoint's answer; its tokens are estimated where the endpoint does not count them."""
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "user", "content": sendable(prompt)}],
            "temperature": sampling.temperature,
            "max_tokens": sampling.max_tokens,
        }
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        return with_tokens(prompt, await self._client.ask("/chat/completions", body, _completion))

    async def offered(self) -> list[str]:
        """The names of the models that the endpoint says it has; raises if no endpoint is there."""
        return await self._client.offered()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _completion(reply: Any) -> Completion:
    """A reply's text, and its tokens where both of them were counted."""
    if not reply["choices"]:
        raise ValueError("its list of choices is empty")
    text, usage = _text(reply["choices"][0]["message"].get("content")), reply.get("usage")
    if not isinstance(usage, dict):
        return Completion(text, 0, 0)
    prompt, output = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return Completion(text, 0, 0) if None in (prompt, output) else Completion(text, _tokens(prompt), _tokens(output))


def _tokens(given: Any) -> int:
    """A number of tokens; ValueError if it cannot be one."""
    try:
        tokens = int(given)
    except (ValueError, TypeError, OverflowError):
        tokens = -1
    if not 0 <= tokens < _MOST_TOKENS:
        raise ValueError(f"{shown(given)} cannot be a number of tokens")
    return tokens


def _text(content: Any) -> str:
    """An answer's text; some endpoints send it in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    if not isinstance(content, str | None):
        raise TypeError("content is neither a text nor parts of one")
    return content or ""
