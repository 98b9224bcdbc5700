"""Language models and encoders as the rest of the house knows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]
else:
    Matrix = Any  # every statement's process imports these nouns, and should not pay for numpy


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
    # A longer prompt, as the model's chat template and tokenizer make it, is cut on the left to its last so many
    # tokens. None: prompts are read whole, and one that does not fit is an error.
    max_prompt_tokens: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "temperature", float(self.temperature))  # 0 and 0.0 are the same way to draw

    def record(self) -> dict[str, Any]:
        """As a manifest has it: the cut only where there is one."""
        drawn = {"temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed}
        return drawn if self.max_prompt_tokens is None else {**drawn, "max_prompt_tokens": self.max_prompt_tokens}


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer and what it cost; 0 prompt tokens mean that the server did not count."""

    text: str
    prompt_tokens: int
    output_tokens: int
    tokens_estimated: bool = False  # by merit, because the model's server does not count tokens

    def __post_init__(self) -> None:
        # A model can emit lone surrogates, which no file or request can hold.
        object.__setattr__(self, "text", self.text.encode("utf-8", "replace").decode())


@runtime_checkable
class Completer(Protocol):
    """Answers prompts; several may be under way at a time."""

    @property
    def identity(self) -> ModelIdentity:
        """Whose answers these are."""
        ...

    @property
    def concurrency(self) -> int:
        """How many prompts are answered at a time."""
        ...

    @property
    def recorded(self) -> bool:
        """Whether answers come from a recording: then no other store fills its gaps, and none copies it."""
        ...

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer to one user message."""
        ...

    async def close(self) -> None:
        """Release connections, processes and files."""
        ...


@runtime_checkable
class ServedCompleter(Completer, Protocol):
    """A completer whose model is one of those that a server offers."""

    @property
    def address(self) -> str:
        """Where the server is, for messages."""
        ...

    async def offered(self) -> list[str]:
        """The names of the models that the server says it has; raises if no server is there."""
        ...


@runtime_checkable
class NeutralCompleter(Completer, Protocol):
    """A completer that states neutral penalties and cut-offs with every greedy request, and can leave them out."""

    @property
    def neutral(self) -> Mapping[str, float]:
        """What greedy requests state."""
        ...

    async def complete_by_default(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer where all that `Sampling` does not say is left to the model's own defaults."""
        ...


@dataclass(frozen=True, slots=True)
class EncoderIdentity:
    """Vectors may be compared only under the same identity."""

    name: str
    revision: str
    dimension: int


class Encoder(Protocol):
    """Turns texts into vectors."""

    @property
    def identity(self) -> EncoderIdentity:
        """Which vectors these are."""
        ...

    def encode(self, texts: Sequence[str]) -> Matrix:
        """A vector of length 1 for each text, a row each."""
        ...
