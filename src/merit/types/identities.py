"""Which model answers, how an answer is drawn, and which encoder embeds: what a run records of them."""

from dataclasses import dataclass


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
class EncoderIdentity:
    """Vectors may be compared only under the same identity."""

    name: str
    revision: str
    dimension: int
