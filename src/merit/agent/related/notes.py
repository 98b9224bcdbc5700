"""What methods of related work share: asking for a note, reading it, and lessons of earlier episodes."""

from collections.abc import Mapping
from dataclasses import replace

from merit import prompts
from merit.agent.behaviour import Moment, PaperBehaviour, Recalled
from merit.agent.method import Method
from merit.memory import Precedent, RecallPolicy, Repair, TypeFilter
from merit.prompts import Prompt, parse_note, tried_block

# Only the latest entry, for methods that keep one text and write it again: a guideline, a list of insights.
LATEST = RecallPolicy(
    positives=1, negatives=0, type_filter=TypeFilter.NONE, dense=False, lexical=False, recency=1.0, recency_decay=0.999
)
LATEST_OF_BOTH = replace(LATEST, one_pool=True)  # of corrected and of failed episodes alike


class Noting(PaperBehaviour):
    """Decides as the paper's methods do, and has the model write notes; a method says which."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - the simplest one
        """No note."""
        return None

    def read(self, method: Method, moment: Moment, reply: str) -> str:  # noqa: ARG002 - the same at any moment
        """The reply in its own lines."""
        return parse_note(reply)


def asked(
    moment: Moment, purpose: str, task: str, ending: str, shown: Mapping[str, str], *, outcomes: bool = True
) -> Prompt:
    """A prompt of a method's own about a moment; with `outcomes` it shows every attempt and what became of it."""
    tried = [(attempt.sql, attempt.verdict) for attempt in moment.attempts]
    blocks = {**shown, **(tried_block(moment.family, tried) if outcomes else {})}
    return prompts.note(moment.family, purpose, moment.question, moment.schema, task, blocks, ending)


def mended(moment: Moment) -> bool:
    """Whether an episode has ended well after a failure: there is a confirmed change to learn from."""
    return moment.ended and len(moment.attempts) > 1 and moment.attempts[-1].verdict.correct


def tried_in_vain(moment: Moment) -> bool:
    """Whether an episode has ended without an answer that is right, or that at least runs where none is confirmed."""
    return moment.ended and len(moment.attempts) > 1 and not moment.attempts[-1].verdict.satisfied


def without_changes(moment: Moment) -> Moment:
    """The moment without what was recalled: for a prompt that shows lessons in place of changes."""
    return replace(moment, recalled=Recalled())


def lessons(recalled: Recalled) -> list[Repair | Precedent]:
    """Recalled entries that have a lesson, the latest episode's first."""
    entries: list[Repair | Precedent] = [*recalled.positives, *recalled.negatives, *recalled.precedents]
    with_lesson = [entry for entry in entries if entry.lesson is not None]
    return sorted(with_lesson, key=lambda entry: -entry.provenance.position)


def latest_lesson(recalled: Recalled) -> str:
    """The lesson of the latest recalled episode, or an empty text."""
    return next((entry.lesson or "" for entry in lessons(recalled)), "")
