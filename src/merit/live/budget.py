"""What a question may take, and a day: checked before each call of the model, so that a limit ends the asking."""

import asyncio
import hashlib
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from merit.errors import BudgetSpent
from merit.live.asking.declining import with_decline_as_sql
from merit.live.progress import Asking, Progress, tell
from merit.models import CachingCompleter, Prices
from merit.models.caching_completer import CompleterView
from merit.models.spending import Usage
from merit.models.token_counts import with_tokens
from merit.settings import BudgetSettings
from merit.types import Completion, Sampling

_LEAST_S = 0.05  # for a statement that begins at the last moment


class Account:
    """What one question has taken so far, and what it may take."""

    def __init__(self, limits: BudgetSettings, earlier_today: Callable[[], Usage]) -> None:
        """`earlier_today` is what all other questions of the day took; it is asked only where the day has a limit."""
        self.sent = Usage()
        self._call = Usage()  # the one under way
        self._sent_before = 0  # calls, when it began
        self.prompts: list[str] = []  # hashes of what was sent
        self.replies: list[str] = []  # hashes of the model's, by which a cache can be rid of them
        self._limits = limits
        self._earlier_today = earlier_today
        self._prices = Prices(*limits.prices) if limits.prices else None
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long the question has taken."""
        return time.monotonic() - self._started

    @property
    def taken(self) -> Usage:
        """What was sent, and is being sent."""
        # A call is in `sent` as soon as it is answered, and the question that waits for it goes on a little later.
        charged = self.sent.calls > self._sent_before
        return Usage.total([self.sent] if charged else [self.sent, self._call])

    def left_s(self) -> float:
        """How many seconds are left; infinite where there is no limit."""
        return math.inf if self._limits.seconds is None else self._limits.seconds - self.seconds

    def statement_s(self, longest: float) -> float:
        """How long the next statement may run."""
        return max(_LEAST_S, min(longest, self.left_s()))

    @contextmanager
    def calling(self, prompt: str) -> Iterator[None]:
        """Count a call while it is under way; raise where it would go beyond a limit. Its tokens are estimated."""
        call = Usage(calls=1, prompt_tokens=_tokens(prompt), estimated=1)
        self._check(call)
        self._call, self._sent_before = call, self.sent.calls
        try:
            yield
        except (asyncio.CancelledError, BudgetSpent):  # it is not waited for, and may have to be paid all the same
            self.sent.calls += 1
            self.sent.prompt_tokens += call.prompt_tokens
            self.sent.estimated += 1
            raise
        finally:
            self._call = Usage()

    def _check(self, more: Usage) -> None:
        limits = self._limits
        if self.left_s() <= 0:
            raise self.late()
        self._check_one("a question", "", Usage.total([self.sent, more]), limits.calls, limits.tokens, limits.cost)
        daily = (limits.calls_per_day, limits.tokens_per_day, limits.cost_per_day)
        if daily != (None, None, None):
            today = Usage.total([self._earlier_today(), self.sent, more])
            self._check_one("a day", "_per_day", today, *daily)

    def _check_one(
        self, span: str, suffix: str, sent: Usage, calls: int | None, tokens: int | None, cost: float | None
    ) -> None:
        spent = self._prices.cost(sent) if self._prices else 0.0
        for name, used, limit in (("calls", sent.calls, calls), ("tokens", sent.tokens, tokens), ("cost", spent, cost)):
            if limit is not None and used > limit:
                raise BudgetSpent(
                    f"another call would go beyond the limit of {limit:g} for {span} ('{name}{suffix}' in [budget]); "
                    f"{'ask tomorrow (UTC), or ' if suffix else ''}allow more in merit.toml"
                )

    def late(self) -> BudgetSpent:
        """What is raised where the time is over."""
        return BudgetSpent(
            f"the {self._limits.seconds:g} s for a question are over ('seconds' in [budget]); allow more in merit.toml"
        )


class AccountedCompleter(CompleterView):
    """A model whose calls are charged to one question and end with its time."""

    def __init__(
        self, shared: CachingCompleter, account: Account, most: int, progress: Progress = None, *, before: int = 0
    ) -> None:
        """`most` is how many candidates there can be, `before` how many there are already."""
        super().__init__(shared)
        self._account = account
        self._most = most
        self._progress = progress
        self._asked = before

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer; a reply that declines has it as its SQL. Raises BudgetSpent where a limit is reached."""
        account = self._account
        with account.calling(prompt):
            self._asked += 1
            account.prompts.append(hashlib.sha256(prompt.encode()).hexdigest())
            tell(self._progress, Asking(self._asked, self._most))
            limit = asyncio.timeout(None if account.left_s() == math.inf else account.left_s())
            try:
                async with limit:
                    completion = await self._shared.answer(prompt, sampling, account.sent)
            except TimeoutError:
                if not limit.expired():
                    raise
                raise account.late() from None
        account.replies.append(hashlib.sha256(completion.text.encode()).hexdigest())
        return with_decline_as_sql(completion)


def _tokens(prompt: str) -> int:
    return with_tokens(prompt, Completion("", 0, 0)).prompt_tokens
