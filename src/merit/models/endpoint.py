"""Any OpenAI-compatible chat endpoint: vLLM, llama.cpp's server, Ollama, hosted ones.

OPENAI_BASE_URL says where it is, OPENAI_API_KEY opens it. `client` sends the requests and retries them.
"""

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from merit.errors import ModelFailed
from merit.models.address import Address
from merit.models.connection import Patience, RequestRefused
from merit.models.greedy import NEUTRAL, STANDARD_NEUTRAL, Neutral, is_greedy
from merit.models.retrying_client import RetryingClient
from merit.models.token_counts import AS_CHAT, LEAVE_OUT, with_tokens
from merit.models.wait_notice import WaitNotice
from merit.reading import sendable, shown
from merit.types import Completion, ModelIdentity, Sampling

_MOST_TOKENS = 2**40  # a larger count is not a count of tokens
_CHAT, _COMPLETIONS, _TOKENIZE, _TEMPLATE = "/chat/completions", "/completions", "/tokenize", "/apply-template"
_NOT_OFFERED = (400, 404, 405, 422, 501)  # what servers answer to a path or a body that they do not know
_BAD_REQUEST = (400, 422)  # what servers answer to fields that they do not know
Read = Callable[[Any], Completion]
_log = logging.getLogger(__name__)


