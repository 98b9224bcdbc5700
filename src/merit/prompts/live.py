"""The prompt family merit-live-v1: a question about a database, what is known of it, and what failed before."""

from collections.abc import Sequence

from merit.errors import one_line
from merit.memory import Precedent
from merit.prompts.blocks import Family, Prompt, precedents_block, shortened, shown_data, with_fence_rule
from merit.prompts.fence import CLOSE, OPEN, escaped
from merit.prompts.live_schema import LiveContext
from merit.prompts.template import LIVE, OWN, fill, read
from merit.types import Question

_LONGEST_SQL = 1000  # characters of a statement that failed before
_LONGEST_ERROR = 300  # and of what the database said


def live_prompt(
    family: Family, question: Question, live: LiveContext, precedents: Sequence[Precedent], draw: int
) -> Prompt:
    """Ask for SQL; `draw` chooses between three wordings, and the first one shows no example values."""
    purpose = "initial" if not draw else "odd_draw" if draw % 2 else "even_draw"
    mentions, evidence = "\n".join(live.mentions), question.evidence or ""
    values = {
        "DATABASE_SCHEMA": shown_data(family, live.tables if draw else live.bare),
        "MENTIONED_VALUES_IF_ANY": fill(f"{LIVE}/mentioned", {"VALUES": shown_data(family, mentions)})
        if mentions
        else "",
        "NOTES_IF_ANY": _notes(family, live),
        "PRECEDENTS_IF_ANY": precedents_block(precedents, question, family),
        "EVIDENCE_IF_ANY": fill(f"{LIVE}/evidence", {"EVIDENCE": evidence}) if evidence else "",
        "QUESTION": question.text,
    }
    text = fill(f"{LIVE}/{purpose}", values, family.dialect)
    if live.declinable:
        text = f"{text}\n\n{read(f'{OWN}/decline')}"
    return Prompt(f"{family.name}-live-{purpose}-v1", with_fence_rule(family, text))


def _notes(family: Family, live: LiveContext) -> str:
    """What people wrote down, asked before and rejected, and what earlier candidates came to."""
    notes = "\n".join(f"- {note}" for note in live.notes)
    turns = "\n".join(f"Question: {shortened(question)}\nSQL: {shortened(sql)}" for question, sql in live.conversation)
    rejected = "\n".join(f"- {shortened(sql)}" for sql in live.rejected)
    blocks = [fill(f"{LIVE}/notes", {"NOTES": shown_data(family, notes)})] if notes else []
    blocks += [fill(f"{OWN}/conversation", {"TURNS": shown_data(family, turns)})] if turns else []
    blocks += [fill(f"{OWN}/rejected", {"REJECTED": shown_data(family, rejected)})] if rejected else []
    if live.failed:
        failed = "\n".join(fill(f"{OWN}/failed_statement", _failed_statement(*pair)) for pair in live.failed)
        shown = f"{OPEN}\n{failed}\n{CLOSE}" if family.fenced else failed
        blocks.append(fill(f"{OWN}/failed", {"STATEMENTS": shown}))
    return "\n\n".join(blocks)


def _failed_statement(sql: str, error: str) -> dict[str, str]:
    """A statement that stays in its fence, and a message that stays in its line."""
    return {"SQL": escaped(sql, _LONGEST_SQL), "ERROR": escaped(one_line(error), _LONGEST_ERROR)}
