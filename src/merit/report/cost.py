"""x"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model's tokens cost: money per million."""

    prompt: float
    output: float
