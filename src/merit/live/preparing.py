"""What a question's first prompt shows: the part of the schema that it needs, values, and what may be recalled."""

from dataclasses import dataclass, replace
from uuid import uuid4

from merit import prompts
from merit.agent import Method
from merit.live.answer import LeftOut
from merit.live.parts import LiveParts
from merit.live.selecting import left_out_of
from merit.memory import Cue, Recall
from merit.prompts import Family, LiveContext, Prompt, live_context, live_mentions
from merit.selection import Selection
from merit.types import FailureType, Question


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question with everything that its first prompt shows."""

    question: Question
    position: int  # the memory's sequence number: what was committed by then may be recalled
    live: LiveContext
    recalled: Recall | None
    left_out: LeftOut
    prompt: Prompt


def prepare(parts: LiveParts, method: Method, text: str) -> Prepared:
    """Choose from the schema, find mentioned values, recall, and render."""
    parts.memory.refresh()
    question, position = Question(uuid4().hex[:12], parts.schema.db_id, text), parts.memory.sequence
    selection = parts.selection.choose(text) if parts.selection else None
    left_out = left_out_of(parts.schema, selection, parts.include, parts.exclude)
    family = live_family(parts)
    live = context_of(parts, question, selection)
    recalled = _recall(parts, method, question, position)
    precedents = recalled.precedents if recalled else ()
    prompt = prompts.initial(family, question, parts.schema_text, precedents, live)
    return Prepared(question, position, live, recalled, left_out, prompt)


def context_of(parts: LiveParts, question: Question, selection: Selection | None) -> LiveContext:
    """What prompts show of the database; a selection without example values, which no budget counts."""
    dialect, values = parts.engine.dialect, parts.values
    if selection is not None and not selection.whole:
        live = LiveContext(selection.text, selection.text)
    else:
        live = live_context(parts.schema, dialect, values)
    mentions = live_mentions(question, dialect, values) if values is not None else ()
    return replace(live, mentions=mentions, notes=parts.notes, declinable=True)


def live_family(parts: LiveParts) -> Family:
    """How prompts speak of a person's own database."""
    return Family("own", evidence=False, dialect=parts.engine.dialect, live=True)


def _recall(parts: LiveParts, method: Method, question: Question, position: int) -> Recall | None:
    if method.recall is None:
        return None
    cue = Cue(
        question=question.text,
        question_id=question.id,
        db_id=question.db_id,
        position=position + 1,
        step=0,
        sql="",
        failure_context="",
        type=FailureType.UNKNOWN,
    )
    return parts.memory.recall(cue, method.recall)
