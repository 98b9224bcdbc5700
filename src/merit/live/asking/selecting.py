"""Which part of a large schema a question's prompts show; what was confirmed tells which tables belong together."""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from merit.live.answer import LeftOut
from merit.memory import Entry, Grade, Precedent
from merit.selection import ConfirmedQuestions, Selection, Selector
from merit.types import EVERYONE, Deletion, Restoration, Schema, Staleness, Store, Viewer

# Changes that are looked through, and answers that are kept: reading a statement takes half a millisecond.
_LATEST = 5000
_MOST_VIEWERS = 200  # groups of people who see the same


class SchemaSelection:
    """A selector and the confirmed questions it learns from. A schema that fits its budget is shown whole."""

    def __init__(self, selector: Selector, learned: "LearnedAnswers | None" = None) -> None:
        """Without `learned` it knows only what it is told."""
        self._selector = selector
        self._lock = threading.Lock()  # questions may be asked, and feedback be given, at the same time
        self._learned = learned
        self._seen: dict[frozenset[str], _SeenAnswers] = {}  # by the scopes besides what is for everyone

    def without_learned(self) -> "SchemaSelection":
        """The same for questions of which nothing is confirmed yet; it knows only what it is told by `learn`."""
        return SchemaSelection(self._selector)

    def learn(self, entries: Iterable[Entry]) -> None:
        """Take in confirmed answers, in their order; one that follows a memory's log does so by itself."""
        with self._lock:
            for entry in entries:
                if isinstance(entry, Precedent) and entry.grade.at_least(Grade.TESTED):
                    self._answers_for(frozenset()).confirmed.add(entry.question, entry.sql)

    def choose(
        self, question: str, missing: Sequence[str] = (), budget: int | None = None, *, viewer: Viewer = EVERYONE
    ) -> Selection:
        """The tables and columns for a question; a wider choice where names were missing.

        What people keep to themselves tells only them which tables belong together.
        """
        if self._selector.fits and budget is None:
            return self._selector.select(question)
        with self._lock:
            return self._selector.select(question, earlier=self._followed(viewer), missing=missing, budget=budget)

    def _followed(self, viewer: Viewer) -> ConfirmedQuestions:
        """What was learned by now and not taken back, by whichever process, as far as a person may see it."""
        if self._learned is None:
            return self._answers_for(frozenset()).confirmed
        self._learned.follow()
        seen = self._answers_for(self._learned.scopes & {*viewer.scopes})
        seen.follow(self._learned, viewer)
        return seen.confirmed

    def _answers_for(self, scopes: frozenset[str]) -> "_SeenAnswers":
        """The answers that a person may see; people who see the same entries share them."""
        if scopes not in self._seen:
            if len(self._seen) >= _MOST_VIEWERS:
                del self._seen[next(iter(self._seen))]
            self._seen[scopes] = _SeenAnswers(self._selector.confirmed())
        return self._seen[scopes]


class _SeenAnswers:
    """The confirmed answers that some people see, kept up with what was learned."""

    def __init__(self, confirmed: ConfirmedQuestions) -> None:
        self.confirmed = confirmed
        self._seen: tuple[int | None, int] = (None, 0)
        self._taken: list[str] = []  # the ids of the entries that `confirmed` holds, in order
        self._without_tables: set[str] = set()  # entries whose SQL names no table

    def follow(self, learned: "LearnedAnswers", viewer: Viewer) -> None:
        """Take in what is new, and forget what was taken back."""
        if self._seen == (learned.sequence, learned.purges):
            return
        self._seen, answers = (learned.sequence, learned.purges), learned.answers(viewer)
        for number in reversed(range(len(self._taken))):
            if self._taken[number] not in answers:
                self.confirmed.remove(number)
                del self._taken[number]
        known = {*self._taken, *self._without_tables}
        for identity, answer in answers.items():
            if identity not in known:
                if self.confirmed.add(answer.question, answer.sql):
                    self._taken.append(identity)
                else:
                    self._without_tables.add(identity)


class LearnedAnswer(NamedTuple):
    """What is kept of a confirmed answer."""

    question: str
    sql: str
    scope: str | None


class LearnedAnswers:
    """The latest answers about a database that are sure enough and may be recalled, kept up with a memory's log."""

    def __init__(self, store: Store, latest: Callable[[], int], database: str) -> None:
        """`latest` gives the number of the log's last change; it is asked at the first look."""
        self._store, self._latest, self._database = store, latest, database
        self.sequence: int | None = None  # up to which the log was followed
        self.purges = store.purges  # that were noticed
        self.scopes: frozenset[str] = frozenset()  # of all answers that were ever there
        self._answers: dict[str, LearnedAnswer] = {}
        self._deleted: set[str] = set()
        self._stale: set[str] = set()

    def follow(self) -> None:
        """Take in what was committed since the last look."""
        if self.sequence is None:
            self.sequence = max(0, self._latest() - _LATEST)
        changes = self._store.since(self.sequence)
        if self._store.purges != self.purges:  # some of what was read before may be gone
            self.purges = self._store.purges
            self._answers.clear()
            changes = self._store.since(max(0, self._latest() - _LATEST))
        for self.sequence, change in changes:
            match change:
                case Deletion():
                    self._deleted.add(change.id)
                case Restoration():
                    self._deleted.discard(change.id)
                    self._stale.discard(change.id)
                case Staleness():
                    (self._stale.add if change.stale else self._stale.discard)(change.id)
                case Precedent() if change.provenance.db_id == self._database and change.grade.at_least(Grade.TESTED):
                    self._take_in(change)

    def _take_in(self, change: Precedent) -> None:
        scope = change.provenance.scope
        self._answers[change.id] = LearnedAnswer(change.question, change.sql, scope)
        if len(self._answers) > _LATEST:
            del self._answers[next(iter(self._answers))]
        if scope is not None:
            self.scopes |= {scope}

    def answers(self, viewer: Viewer) -> dict[str, LearnedAnswer]:
        """Those that may be recalled for a person, by their ids, in the order in which they were learned."""
        withheld = self._deleted | self._stale
        return {
            identity: answer
            for identity, answer in self._answers.items()
            if identity not in withheld and viewer.sees(answer.scope)
        }


def left_out_of(
    schema: Schema, selection: Selection | None, include: tuple[str, ...], exclude: tuple[str, ...]
) -> LeftOut:
    """What of a database the model is not shown, by the selection and by the lists of merit.toml."""
    if selection is None or selection.whole:
        return LeftOut(include=include, exclude=exclude)
    shown = {table.name for table in selection.schema.tables}
    tables = tuple(table.name for table in schema.tables if table.name not in shown)
    return LeftOut(tables, selection.left_out_columns, include, exclude)
