"""The prompts for a model, and the parsing of its replies. Must never know a reference."""

from merit.prompts.live import LiveContext, LiveTexts, StoredValues, live_context, live_mentions
from merit.prompts.render import (
    BIRD,
    LIVE_VERSION,
    SPIDER,
    VERSION,
    VERSIONS,
    Family,
    Prompt,
    family_named,
    initial,
    reflection,
    repair,
    templates_hash,
)
from merit.prompts.reply import parse_decline, parse_reflection, parse_sql

__all__ = [
    "BIRD",
    "LIVE_VERSION",
    "SPIDER",
    "VERSION",
    "VERSIONS",
    "Family",
    "LiveContext",
    "LiveTexts",
    "Prompt",
    "StoredValues",
    "family_named",
    "initial",
    "live_context",
    "live_mentions",
    "parse_decline",
    "parse_reflection",
    "parse_sql",
    "reflection",
    "repair",
    "templates_hash",
]
