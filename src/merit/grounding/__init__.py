"""Mending a query by what the schema alone knows, without a model. Must never know a reference."""

from merit.grounding.change import Change, Grounded, Rule
from merit.grounding.ground import ground

__all__ = ["Change", "Grounded", "Rule", "ground"]
