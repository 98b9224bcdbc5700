"""Which answers a person may be shown: none that rests on entries that are for other people alone."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from merit.errors import NotVisible
from merit.live.judging.ladder import rejected_in
from merit.live.parts import LiveParts
from merit.live.record.events import Asked, Feedback
from merit.memory import Listed
from merit.types import ScopeKind, Viewer, scope_kind


def visible(listed: Iterable[Listed], viewer: Viewer) -> list[Listed]:
    """The entries that a person may be shown."""
    return [item for item in listed if viewer.sees(item.entry.provenance.scope)]


def sees_answer(parts: LiveParts, asked: Asked, feedback: Feedback | None, viewer: Viewer) -> bool:
    """Whether a person may be shown an answer: it is their own, or nothing in it is for others alone."""
    if viewer.author and asked.author == viewer.author:
        return True
    return all(viewer.sees(scope) for scope in scopes_in(parts, asked, feedback))


def check_seen(parts: LiveParts, asked: Asked, feedback: Feedback | None, author: str) -> None:
    """Refuse an answer that a person may not be shown."""
    if not sees_answer(parts, asked, feedback, parts.viewer(author)):
        raise NotVisible(f"{asked.id}: rests on what is for other people alone; ask the question yourself")


def scopes_in(parts: LiveParts, asked: Asked, feedback: Feedback | None = None) -> set[str | None]:
    """The scopes of all that entered an answer: entries and rejections in its prompts, words about what it follows.

    A word that was taken back since entered it all the same.
    """
    turns = parts.history.turns(asked) if asked.earlier else []
    entries = {_scope_of(parts, turn, identity) for turn in (asked, *turns) for identity in turn.recalled}
    rejections = {scope for turn in (asked, *turns) for scope in _rejections(parts, turn)}
    words = [word.scope or None for _, word in parts.history.judged(turns)] if turns else []
    words += [word.scope or None for _, word in parts.history.stood(turns, _began(asked), asked.time)] if turns else []
    own = [feedback.scope or None] if feedback is not None else []
    return {*entries, *rejections, *words, *own}


def _scope_of(parts: LiveParts, asked: Asked, identity: str) -> str | None:
    """Whom an entry in a prompt is for; of a purged one it is known only that the person who asked could see it."""
    return parts.memory.scope_of(identity, f"{ScopeKind.PERSONAL}:{asked.author}" if asked.author else None)


def _rejections(parts: LiveParts, asked: Asked) -> set[str | None]:
    """The scopes of what was rejected for the question before: the prompts said so, with the reasons."""
    history, viewer = parts.history, parts.viewer(asked.author)
    words = [
        (other, word)
        for other, word in history.stood(
            history.same_question(asked.database, history.before(asked), asked.question, scoped=True),
            _began(asked),
            asked.time,
        )
        if other.id != asked.id and viewer.sees(word.scope or None)
    ]
    return {rejected.scope for rejected in rejected_in(words, asked.dialect).values()}


def _began(asked: Asked) -> str:
    """A time before which what was taken back entered no prompt of an answer: events know whole seconds alone."""
    try:
        began = datetime.fromisoformat(asked.time) - timedelta(seconds=asked.seconds + 1)
    except (ValueError, OverflowError):  # edited: then nothing counts as taken back
        return ""
    return began.isoformat(timespec="seconds")


def narrowest(scopes: Iterable[str | None]) -> str | None:
    """Of the scopes that one person sees, the one with the fewest people."""
    order = list(ScopeKind)
    return min(scopes, key=lambda scope: order.index(scope_kind(scope)), default=None)
