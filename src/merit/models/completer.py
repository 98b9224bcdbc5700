"""What a language model is: a prompt in, a completion out, under a name that says whose answers these are."""

import math
from dataclasses import dataclass, replace
from typing import Protocol

from merit.reading import sendable
from merit.types import ModelIdentity, Sampling

# Qwen2.5-Coder has 3.7 bytes a token in the prompts of the bundled benchmark, and 3.2 in its answers to them.
_BYTES_PER_TOKEN = 3.5


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer and what it cost; without prompt tokens, nobody has counted."""

    text: str
    prompt_tokens: int
    output_tokens: int
    tokens_estimated: bool = False  # by merit, since the model's server does not say

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", sendable(self.text))  # a model can be made to emit anything


def with_tokens(prompt: str, completion: Completion) -> Completion:
    """A completion whose tokens are estimated from the texts, and marked as such, where nobody has counted them."""
    if completion.prompt_tokens or not prompt:
        return completion
    return Completion(completion.text, _estimate(prompt), _estimate(completion.text), tokens_estimated=True)


def without_estimate(completion: Completion) -> Completion:
    """A completion as files of answers hold it: an estimate is made anew, and never kept as if it had been counted."""
    if not completion.tokens_estimated:
        return completion
    return replace(completion, prompt_tokens=0, output_tokens=0, tokens_estimated=False)


def _estimate(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


class Completer(Protocol):
    """Answers prompts; many may be asked at a time."""

    @property
    def identity(self) -> ModelIdentity:
        """Whose answers these are."""
        ...

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer to one user message."""
        ...

    async def close(self) -> None:
        """Give everything back."""
        ...
