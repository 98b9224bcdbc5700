"""The prompts for a model, and the parsing of its replies. Must never know a reference.

`render` fills the templates of `templates`, the paper's appendix verbatim. `live` fills those for live use
(`templates/live`, and `templates/own` for what no benchmark's prompt has), `live_schema` and `tables` write their
schema part. `blocks` has what both share: a `Family` names the benchmark and the dialect; for other engines than SQLite
the words that name it and its quotes are exchanged. `fence` marks what a database or a person wrote as data. `replies`
finds the SQL in whatever a model says, in a documented order; where there is none, the attempt has failed.
"""

from merit.prompts.blocks import BIRD, LIVE_VERSION, SPIDER, VERSION, VERSIONS, Family, Prompt, family_named
from merit.prompts.live_schema import LiveContext, LiveTexts, StoredValues, live_context, live_mentions, mention_lines
from merit.prompts.notes import ANSWER, led_by, note, tried_block
from merit.prompts.render import initial, reflection, repair, templates_hash
from merit.prompts.replies import parse_decline, parse_note, parse_reflection, parse_sql

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
