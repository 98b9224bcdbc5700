"""What a question's first prompt shows: the part of the schema that it needs, values, and what may be recalled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from merit import prompts
from merit.agent import Method
from merit.live.answer import LeftOut
from merit.live.asking.selecting import left_out_of
from merit.live.judging.ladder import RejectedSQL, rejected_before
from merit.live.parts import LiveParts
from merit.live.record.events import Asked
from merit.live.record.history import standing_question
from merit.memory import Cue, Recall
from merit.prompts import Family, LiveContext, Prompt, mention_lines
from merit.selection import Selection
from merit.types import EVERYONE, FailureType, Question, Schema, Viewer


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question with everything that its first prompt shows."""

    question: Question
    whole_question: str  # behind those before it in its conversation
    method: Method
    position: int  # the memory's sequence number: what was committed by then may be recalled
    live: LiveContext
    recalled: Recall | None
    schema: Schema  # what is shown of the database
    mentioned: tuple[str, ...]  # the columns of the stored values that are shown
    left_out: LeftOut
    prompt: Prompt
    earlier: tuple[Asked, ...]  # of the same conversation
    rejected: Mapping[str, RejectedSQL]  # for this very question, by canonical form
    viewer: Viewer = EVERYONE  # who asks
    sql: str | None = None  # a statement in place of the model's first candidate: then the first prompt is not sent


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """A question that is asked again: as it was asked first, without what its own answer left."""

    id: str  # of that answer: its entries may not be recalled
    position: int  # what was committed later may not be, either


def prepare(
    parts: LiveParts,
    method: Method,
    text: str,
    earlier: Sequence[Asked] = (),
    again: AskedBefore | None = None,
    *,
    rejections: bool = True,
    viewer: Viewer = EVERYONE,
) -> Prepared:
    """Choose from the schema, find mentioned values, recall, and render; a follow-up by what it follows as well.

    Without `rejections` it is not told which statements people rejected for the question.
    """
    parts.memory.refresh()
    identity, position = (again.id, again.position) if again else (uuid4().hex[:12], parts.memory.sequence)
    question = Question(identity, parts.schema.db_id, text)
    before = [turn.question for turn in earlier]
    whole = replace(question, text=standing_question(before, text))
    selection = parts.selection.choose(whole.text, viewer=viewer) if parts.selection else None
    schema = selection.schema if selection else parts.schema
    left_out = left_out_of(parts.schema, selection, parts.include, parts.exclude)
    family = live_family(parts)
    mentioned = parts.values.mentioned(whole.text) if parts.values is not None else ()
    rejected = (
        rejected_before(parts.history, question.db_id, before, text, family.dialect, viewer) if rejections else {}
    )
    live = replace(
        shown_of(parts, selection),
        mentions=mention_lines(mentioned, family.dialect),
        notes=parts.notes,
        declinable=True,
        conversation=tuple((turn.question, turn.sql) for turn in earlier),
        rejected=tuple(f"{statement.sql} ({statement})" for statement in rejected.values()),
    )
    recalled = _recall(parts, method, whole, position, viewer)
    precedents = recalled.precedents if recalled else ()
    prompt = prompts.initial(family, question, parts.schema_text, precedents, live)
    columns = tuple(dict.fromkeys(f"{table}.{column}" for table, column, _ in mentioned))
    return Prepared(
        question=question,
        whole_question=whole.text,
        method=method,
        position=position,
        live=live,
        recalled=recalled,
        schema=schema,
        mentioned=columns,
        left_out=left_out,
        prompt=prompt,
        earlier=tuple(earlier),
        rejected=rejected,
        viewer=viewer,
    )


def shown_of(parts: LiveParts, selection: Selection | None) -> LiveContext:
    """The tables that prompts show; a selection without example values, which no budget counts."""
    if selection is not None and not selection.whole:
        return LiveContext(selection.text, selection.text)
    return parts.texts.context(parts.schema)


def live_family(parts: LiveParts) -> Family:
    """How prompts speak of a person's own database."""
    return Family("own", evidence=False, dialect=parts.engine.dialect, live=True, fenced=True)


def _recall(parts: LiveParts, method: Method, question: Question, position: int, viewer: Viewer) -> Recall | None:
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
        until=position,
        viewer=viewer,
    )
    return parts.memory.recall(cue, method.recall)
