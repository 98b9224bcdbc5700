"""The prompts for a model, and the parsing of its replies. Must never know a reference."""

from merit.prompts.render import (
    BIRD,
    SPIDER,
    VERSION,
    Family,
    Prompt,
    family_named,
    initial,
    reflection,
    repair,
    templates_hash,
)
from merit.prompts.reply import parse_reflection, parse_sql

__all__ = [
    "BIRD",
    "SPIDER",
    "VERSION",
    "Family",
    "Prompt",
    "family_named",
    "initial",
    "parse_reflection",
    "parse_sql",
    "reflection",
    "repair",
    "templates_hash",
]
