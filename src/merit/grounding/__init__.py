"""Mending a query by what the schema alone knows, without a model. Must never know a reference."""

from merit.grounding.change import Grounded, GroundingChange, GroundingRule
from merit.grounding.ground import ground
from merit.grounding.literals import ground_values

__all__ = ["Grounded", "GroundingChange", "GroundingRule", "ground", "ground_values"]
