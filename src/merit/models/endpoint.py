"""Any OpenAI-compatible chat endpoint: vLLM, llama.cpp's server, Ollama, hosted ones.

OPENAI_BASE_URL says where it is, OPENAI_API_KEY opens it. What may pass is asked again, with growing pauses, until an
answer comes or nothing has worked for a while; what will not pass is reported as itself. An endpoint that only asks for
patience (429, Retry-After) while it answers others is not failing. MERIT_PATIENCE_S says how many seconds of silence a
slow server may need for an answer, where 45 are too few.
"""

import asyncio
import json
import math
import os
import random
import time
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from yarl import URL

from merit.errors import ContextOverflow, InputError, ModelFailed
from merit.models.completer import Completion, ModelIdentity, Sampling
from merit.models.connection import Connection, NoResponse, Patience, Response, Silent, Unreachable
from merit.models.places import CALL, Places
from merit.reading import sendable

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})  # statuses worth another try
_CONTEXT_WORDS = (
    *("context length", "context size", "context_length", "maximum context", "too many tokens", "prompt is too long"),
    *("`inputs` tokens + `max_new_tokens` must be", "longer than the maximum model length"),
)
_MOST_TOKENS = 2**40  # no answer has more; what says so counts something else


class _Fault(Exception):
    """Something that may pass: `busy` if the endpoint only asks for patience, `unreached` if it was never spoken to."""

    def __init__(
        self, message: str, *, wait_s: float | None = None, busy: bool = False, unreached: bool = False
    ) -> None:
        super().__init__(message)
        self.wait_s = wait_s
        self.busy = busy
        self.unreached = unreached


class EndpointCompleter:
    """A chat endpoint, with at most `concurrency` requests under way."""

    def __init__(self, model: str, *, concurrency: int = 32, patience: Patience | None = None) -> None:
        self._base = _address(os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1")
        self._key = _key(os.environ.get("OPENAI_API_KEY", ""))
        self._model = model
        self._patience = patience or _patience(os.environ.get("MERIT_PATIENCE_S", ""))
        self.places = concurrency
        self._free = Places(concurrency)
        self._answered_at = -math.inf  # when the endpoint last gave an answer
        self._longest_s = 0.0  # that it took to, from the answer before or the question
        self._failing_since = math.inf  # when whoever fails began to, since then
        self._failed_at = -math.inf
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
        failing_since, tried, pause = math.inf, 0, self._patience.first_pause_s
        while True:
            try:
                return await self._ask_in_turn(body)
            except _Fault as fault:
                if not self._merely_busy(fault):
                    failing_since, tried = min(failing_since, time.monotonic()), tried + 1
                    self._give_up_on(fault, failing_since, tried)
                if fault.wait_s is not None:  # it said when to come back, and means everybody
                    self._quiet_until = max(self._quiet_until, time.monotonic() + fault.wait_s)
                await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - so that callers spread out
                pause = min(2 * pause, self._patience.longest_pause_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def _ask_in_turn(self, body: dict[str, Any]) -> Completion:
        """Ask when the endpoint wants to be asked and a place is free; nobody waits for the one in the other."""
        while True:
            while (left := self._quiet_until - time.monotonic()) > 0:
                call = CALL.get()
                turn = random.uniform(0, 1) if call is None or call.urgent else random.uniform(1, 2)  # noqa: S311
                await asyncio.sleep(left + turn * self._patience.first_pause_s)  # not all at once, urgent ones first
            async with self._free:
                if (started := time.monotonic()) < self._quiet_until:
                    continue
                try:
                    completion = await self._ask(body)
                except _Fault as fault:
                    self._note_fault(fault, started)
                    raise
                self._note_answer(started)
                return completion

    async def _ask(self, body: dict[str, Any]) -> Completion:
        try:
            response = await self._connection.post("/chat/completions", body)
        except NoResponse as error:
            raise _Fault(str(error), unreached=isinstance(error, Unreachable)) from None
        except Silent:
            raise ModelFailed(
                f"{self._base}: takes requests but answers none, not even GET /models; if it is only slow, set "
                "MERIT_PATIENCE_S to the seconds that an answer may take, or use --concurrency 1; every answer so far "
                "is kept: run the same command again when the endpoint is back"
            ) from None
        if response.status != 200:
            self._refuse(response)
        try:
            reply = json.loads(response.body)
            if isinstance(reply, dict) and reply.get("error"):
                self._refuse(response)
            message, usage = reply["choices"][0]["message"], reply["usage"]
            return Completion(
                _text(message.get("content")), _tokens(usage["prompt_tokens"]), _tokens(usage["completion_tokens"])
            )
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise _Fault(f"an answer that is no completion ({self._shown(repr(error))})") from None

    def _shown(self, said: str) -> str:
        """What an endpoint said, as a message may hold it: short, and without the key."""
        return (said.replace(self._key, "***") if self._key else said)[:300]

    def _refuse(self, response: Response) -> None:
        status, all_said = response.status, " ".join(response.body.decode("utf-8", "replace").split())
        said = self._shown(all_said)
        if status not in _PASSING and any(words in all_said.lower() for words in _CONTEXT_WORDS):
            raise ContextOverflow(f"{self.identity.name}: a prompt does not fit into the model's context ({said})")
        if (status in _PASSING or status == 200) and "insufficient_quota" not in all_said:
            wait_s = _asked_to_wait(response, self._patience.longest_wait_s)
            reason = f"status {status}" + (f": {said}" if said else "")
            raise _Fault(reason, wait_s=wait_s, busy=status == 429 or wait_s is not None)
        raise ModelFailed(
            f"{self._base}: answered {status} for model {self._model} ({said}); "
            "check OPENAI_BASE_URL, OPENAI_API_KEY and the model's name"
        )

    def _note_answer(self, started: float) -> None:
        now = time.monotonic()
        self._longest_s = max(self._longest_s, now - max(started, self._answered_at))
        self._answered_at, self._failing_since = now, math.inf

    def _note_fault(self, fault: _Fault, started: float) -> None:
        """Since when the endpoint fails; a try that begins long after the last fault is another matter."""
        if started - self._failed_at > self._patience.faults_s:
            self._failing_since = math.inf
        self._failed_at = time.monotonic()
        self._failing_since = min(self._failing_since, started if fault.unreached else self._failed_at)

    def _merely_busy(self, fault: _Fault) -> bool:
        """Whether the endpoint asks for patience and has answered somebody not long ago."""
        silent_s = time.monotonic() - self._answered_at
        return fault.busy and silent_s <= max(self._patience.faults_s, 3 * self._longest_s) + (fault.wait_s or 0.0)

    def _give_up_on(self, fault: _Fault, failing_since: float, tried: int) -> None:
        """Stop when neither this call nor any other has been answered for a while, or this one never is."""
        failing_s = time.monotonic() - max(self._failing_since, self._answered_at, self._quiet_until)
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
        (URL(given.strip()).host or "").encode("idna")  # as it will be looked up
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


def _patience(given: str) -> Patience:
    """The usual patience, or more of it."""
    usual = Patience()
    if not given.strip():
        return usual
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= usual.longest_request_s:
        raise InputError(f"MERIT_PATIENCE_S is {given!r}; it should be a number of seconds up to 3600, such as 120")
    return replace(usual, silent_s=seconds, request_s=max(usual.request_s, seconds))


def _tokens(given: Any) -> int:
    """A number of tokens, if it can be one."""
    if not 0 <= int(given) < _MOST_TOKENS:
        raise ValueError(f"{given} tokens")
    return int(given)


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
