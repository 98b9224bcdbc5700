"""Which answers a person may be shown: none that rests on entries that are for other people alone."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from merit.errors import NotVisible
from merit.live.parts import LiveParts
from merit.live.record.events import Asked, Feedback
from merit.live.record.rejections import Rejections
from merit.memory import Listed
from merit.types import ScopeKind, Viewer, scope_kind


def visible(listed: Iterable[Listed], viewer: Viewer) -> list[Listed]:
    """The entries that a person may be shown."""
    return [item for item in listed if viewer.sees(item.entry.provenance.scope)]


class Sight:
    """What one person may be shown of many answers: what several of them rest on is read once, for one page."""

    def __init__(self, parts: LiveParts, viewer: Viewer) -> None:
        self._parts, self._viewer = parts, viewer
        self._rejections = Rejections(parts.history)

    def sees(self, asked: Asked, feedback: Feedback | None) -> bool:
        """Whether they may be shown an answer: it is their own, or nothing in it is for others alone."""
        if self._viewer.author and asked.author == self._viewer.author:
            return True
        return all(map(self._viewer.sees, _scopes(self._parts, asked, feedback, self._rejections)))


def check_seen(parts: LiveParts, asked: Asked, feedback: Feedback | None, author: str) -> None:
    """Refuse an answer that a person may not be shown."""
    if not Sight(parts, parts.viewer(author)).sees(asked, feedback):
        raise NotVisible(f"{asked.id}: rests on what is for other people alone; ask the question yourself")


def scopes_in(parts: LiveParts, asked: Asked, feedback: Feedback | None = None) -> set[str | None]:
    """The scopes of all that entered an answer: entries and rejections in its prompts, words about what it follows.

    A word that was taken back since entered it all the same.
    """
    return set(_scopes(parts, asked, feedback, Rejections(parts.history)))


def _scopes(parts: LiveParts, asked: Asked, feedback: Feedback | None, rejections: Rejections) -> Iterator[str | None]:
    """The same, one after another: who asks only whether there is a certain one need not wait for all."""
    if feedback is not None:
        yield feedback.scope or None
    turns = parts.history.turns(asked) if asked.earlier else []
    for turn in (asked, *turns):
        yield from (_scope_of(parts, turn, identity) for identity in turn.recalled)
        yield from rejections.scopes(turn, _began(turn), parts.viewer(turn.author))
    if turns:
        yield from (word.scope or None for _, word in parts.history.judged(turns))
        yield from (word.scope or None for _, word in parts.history.stood(turns, _began(asked), asked.time))


def _scope_of(parts: LiveParts, asked: Asked, identity: str) -> str | None:
    """Whom an entry in a prompt is for; of a purged one it is known only that the person who asked could see it."""
    return parts.memory.scope_of(identity, f"{ScopeKind.PERSONAL}:{asked.author}" if asked.author else None)


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
