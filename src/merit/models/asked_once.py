"""A completer that never asks for the same answer twice, not even at the same time."""

import asyncio
import time
from dataclasses import dataclass

from merit.errors import BudgetSpent
from merit.models.answers import AnswerStore, answer_key
from merit.models.completer import Completer, Completion, ModelIdentity, Sampling
from merit.tracing import span


@dataclass(slots=True)
class Sent:
    """What was really asked of the model, as opposed to what a run counts."""

    calls: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0  # added up over calls that ran side by side
    reused: int = 0  # answers that were there already
    wasted: int = 0  # answers asked for early that nobody needed, so far

    @property
    def tokens(self) -> int:
        """All tokens sent and received."""
        return self.prompt_tokens + self.output_tokens


class AskedOnce:
    """Another completer's answers, kept in a store; a question under way is waited for, not asked again."""

    def __init__(self, completer: Completer, store: AnswerStore, *, max_tokens: int | None = None) -> None:
        self._completer = completer
        self._store = store
        self._max_tokens = max_tokens
        self._under_way: dict[bytes, asyncio.Task[Completion]] = {}
        self._unused: set[bytes] = set()  # answers that only looks ahead have asked for
        self._needed: set[bytes] = set()  # those under way that somebody waits for by now
        self.sent = Sent()
        self.early = Early(self)

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the model behind it."""
        return self._completer.identity

    @property
    def places(self) -> int:
        """How many calls are answered at a time; one, unless the model says otherwise."""
        return int(getattr(self._completer, "places", 1))

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer, from the store where it is there."""
        key = answer_key(self.identity, prompt, sampling)
        if key in self._unused:
            self._unused.remove(key)
            self.sent.wasted -= 1
        elif key in self._under_way:
            self._needed.add(key)
        return await self.answer(key, prompt, sampling, early=False)

    async def answer(self, key: bytes, prompt: str, sampling: Sampling, *, early: bool) -> Completion:
        """The answer kept, or to be kept, under a key."""
        if (known := self._store.get(key)) is not None:
            self.sent.reused += not early
            return known
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._ask(key, prompt, sampling, early))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # perhaps nobody waits any more
        # Whoever stops waiting leaves the question under way: its answer is paid for.
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Stop what is under way and give everything back."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._completer.close()
        self._store.close()

    async def _ask(self, key: bytes, prompt: str, sampling: Sampling, early: bool) -> Completion:
        try:
            if self._max_tokens is not None and self.sent.tokens >= self._max_tokens:
                raise BudgetSpent(
                    f"{self.sent.tokens} tokens were used of the {self._max_tokens} allowed; every answer is kept: "
                    "allow more and run the same command again"
                )
            started = time.monotonic()
            with span(f"chat {self.identity.name}", _request(self.identity, sampling)) as watched:
                completion = await self._completer.complete(prompt, sampling)
                watched.set_attribute("gen_ai.usage.input_tokens", completion.prompt_tokens)
                watched.set_attribute("gen_ai.usage.output_tokens", completion.output_tokens)
            self.sent.calls += 1
            self.sent.seconds += time.monotonic() - started
            self.sent.prompt_tokens += completion.prompt_tokens
            self.sent.output_tokens += completion.output_tokens
            self._store.put(key, self.identity, completion)
            if early and key not in self._needed:
                self._unused.add(key)
                self.sent.wasted += 1
            return completion
        finally:
            self._needed.discard(key)
            del self._under_way[key]


def _request(model: ModelIdentity, sampling: Sampling) -> dict[str, str | int | float]:
    """What a span says of a call, by OpenTelemetry's GenAI names."""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model.name,
        "gen_ai.request.temperature": sampling.temperature,
        "gen_ai.request.max_tokens": sampling.max_tokens,
    }


class Early:
    """The same completer for those who look ahead: what only they ask for is counted apart."""

    def __init__(self, asked: AskedOnce) -> None:
        self._asked = asked

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the model behind it."""
        return self._asked.identity

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer, as anybody would get it."""
        key = answer_key(self.identity, prompt, sampling)
        return await self._asked.answer(key, prompt, sampling, early=True)

    async def close(self) -> None:
        """Nothing of its own to give back."""
