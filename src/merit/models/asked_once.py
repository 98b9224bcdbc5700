"""A completer that never asks for the same answer twice, not even at the same time."""

import asyncio
import time
from dataclasses import asdict, dataclass
from typing import Any

from merit.models.answers import AnswerStore, answer_key
from merit.models.completer import Completer, Completion, with_tokens, without_estimate
from merit.models.places import CALL, Call
from merit.models.spending import Allowance, Sent
from merit.tracing import span
from merit.types import ModelIdentity, Sampling


@dataclass(slots=True)
class _Asked:
    """A question under way."""

    task: asyncio.Task[Completion]
    call: Call
    needed: bool  # by somebody who does not merely look ahead


class AskedOnce:
    """Another completer's answers, kept in a store; a question under way is waited for, not asked again.

    An answer is in the store before anybody is given it, so a kill loses calls under way and nothing else: no more than
    the model has places. Those who use it side by side each take a `share`, which knows what was asked on its behalf.
    """

    def __init__(self, completer: Completer, store: AnswerStore, allowance: Allowance | None = None) -> None:
        self._completer = completer
        self._store = store
        self.allowance = allowance or Allowance()
        self._under_way: dict[bytes, _Asked] = {}
        self._unused: dict[bytes, Sent] = {}  # answers that only looks ahead have asked for, and who did
        self._shares: list[Share] = []
        self._own = self.share()
        self.early = self._own.early

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the model behind it."""
        return self._completer.identity

    @property
    def places(self) -> int:
        """How many calls are answered at a time; one, unless the model says otherwise."""
        return int(getattr(self._completer, "places", 1))

    @property
    def sent(self) -> Sent:
        """What was asked of the model by everybody."""
        return Sent.total(share.sent for share in self._shares)

    def share(self) -> "Share":
        """The same completer for somebody whose calls are to be counted apart."""
        self._shares.append(Share(self))
        return self._shares[-1]

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer, from the store where it is there."""
        return await self._own.complete(prompt, sampling)

    async def answer(
        self, prompt: str, sampling: Sampling, sent: Sent, *, needed: bool = True, urgent: bool = True
    ) -> Completion:
        """The answer, kept or to be kept; `sent` is the account of who asks."""
        key = answer_key(self.identity, prompt, sampling)
        if needed and key in self._unused:
            self._unused.pop(key).wasted -= 1
        if (known := self._store.get(key)) is not None:
            sent.reused += needed
            return with_tokens(prompt, known)
        asked = self._under_way.get(key)
        if asked is None:
            call = Call(urgent, self._check)
            task = asyncio.create_task(self._ask(key, prompt, sampling, sent, call))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # perhaps nobody waits any more
            asked = self._under_way[key] = _Asked(task, call, needed)
        asked.needed |= needed
        asked.call.urgent |= urgent
        # Whoever stops waiting leaves the question under way: its answer is paid for.
        return await asyncio.shield(asked.task)

    async def close(self) -> None:
        """Stop what is under way and give everything back."""
        tasks = [asked.task for asked in self._under_way.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._completer.close()
        self._store.close()

    def _check(self) -> None:
        """Complain where the allowance is used up: before a call waits, and again when it has a place."""
        if self.allowance.limited:
            self.allowance.check(self.sent)

    async def _ask(self, key: bytes, prompt: str, sampling: Sampling, sent: Sent, call: Call) -> Completion:
        CALL.set(call)
        try:
            self._check()
            started = time.monotonic()
            with span(f"chat {self.identity.name}", _request(self.identity, sampling)) as watched:
                completion = with_tokens(prompt, await self._completer.complete(prompt, sampling))
                watched.set_attribute("gen_ai.usage.input_tokens", completion.prompt_tokens)
                watched.set_attribute("gen_ai.usage.output_tokens", completion.output_tokens)
                if completion.tokens_estimated:
                    watched.set_attribute("merit.tokens_estimated", True)
            sent.calls += 1
            sent.seconds += time.monotonic() - started
            sent.prompt_tokens += completion.prompt_tokens
            sent.output_tokens += completion.output_tokens
            sent.estimated += completion.tokens_estimated
            # No waiting between the model's return and here: its place is another's only when this is kept.
            kept = with_tokens(prompt, self._store.put(key, self.identity, without_estimate(completion)))
            if not self._under_way[key].needed:
                self._unused[key] = sent
                sent.wasted += 1
            return kept
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


class Share:
    """One user's view of a completer that several use: the same answers, an account of its own."""

    def __init__(self, asked: AskedOnce) -> None:
        self._asked = asked
        self.sent = Sent()
        self.early = Early(asked, self.sent, urgent=False)  # for looking ahead
        self.at_once = Early(asked, self.sent, urgent=True)  # for what is only a guess, but is waited for

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the model behind it."""
        return self._asked.identity

    @property
    def places(self) -> int:
        """How many calls are answered at a time, of everybody's."""
        return self._asked.places

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer, from the store where it is there."""
        return await self._asked.answer(prompt, sampling, self.sent)

    def account(self) -> dict[str, Any]:
        """What was sent on its behalf, and what it cost where prices are known."""
        found = {**asdict(self.sent), "seconds": round(self.sent.seconds, 3)}
        if not self.sent.estimated:  # said only where it is so
            del found["estimated"]
        prices = self._asked.allowance.prices
        return found if prices is None else {**found, "cost": round(prices.cost(self.sent), 6)}

    async def close(self) -> None:
        """Nothing of its own to give back."""


class Early:
    """The same completer for those who look ahead: what only they ask for is counted apart."""

    def __init__(self, asked: AskedOnce, sent: Sent, *, urgent: bool) -> None:
        self._asked = asked
        self._sent = sent
        self._urgent = urgent

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the model behind it."""
        return self._asked.identity

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer, as anybody would get it."""
        return await self._asked.answer(prompt, sampling, self._sent, needed=False, urgent=self._urgent)

    async def close(self) -> None:
        """Nothing of its own to give back."""
