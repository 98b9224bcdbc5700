"""Requests to an OpenAI-compatible endpoint, for answers and embeddings alike.

Temporary faults are retried, with growing pauses, until an answer comes or nothing has worked for a while; permanent
faults are reported at once. An endpoint that only asks for patience (429, Retry-After) while it answers other calls is
not failing. An endpoint that has never answered is given up much sooner than one that has, which may come back.
MERIT_PATIENCE_S is how many seconds a slow server may need for an answer, where 45 of silence or 10 of faults are too
few.
"""

import asyncio
import json
import math
import os
import random
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from merit.errors import ContextOverflow, ModelFailed
from merit.models.address import Address
from merit.models.body import TooLarge
from merit.models.connection import (
    EndpointConnection,
    NoResponse,
    NotSecure,
    Patience,
    RequestRefused,
    Response,
    Silent,
    Unreachable,
    usual_patience,
)
from merit.models.priority import CALL, PrioritySemaphore
from merit.models.responses import address_note, asked_to_wait, is_page, page_note, why_unread
from merit.models.wait_notice import WaitNotice

_TEMPORARY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})  # statuses worth another try
_CONTEXT_WORDS = (
    *("context length", "context size", "context_length", "maximum context", "too many tokens", "prompt is too long"),
    *("`inputs` tokens + `max_new_tokens` must be", "longer than the maximum model length"),
)
_PROBE_S = 5.0  # for an endpoint to say what it offers
_MOST_READ = 4096  # bytes of a reply that is not JSON; what is shown of it is cut after secrets are hidden
_MOST_SHOWN = 80  # characters of a reply that is not JSON, in a message
_MOST_NAMES = 5  # of the models it offers, in a message
MOST_BYTES = 16 << 20  # of an answer; a thousand times what the longest one has
T = TypeVar("T")


class _Fault(Exception):
    """A temporary fault: `busy` if the endpoint only asks for patience, `unreached` if there was no connection."""

    def __init__(
        self, message: str, *, wait_s: float | None = None, busy: bool = False, unreached: bool = False
    ) -> None:
        super().__init__(message)
        self.wait_s = wait_s
        self.busy = busy
        self.unreached = unreached


