"""What a language model is: a prompt in, a completion out, under a name that says whose answers these are."""

from dataclasses import dataclass
from typing import Protocol

from merit.reading import sendable


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Whose answers these are; where the model runs does not matter, which weights it has does."""

    name: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How an answer is drawn; the default is the paper's greedy decoding."""

    temperature: float = 0.0
    max_tokens: int = 512
    seed: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "temperature", float(self.temperature))  # 0 and 0.0 are one way to draw


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer and what it cost."""

    text: str
    prompt_tokens: int
    output_tokens: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", sendable(self.text))  # a model can be made to emit anything


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
