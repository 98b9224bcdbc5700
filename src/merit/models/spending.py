"""The calls really sent to a model, what they cost, and how much may be spent."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from merit.errors import BudgetSpent, InputError


@dataclass(slots=True)
class Usage:
    """What was really sent to the model, as opposed to what a run counts."""

    calls: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0  # added up over calls that ran side by side
    reused: int = 0  # answers that came from the store
    wasted: int = 0  # prefetched answers that no run has needed so far
    estimated: int = 0  # calls whose tokens merit estimated, since the server did not count them

    @property
    def tokens(self) -> int:
        """All tokens sent and received."""
        return self.prompt_tokens + self.output_tokens

    @classmethod
    def total(cls, several: Iterable["Usage"]) -> "Usage":
        """The sum of several."""
        total = cls()
        for sent in several:
            for part in fields(cls):
                setattr(total, part.name, getattr(total, part.name) + getattr(sent, part.name))
        return total


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in the user's currency."""

    prompt: float
    output: float

    def cost(self, sent: Usage) -> float:
        """What was spent."""
        return (sent.prompt_tokens * self.prompt + sent.output_tokens * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much one command may spend; whatever is None is not limited."""

    max_tokens: int | None = None
    max_cost: float | None = None
    prices: Prices | None = None

    def __post_init__(self) -> None:
        if self.max_cost is not None and self.prices is None:
            raise InputError("a limit on the cost needs prices; say what a million tokens cost (prompt, output)")

    @property
    def limited(self) -> bool:
        """Whether there is anything to check."""
        return self.max_tokens is not None or self.max_cost is not None

    def check(self, sent: Usage) -> None:
        """Raise if it is used up."""
        used = None
        if self.max_tokens is not None and sent.tokens >= self.max_tokens:
            used = f"{sent.tokens} tokens were used of the {self.max_tokens} allowed"
        if self.max_cost is not None and self.prices is not None and self.prices.cost(sent) >= self.max_cost:
            used = f"{self.prices.cost(sent):.4f} was spent of the {self.max_cost:g} allowed, for {sent.tokens} tokens"
        if used:
            counted = ", as merit estimates, since the endpoint does not count tokens" if sent.estimated else ""
            raise BudgetSpent(
                f"{used} (by this command{counted}); every answer is kept: run the same again, for as much "
                "again, or allow more"
            )