class RetryingClient:
    """One model at one endpoint, with at most `concurrency` requests under way."""

    def __init__(
        self,
        model: str,
        address: Address,
        waiting: WaitNotice,
        *,
        kind: str = "completion",
        concurrency: int = 1,
        patience: Patience | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._model = model
        self._address = address
        self._waiting = waiting
        self._kind = kind  # what is asked for
        self._patience = patience or usual_patience(os.environ.get("MERIT_PATIENCE_S", ""))
        self._free = PrioritySemaphore(concurrency)
        self._answered_at = -math.inf  # when the endpoint last gave an answer
        self._longest_s = 0.0  # the longest wait for an answer, from the previous answer or the question
        self._failing_since = math.inf  # start of the current outage; inf while healthy
        self._failed_at = -math.inf
        self._quiet_until = 0.0
        self._offered: list[str] | None = None  # names of models, once asked for
        self._asking_offered = asyncio.Lock()  # calls that are refused at the same time ask for the list once
        self._connection = EndpointConnection(address, self._patience, most_bytes)

    async def ask(self, path: str, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """What `read` makes of the endpoint's reply, asked for again while it may still come.

        `read` raises one of Python's own exceptions where a reply is not what was asked for.
        """
        failing_since, tried, pause = math.inf, 0, self._patience.first_pause_s
        with self._waiting.call():
            while True:
                try:
                    return await self._ask_in_turn(path, body, read)
                except _Fault as fault:
                    self._waiting.failed(str(fault))
                    if not self._merely_busy(fault):
                        failing_since, tried = min(failing_since, time.monotonic()), tried + 1
                        self._give_up_on(fault, failing_since, tried)
                    if fault.wait_s is not None:  # it said when to come back, which holds for every call
                        self._quiet_until = max(self._quiet_until, time.monotonic() + fault.wait_s)
                    await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - so that callers spread out
                    pause = min(2 * pause, self._longest_pause_s())

    async def offered(self) -> list[str]:
        """The names of the models that the endpoint says it has, as a message may hold them; empty if it does not say.

        Raises at once if no server is there, or only a web server.
        """
        try:
            response = await self._connection.get("/models", _PROBE_S)
        except Silent:
            return []  # a server that handles one request at a time may be busy
        except NotSecure as error:
            raise self._not_secure(error) from None
        except NoResponse as error:
            raise ModelFailed(
                f"{self._address.named}: cannot be reached ({error}); start the server, or set OPENAI_BASE_URL to its "
                "address"
            ) from None
        except TooLarge:
            return []
        if response.status == 200 and is_page(response):
            raise ModelFailed(f"{self._address.named}: answers with {page_note(self._address.shown)}")
        try:
            data = json.loads(response.body)["data"]
            return [self._address.redacted(item["id"]) for item in data if isinstance(item["id"], str)]
        except (ValueError, LookupError, TypeError, RecursionError):
            return []

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def _ask_in_turn(self, path: str, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """Ask when the endpoint's pause is over and a slot is free; a call never holds a slot while it pauses."""
        while True:
            while (left := self._quiet_until - time.monotonic()) > 0:
                call = CALL.get()
                turn = random.uniform(0, 1) if call is None or call.urgent else random.uniform(1, 2)  # noqa: S311
                await asyncio.sleep(left + turn * self._patience.first_pause_s)  # not all at once, urgent ones first
            async with self._free:
                if (started := time.monotonic()) < self._quiet_until:
                    continue
                try:
                    reply = await self._ask(path, body, read)
                except _Fault as fault:
                    self._note_fault(fault, started)
                    raise
                self._note_answer(started)
                return reply

    async def _ask(self, path: str, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        try:
            response = await self._connection.post(path, body)
        except NotSecure as error:
            raise self._not_secure(error) from None
        except NoResponse as error:
            raise _Fault(str(error), unreached=isinstance(error, Unreachable)) from None
        except TooLarge as error:
            raise ModelFailed(
                f"{self._address.named}: sent {error}, which no {self._kind} has; check OPENAI_BASE_URL"
            ) from None
        except Silent:
            raise ModelFailed(
                f"{self._address.named}: takes requests but answers none, not even GET /models; if it is only slow, "
                "set MERIT_PATIENCE_S to the seconds that an answer may take, or use a concurrency of 1; every answer "
                "so far is kept: run the same again when the endpoint is back"
            ) from None
        if response.status != 200:
            await self._refuse(response)
        if is_page(response):
            raise _Fault(page_note(self._address.shown))
        try:
            reply = json.loads(response.body)
        except (ValueError, RecursionError):
            text = self._address.redacted(response.body[:_MOST_READ].decode("utf-8", "replace"))[:_MOST_SHOWN]
            raise _Fault("what came is not JSON" + (f": {text}" if text else ", but empty")) from None
        if isinstance(reply, dict) and reply.get("error"):
            await self._refuse(response)
        try:
            return read(reply)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            why = self._address.redacted(why_unread(error))
            raise _Fault(f"what came is not a valid {self._kind}: {why}") from None

    async def _refuse(self, response: Response) -> None:
        status, body = response.status, response.body.decode("utf-8", "replace")
        text = self._address.redacted(body)
        if status not in _TEMPORARY and any(words in " ".join(body.lower().split()) for words in _CONTEXT_WORDS):
            raise ContextOverflow(f"openai:{self._model}: a prompt does not fit into the model's context ({text})")
        if (status in _TEMPORARY or status == 200) and "insufficient_quota" not in body:
            wait_s = asked_to_wait(response, self._patience.longest_wait_s)
            reason = f"status {status}" + (f": {text}" if text else "")
            raise _Fault(reason, wait_s=wait_s, busy=status == 429 or wait_s is not None)
        why = "; ".join(filter(None, (text, await self._hint(response)))) or "without a reason"
        if self._kind == "embedding" and status in (400, 404, 405, 501):  # it may not offer embeddings
            raise ModelFailed(
                f"{self._address.named}: answered {status} for the encoder {self._model} ({why}); set OPENAI_BASE_URL "
                "to an endpoint that has /embeddings, the encoder to openai: and one of its models for them, or use "
                "the encoder wordllama"
            )
        raise RequestRefused(
            f"{self._address.named}: answered {status} for model {self._model} ({why}); "
            "check OPENAI_BASE_URL, OPENAI_API_KEY and the model's name",
            status,
        )

    def _not_secure(self, error: NotSecure) -> ModelFailed:
        http = self._address.shown.replace("https:", "http:", 1)
        return ModelFailed(f"{self._address.named}: {error}; set OPENAI_BASE_URL to {http}")

    async def _hint(self, response: Response) -> str:
        """What may be wrong when an endpoint refuses a request."""
        if 300 <= response.status < 400:
            other = self._address.redacted(response.headers.get("Location", ""))
            return f"it redirects to {other or 'nowhere'}, which merit does not follow, since its key would go along"
        if response.status not in (400, 404):
            return ""
        if is_page(response):
            return f"it is {page_note(self._address.shown)}"
        async with self._asking_offered:
            if self._offered is None:
                self._offered = await self.offered()
        if self._address.shown.endswith("/chat/completions"):
            return "leave /chat/completions out of OPENAI_BASE_URL"
        if not self._offered:
            return address_note(self._address.shown)
        return f"it offers {names_of(self._offered)}" if self._model not in self._offered else ""

    def _note_answer(self, started: float) -> None:
        now = time.monotonic()
        self._longest_s = max(self._longest_s, now - max(started, self._answered_at))
        self._answered_at, self._failing_since = now, math.inf
        self._waiting.answered()

    def _note_fault(self, fault: _Fault, started: float) -> None:
        """Update the start of the outage; a try that begins long after the last fault starts a new one."""
        if started - self._failed_at > self._patience.faults_s:
            self._failing_since = math.inf
        self._failed_at = time.monotonic()
        self._failing_since = min(self._failing_since, started if fault.unreached else self._failed_at)

    def _merely_busy(self, fault: _Fault) -> bool:
        """Whether the endpoint asks for patience and has answered some call not long ago."""
        silent_s = time.monotonic() - self._answered_at
        return fault.busy and silent_s <= max(self._patience.faults_s, 3 * self._longest_s) + (fault.wait_s or 0.0)

    @property
    def _has_answered(self) -> bool:
        return self._answered_at > -math.inf

    def _longest_pause_s(self) -> float:
        """The longest pause between tries; before the first answer, short enough for several of them."""
        usual = self._patience.longest_pause_s
        return usual if self._has_answered else min(usual, self._patience.first_faults_s / 4)

    def _give_up_on(self, fault: _Fault, failing_since: float, tried: int) -> None:
        """Raise when no call has been answered for a while, or this one has used up its tries or its time."""
        failing_s = time.monotonic() - max(self._failing_since, self._answered_at, self._quiet_until)
        spent = tried >= self._patience.tries or time.monotonic() - failing_since > self._patience.call_s
        patient_s = self._patience.faults_s
        if not self._has_answered and not fault.busy:  # an endpoint that asks for patience exists
            patient_s = min(patient_s, self._patience.first_faults_s)
        if failing_s > patient_s or spent:
            way_out = (
                "" if self._has_answered else "check that the server works and that OPENAI_BASE_URL is its address; "
            )
            raise ModelFailed(
                f"{self._address.named}: no answer after {tried} tries ({fault}); {way_out}every answer so far is "
                "kept: run the same again when the endpoint is back"
            ) from None


def names_of(models: list[str]) -> str:
    """A few names of models, for a message."""
    more = len(models) - _MOST_NAMES
    return ", ".join(models[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
