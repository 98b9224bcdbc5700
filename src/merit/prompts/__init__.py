"""The prompts for a model, and the parsing of its replies. Must never know a reference."""

from merit.prompts.blocks import BIRD, LIVE_VERSION, SPIDER, VERSION, VERSIONS, Family, Prompt, family_named
from merit.prompts.live_schema import LiveContext, LiveTexts, StoredValues, live_context, live_mentions, mention_lines
from merit.prompts.notes import ANSWER, led_by, note, tried_block
from merit.prompts.render import initial, reflection, repair, templates_hash
from merit.prompts.reply import parse_decline, parse_note, parse_reflection, parse_sql

__all__ = [
    "ANSWER",
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
    "led_by",
    "live_context",
    "live_mentions",
    "mention_lines",
    "note",
    "parse_decline",
    "parse_note",
    "parse_reflection",
    "parse_sql",
    "reflection",
    "repair",
    "templates_hash",
    "tried_block",
]
