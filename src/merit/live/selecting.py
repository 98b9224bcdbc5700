"""Which part of a large schema a question's prompts show; what was confirmed tells which tables belong together."""

import threading
from collections.abc import Callable, Iterable, Sequence

from merit.live.answer import LeftOut
from merit.memory import Entry, Grade, Precedent
from merit.selection import ConfirmedQuestions, Selection, Selector
from merit.types import Deletion, Schema, Staleness, Store

_LATEST = 5000  # changes of the memory that are looked through: reading a statement's names takes half a millisecond


class SchemaSelection:
    """A selector and the confirmed questions it learns from. A schema that fits its budget is shown whole."""

    def __init__(self, selector: Selector, earlier: Callable[[], Iterable[Entry]] = list) -> None:
        """`earlier` gives what was learned before; it is asked when the first question needs it."""
        self._selector = selector
        self._earlier = earlier
        self._lock = threading.Lock()  # questions may be asked, and feedback be given, at the same time
        self._confirmed: ConfirmedQuestions | None = None

    def unlearned(self) -> "SchemaSelection":
        """The same for questions of which nothing is confirmed yet; it learns by itself."""
        fresh = SchemaSelection(self._selector)
        if not self._selector.fits:
            fresh._confirmed = self._selector.confirmed()
        return fresh

    def learn(self, entries: Iterable[Entry]) -> None:
        """Take in confirmed answers, in their order."""
        with self._lock:
            if self._confirmed is not None:
                self._add(self._confirmed, entries)

    def choose(self, question: str, missing: Sequence[str] = (), budget: int | None = None) -> Selection:
        """The tables and columns for a question; a wider choice where names were missing."""
        if self._selector.fits and budget is None:
            return self._selector.select(question)
        with self._lock:
            if self._confirmed is None:
                self._confirmed = self._selector.confirmed()
                self._add(self._confirmed, self._earlier())
            return self._selector.select(question, earlier=self._confirmed, missing=missing, budget=budget)

    @staticmethod
    def _add(confirmed: ConfirmedQuestions, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if isinstance(entry, Precedent) and entry.grade.at_least(Grade.TESTED):
                confirmed.add(entry.question, entry.sql)


def latest_entries(store: Store, sequence: int, database: str) -> list[Entry]:
    """What was learned last about a database and may be recalled; `sequence` is the number of the last change."""
    entries: dict[str, Entry] = {}
    left_out: set[str] = set()
    for _, change in store.since(max(0, sequence - _LATEST)):
        if isinstance(change, Deletion):
            entries.pop(change.id, None)
        elif isinstance(change, Staleness):
            (left_out.add if change.stale else left_out.discard)(change.id)
        elif change.provenance.db_id == database:
            entries[change.id] = change
    return [entry for entry in entries.values() if entry.id not in left_out]


def left_out_of(
    schema: Schema, selection: Selection | None, include: tuple[str, ...], exclude: tuple[str, ...]
) -> LeftOut:
    """What of a database the model is not shown, by the selection and by the lists of merit.toml."""
    if selection is None or selection.whole:
        return LeftOut(include=include, exclude=exclude)
    shown = {table.name for table in selection.schema.tables}
    tables = tuple(table.name for table in schema.tables if table.name not in shown)
    return LeftOut(tables, selection.left_out_columns, include, exclude)