class EndpointCompleter:
    """A chat endpoint, with at most `concurrency` requests under way."""

    recorded = False

    def __init__(self, model: str, *, concurrency: int = 32, patience: Patience | None = None) -> None:
        address = Address.of_environment()
        self._address = address
        self.address = address.named
        self.concurrency = concurrency
        self._model = model
        waiting = WaitNotice(address.shown)
        self._accepted: Neutral | None = None  # the neutral values it is known to accept
        self._client = RetryingClient(model, address, waiting, concurrency=concurrency, patience=patience)
        self.identity = ModelIdentity(f"openai:{model}", os.environ.get("MERIT_MODEL_REVISION", ""))

    @property
    def neutral(self) -> Neutral:
        """The neutral values that greedy requests state: all, until the endpoint is found to refuse some."""
        return NEUTRAL if self._accepted is None else self._accepted

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The endpoint's answer; its tokens are estimated where the endpoint does not count them."""
        body = self._body(prompt, sampling)
        cut = await self._cut(body, sampling.max_prompt_tokens)
        if cut is not None:
            return self._to_keep(await self._complete_tokens(body, cut, sampling))
        return self._to_keep(with_tokens(prompt, await self._ask(_CHAT, body, _completion, sampling)))

    async def complete_by_default(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer where all that `Sampling` does not say is left to the endpoint."""
        completion = await self._client.ask(_CHAT, self._body(prompt, sampling), _completion)
        return self._to_keep(with_tokens(prompt, completion))

    async def offered(self) -> list[str]:
        """The names of the models that the endpoint says it has; raises if no endpoint is there."""
        return await self._client.offered()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _to_keep(self, completion: Completion) -> Completion:
        """An answer, unless it repeats the key: answers are kept, and published with runs."""
        if self._address.is_repeated_in(completion.text):
            raise ModelFailed(
                f"{self.address}: its answer repeats the key or password that it was sent, so nothing of it is kept; "
                "is OPENAI_BASE_URL a server that answers with the request itself?"
            )
        return completion

    def _body(self, prompt: str, sampling: Sampling) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "user", "content": sendable(prompt)}],
            "temperature": sampling.temperature,
            "max_tokens": sampling.max_tokens,
        }
        return body if sampling.seed is None else {**body, "seed": sampling.seed}

    async def _cut(self, body: Mapping[str, Any], most: int | None) -> list[int] | None:
        """The last tokens of a prompt that is too long; None where it is read as it is.

        The server is asked for the tokens that it would read. Its own ways to cut are not used: vLLM's
        `truncate_prompt_tokens` has cut on either side, by its version, and llama.cpp's server has none.
        """
        if most is None:
            return None
        messages = body["messages"]
        try:
            tokens = await self._client.ask(_TOKENIZE, {"model": self._model, "messages": messages}, _token_ids)
            if not tokens:  # llama.cpp's takes only a text here
                text = await self._client.ask(_TEMPLATE, {"messages": messages}, lambda reply: str(reply["prompt"]))
                tokens = await self._client.ask(_TOKENIZE, {"content": text, **AS_CHAT}, _token_ids)
        except RequestRefused as refused:
            if refused.status not in _NOT_OFFERED:
                raise
            raise ModelFailed(
                f"{self.address}: does not tell the tokens of a prompt (POST /tokenize, answered {refused.status}), so "
                f"prompts cannot be cut; use the server of vLLM or llama.cpp, or {LEAVE_OUT}"
            ) from None
        return tokens[-most:] if len(tokens) > most else None

    async def _complete_tokens(self, body: Mapping[str, Any], tokens: list[int], sampling: Sampling) -> Completion:
        """The answer to a prompt that is given as its tokens."""
        request = {name: value for name, value in body.items() if name != "messages"}
        completion = await self._ask(_COMPLETIONS, {**request, "prompt": tokens}, _text_completion, sampling)
        if completion.prompt_tokens != len(tokens):
            raise ModelFailed(
                f"{self.address}: counted {completion.prompt_tokens} tokens of a prompt that was cut to {len(tokens)}, "
                f"so it was not read as it was sent; {LEAVE_OUT}"
            )
        return completion

    async def _ask(self, path: str, body: Mapping[str, Any], read: Read, sampling: Sampling) -> Completion:
        if is_greedy(sampling):
            return await self._ask_stating(path, body, read)
        return await self._client.ask(path, body, read)

    async def _ask_stating(self, path: str, body: Mapping[str, Any], read: Read) -> Completion:
        """The answer to a request that states neutral values: as many as the endpoint accepts.

        How many that is, is found out with the first answer, and remembered.
        """
        for neutral in (NEUTRAL, STANDARD_NEUTRAL):
            if self._accepted is None or self._accepted is neutral:
                try:
                    completion = await self._client.ask(path, {**body, **neutral}, read)
                except RequestRefused as refused:
                    if refused.status not in _BAD_REQUEST or self._accepted is neutral:
                        raise
                else:
                    self._note_accepted(neutral)
                    return completion
        completion = await self._client.ask(path, body, read)
        self._note_accepted({})
        return completion

    def _note_accepted(self, neutral: Neutral) -> None:
        if self._accepted is not None:
            return
        self._accepted = neutral
        if refused := [name for name in NEUTRAL if name not in neutral]:
            _log.warning(
                "merit: %s: refuses requests with %s, so these are left to the server, also for greedy answers",
                self.address,
                ", ".join(refused),
            )


def _completion(reply: Any) -> Completion:
    """The answer to a chat."""
    return _counted(reply, _text(_choice(reply)["message"].get("content")))


def _text_completion(reply: Any) -> Completion:
    """The answer to tokens."""
    return _counted(reply, _text(_choice(reply)["text"]))


def _choice(reply: Any) -> Any:
    if not reply["choices"]:
        raise ValueError("its list of choices is empty")
    return reply["choices"][0]


def _counted(reply: Any, text: str) -> Completion:
    """A reply's text, and its tokens where both of them were counted."""
    usage = reply.get("usage")
    if not isinstance(usage, dict):
        return Completion(text, 0, 0)
    prompt, output = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return Completion(text, 0, 0) if None in (prompt, output) else Completion(text, _tokens(prompt), _tokens(output))


def _token_ids(reply: Any) -> list[int]:
    """The tokens of a prompt; TypeError if they are none."""
    tokens = reply["tokens"]
    if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
        raise TypeError("tokens are not a list of whole numbers")
    return tokens


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
