"""Any OpenAI-compatible chat endpoint: vLLM, llama.cpp's server, Ollama, hosted ones.

OPENAI_BASE_URL says where it is, OPENAI_API_KEY opens it. What may pass is asked again, with growing pauses, until an
answer comes or nothing has worked for a while; what will not pass is reported as itself.
"""

import asyncio
import json
import math
import os
import random
import time
from email.utils import parsedate_to_datetime
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from merit.errors import ContextOverflow, InputError, ModelFailed
from merit.models.completer import Completion, ModelIdentity, Sampling
from merit.models.connection import Connection, NoResponse, Patience, Response, Silent
from merit.models.places import Places
from merit.reading import sendable

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})  # statuses worth another try
_CONTEXT_WORDS = ("context length", "context size", "context_length", "maximum context", "too many tokens")


class _Fault(Exception):
    """Something that may pass."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class EndpointCompleter:
    """A chat endpoint, with at most `concurrency` requests under way."""

    def __init__(self, model: str, *, concurrency: int = 32, patience: Patience | None = None) -> None:
        self._base = _address(os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1")
        self._key = _key(os.environ.get("OPENAI_API_KEY", ""))
        self._model = model
        self._patience = patience or Patience()
        self.places = concurrency
        self._free = Places(concurrency)
        self._answered_at = time.monotonic()  # when the endpoint last gave an answer
        self._quiet_until = 0.0
        self._connection = Connection(self._base, self._key, self._patience)
        self.identity = ModelIdentity(f"openai:{model}", os.environ.get("MERIT_MODEL_REVISION", ""))

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The endpoint's answer, asked for again while it may still come."""
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "user", "content": sendable(prompt)}],
            "temperature": sampling.temperature,
            "max_tokens": sampling.max_tokens,
        }
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        failing_since, pause = math.inf, self._patience.first_pause_s
        for tried in count(1):
            try:
                async with self._free:
                    await asyncio.sleep(max(0.0, self._quiet_until - time.monotonic()))
                    completion = await self._ask(body)
            except _Fault as fault:
                failing_since = min(failing_since, time.monotonic())
                self._give_up_on(fault, failing_since, tried)
                if fault.wait_s is not None:  # it said when to come back, and means everybody
                    self._quiet_until = max(self._quiet_until, time.monotonic() + fault.wait_s)
                await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - so that callers spread out
                pause = min(2 * pause, self._patience.longest_pause_s)
            else:
                self._answered_at = time.monotonic()
                return completion
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def _ask(self, body: dict[str, Any]) -> Completion:
        try:
            response = await self._connection.post("/chat/completions", body)
        except NoResponse as error:
            raise _Fault(str(error)) from None
        except Silent:
            raise ModelFailed(
                f"{self._base}: takes requests but answers none, not even GET /models; every answer so far is kept: "
                "run the same command again when the endpoint is back"
            ) from None
        if response.status != 200:
            self._refuse(response)
        try:
            reply = json.loads(response.body)
            choice, usage = reply["choices"][0], reply["usage"]
            return Completion(
                _text(choice["message"]["content"]), int(usage["prompt_tokens"]), int(usage["completion_tokens"])
            )
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise _Fault(f"an answer that is no completion ({error!r})") from None

    def _refuse(self, response: Response) -> None:
        status, said = response.status, " ".join(response.body.decode("utf-8", "replace").split())
        said = (said.replace(self._key, "***") if self._key else said)[:300]
        if status in _PASSING:
            raise _Fault(f"status {status}", _asked_to_wait(response, self._patience.longest_wait_s))
        if any(words in said.lower() for words in _CONTEXT_WORDS):
            raise ContextOverflow(f"{self.identity.name}: a prompt does not fit into the model's context ({said})")
        raise ModelFailed(
            f"{self._base}: answered {status} for model {self._model} ({said}); "
            "check OPENAI_BASE_URL, OPENAI_API_KEY and the model's name"
        )

    def _give_up_on(self, fault: _Fault, failing_since: float, tried: int) -> None:
        """Stop when neither this call nor any other has been answered for a while, or this one never is."""
        failing_s = time.monotonic() - max(failing_since, self._answered_at, self._quiet_until)
        spent = tried >= self._patience.tries or time.monotonic() - failing_since > self._patience.call_s
        if failing_s > self._patience.faults_s or spent:
            raise ModelFailed(
                f"{self._base}: no answer after {tried} tries ({fault}); every answer so far is kept: run the same "
                "command again when the endpoint is back"
            )


def _address(given: str) -> str:
    """The endpoint's address, if it can be one."""
    try:
        url = urlsplit(given.strip())
        usable = url.scheme in ("http", "https") and bool(url.hostname) and (url.port is None or url.port > 0)
    except ValueError:
        usable = False
    if not usable or not given.strip().isprintable():
        raise InputError(f"OPENAI_BASE_URL is {given!r}; it should be an address such as http://localhost:8000/v1")
    return given.strip().rstrip("/")


def _key(given: str) -> str:
    """The key, if it can be sent; it is never part of a message."""
    key = given.strip()
    if not key.isascii() or not key.isprintable():
        raise InputError("OPENAI_API_KEY has characters that no key has; set it anew")
    return key


def _text(content: Any) -> str:
    """An answer's text; some endpoints send it in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    if not isinstance(content, str | None):
        raise TypeError("content is neither a text nor parts of one")
    return content or ""


def _asked_to_wait(response: Response, longest_s: float) -> float | None:
    """How long the endpoint asks to be left alone: a number of seconds, or a date."""
    value = response.headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(seconds, 0.0), longest_s) if math.isfinite(seconds) else None
