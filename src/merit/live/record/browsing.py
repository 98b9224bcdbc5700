"""Looking through a history and a memory: pages of what fits some conditions, newest first."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from merit.live.record.events import Asked, Feedback, kind_of
from merit.live.record.history import History
from merit.memory import Listed, Repair
from merit.types import scope_kind

T = TypeVar("T")
_MOST_LOOKED_AT = 20_000  # answers for one page, so that a search ends; the next page goes on from there
_ID_CHARACTERS = 4
NOT_JUDGED = "none"  # as a kind of feedback


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items, and the id after which the next page begins; None where there are no more."""

    items: tuple[T, ...]
    after: str | None


@dataclass(frozen=True, slots=True)
class HistorySearch:
    """Conditions on answers; an empty one fits all."""

    words: tuple[str, ...] = ()  # all of which the question or the SQL has, or with which the id begins
    status: str = ""
    feedback: str = ""  # confirmed, rejected, corrected or none
    author: str = ""  # of the feedback, or of the question
    since: str = ""  # ISO 8601, compared as text
    until: str = ""
    database: str = ""

    def fits(self, asked: Asked, feedback: Feedback | None) -> bool:
        """Whether an answer is looked for."""
        kind = kind_of(feedback) if feedback is not None else NOT_JUDGED
        authors = {feedback.author if feedback is not None else "", asked.author}
        return (
            self.database in ("", asked.database)
            and self.status in ("", asked.status)
            and self.feedback in ("", kind)
            and (not self.author or self.author in authors)
            and (not self.since or asked.time >= self.since)
            and (not self.until or asked.time[: len(self.until)] <= self.until)
            and _has_words(self.words, (asked.question, asked.sql), asked.id)
        )


def search_history(
    history: History,
    search: HistorySearch,
    limit: int,
    before: str = "",
    seen: Callable[[Asked, Feedback | None], bool] = lambda _asked, _said: True,
) -> Page[tuple[Asked, Feedback | None]]:
    """A page of answers, newest first; only such as are `seen`.

    That is found out first: else the time that a search takes would tell whether what is hidden has its words.
    """

    def fits(item: tuple[Asked, Feedback | None]) -> bool:
        return seen(*item) and search.fits(*item)

    return _page(history.newest_first(before), fits, lambda item: item[0].id, limit)


@dataclass(frozen=True, slots=True)
class MemorySearch:
    """Conditions on entries; an empty one fits all."""

    words: tuple[str, ...] = ()
    grade: str = ""
    kind: str = ""  # positive, negative or precedent
    database: str = ""
    author: str = ""
    scope: str = ""
    state: str = "live"

    def fits(self, item: Listed) -> bool:
        """Whether an entry is looked for."""
        entry, source = item.entry, item.entry.provenance
        sql = (entry.before, entry.after) if isinstance(entry, Repair) else (entry.sql,)
        return (
            self.state in ("all", state_of(item))
            and self.grade in ("", entry.grade)
            and self.kind in ("", entry.polarity)
            and self.database in ("", source.db_id)
            and self.author in ("", source.author)
            and self.scope in ("", source.scope, scope_kind(source.scope))
            and _has_words(self.words, (entry.question, *sql), entry.id)
        )


def state_of(item: Listed) -> str:
    """Whether an entry is live, stale or retracted."""
    return "retracted" if item.deleted is not None else "stale" if item.stale is not None else "live"


def search_memory(listed: Iterable[Listed], search: MemorySearch, limit: int, before: str = "") -> Page[Listed]:
    """A page of entries, newest first."""
    items = list(listed)[::-1]
    if before:
        ids = [item.entry.id for item in items]
        items = items[ids.index(before) + 1 :] if before in ids else []
    return _page(items, search.fits, lambda item: item.entry.id, limit)


def _page(items: Iterable[T], fits: Callable[[T], bool], identity: Callable[[T], str], limit: int) -> Page[T]:
    found: list[T] = []
    last = ""
    for number, item in enumerate(items):
        if len(found) == limit or number == _MOST_LOOKED_AT:
            return Page(tuple(found), last)
        if fits(item):
            found.append(item)
        last = identity(item)
    return Page(tuple(found), None)


def _has_words(words: Iterable[str], texts: Iterable[str], identity: str) -> bool:
    """Whether all words are in some texts; one of several characters may be the beginning of an id."""
    text = "\n".join(texts).casefold()
    wanted = [word.casefold() for word in words]
    return all(word in text or (len(word) >= _ID_CHARACTERS and identity.startswith(word)) for word in wanted)
