"""A completer that never asks for the same answer twice, not even at the same time."""

import asyncio
import time
from dataclasses import asdict, dataclass
from typing import Any

from merit.errors import ModelFailed
from merit.models.answers import AnswerStore, answer_key
from merit.models.greedy import Neutral
from merit.models.priority import CALL, Call
from merit.models.spending import Allowance, Usage
from merit.models.token_counts import with_tokens, without_estimate
from merit.reading import ANSWER_CHARACTERS
from merit.tracing import span
from merit.types import Completer, Completion, ModelIdentity, Sampling


@dataclass(slots=True)
class _Asked:
    """A prompt under way."""

    task: asyncio.Task[Completion]
    call: Call
    needed: bool  # a run waits for it (as opposed to prefetching)


class CachingCompleter:
    """Another completer's answers, kept in a store; a prompt under way is waited for, not sent again.

    An answer is stored before it is returned, so a kill loses calls under way and nothing else: at most as many as the
    model answers at a time. Runs that share it each take a `for_run()`, which counts what was sent for that run.
    """

    def __init__(self, completer: Completer, store: AnswerStore, allowance: Allowance | None = None) -> None:
        self._completer = completer
        self._store = store
        self.allowance = allowance or Allowance()
        self._under_way: dict[bytes, _Asked] = {}
        self._unused: dict[bytes, Usage] = {}  # answers that only prefetching asked for, by account
        self._runs: list[RunCompleter] = []
        self._own = self.for_run()
        self.prefetching = self._own.prefetching

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the model behind it."""
        return self._completer.identity

    @property
    def concurrency(self) -> int:
        """How many prompts the model answers at a time."""
        return self._completer.concurrency

    @property
    def recorded(self) -> bool:
        """Whether the answers come from a recording."""
        return self._completer.recorded

    @property
    def neutral(self) -> Neutral:
        """The neutral values that greedy requests state; none for recordings, scripts and models of other packages."""
        neutral: Neutral = getattr(self._completer, "neutral", {})
        return neutral

    @property
    def sent(self) -> Usage:
        """What was asked of the model, over all runs."""
        return Usage.total(run.sent for run in self._runs)

    def for_run(self) -> "RunCompleter":
        """The same completer for one run, whose calls are counted apart."""
        self._runs.append(RunCompleter(self))
        return self._runs[-1]

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer, from the store where it is there."""
        return await self._own.complete(prompt, sampling)

    async def answer(
        self, prompt: str, sampling: Sampling, sent: Usage, *, needed: bool = True, urgent: bool = True
    ) -> Completion:
        """The answer, from the store or else from the model; `sent` is the account that it is charged to."""
        key = answer_key(self.identity, prompt, sampling)
        if needed and key in self._unused:
            self._unused.pop(key).wasted -= 1
        if (known := self._store.get(key)) is not None:
            sent.reused += needed
            return with_tokens(prompt, self._fitting(known))
        asked = self._under_way.get(key)
        if asked is None:
            call = Call(urgent, self._check)
            task = asyncio.create_task(self._ask(key, prompt, sampling, sent, call))
            task.add_done_callback(
                lambda done: done.cancelled() or done.exception()
            )  # marks an exception as seen: the caller may be gone
            asked = self._under_way[key] = _Asked(task, call, needed)
        asked.needed |= needed
        asked.call.urgent |= urgent
        # A caller that is cancelled leaves the prompt under way: its answer is paid for.
        return await asyncio.shield(asked.task)

    async def close(self) -> None:
        """Stop the calls under way, and close model and store."""
        tasks = [asked.task for asked in self._under_way.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._completer.close()
        self._store.close()

    def _fitting(self, completion: Completion) -> Completion:
        """The answer, unless it is too long to be kept: a run that held it could not be read again."""
        if len(completion.text) > ANSWER_CHARACTERS:
            raise ModelFailed(
                f"{self.identity.name}: an answer of {len(completion.text)} characters, and {ANSWER_CHARACTERS} are "
                "the most that merit keeps; have the server end answers at max_tokens, or use another model"
            )
        return completion

    def _check(self) -> None:
        """Raise if the allowance is used up: checked before a call waits, and again when its turn comes."""
        if self.allowance.limited:
            self.allowance.check(self.sent)

    async def _ask(self, key: bytes, prompt: str, sampling: Sampling, sent: Usage, call: Call) -> Completion:
        CALL.set(call)
        try:
            self._check()
            started = time.monotonic()
            with span(f"chat {self.identity.name}", _request(self.identity, sampling)) as call_span:
                completion = with_tokens(prompt, await self._completer.complete(prompt, sampling))
                call_span.set_attribute("gen_ai.usage.input_tokens", completion.prompt_tokens)
                call_span.set_attribute("gen_ai.usage.output_tokens", completion.output_tokens)
                if completion.tokens_estimated:
                    call_span.set_attribute("merit.tokens_estimated", True)
            sent.calls += 1
            sent.seconds += time.monotonic() - started
            sent.prompt_tokens += completion.prompt_tokens
            sent.output_tokens += completion.output_tokens
            sent.estimated += completion.tokens_estimated
            self._fitting(completion)
            # No await between the model's return and here: the next call starts only after this answer is stored.
            stored = with_tokens(prompt, self._store.put(key, self.identity, without_estimate(completion)))
            if not self._under_way[key].needed:
                self._unused[key] = sent
                sent.wasted += 1
            return stored
        finally:
            del self._under_way[key]


def _request(model: ModelIdentity, sampling: Sampling) -> dict[str, str | int | float]:
    """What a span says of a call, by OpenTelemetry's GenAI names."""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model.name,
        "gen_ai.request.temperature": sampling.temperature,
        "gen_ai.request.max_tokens": sampling.max_tokens,
    }


class CompleterView:
    """A completer that shares another's answers and leaves its calls and its closing to that one."""

    def __init__(self, shared: CachingCompleter) -> None:
        self._shared = shared

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the model behind it."""
        return self._shared.identity

    @property
    def concurrency(self) -> int:
        """How many prompts are answered at a time, over all runs."""
        return self._shared.concurrency

    @property
    def recorded(self) -> bool:
        """Whether the answers come from a recording."""
        return self._shared.recorded

    async def close(self) -> None:
        """Nothing of its own to release."""


class RunCompleter(CompleterView):
    """One run's view of a completer that several runs share: the same answers, an account of its own."""

    def __init__(self, shared: CachingCompleter) -> None:
        super().__init__(shared)
        self.sent = Usage()
        self.prefetching = Prefetching(shared, self.sent, urgent=False)
        self.guessing = Prefetching(shared, self.sent, urgent=True)  # may turn out not to be needed, but is waited for

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer, from the store where it is there."""
        return await self._shared.answer(prompt, sampling, self.sent)

    def account(self) -> dict[str, Any]:
        """What was sent for this run, and what it cost where prices are known."""
        record = {**asdict(self.sent), "seconds": round(self.sent.seconds, 3)}
        if not self.sent.estimated:  # recorded only where tokens were estimated
            del record["estimated"]
        prices = self._shared.allowance.prices
        return record if prices is None else {**record, "cost": round(prices.cost(self.sent), 6)}


class Prefetching(CompleterView):
    """The same completer for prefetching: answers that no run has needed yet are counted apart."""

    def __init__(self, shared: CachingCompleter, sent: Usage, *, urgent: bool) -> None:
        super().__init__(shared)
        self._sent = sent
        self._urgent = urgent

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer, from the store where it is there."""
        return await self._shared.answer(prompt, sampling, self._sent, needed=False, urgent=self._urgent)
