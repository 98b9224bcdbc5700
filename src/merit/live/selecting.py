"""Which part of a large schema a question's prompts show; what was confirmed tells which tables belong together."""

from collections.abc import Iterable, Sequence

from merit.live.answer import LeftOut
from merit.memory import Entry, Grade, Precedent
from merit.selection import ConfirmedQuestions, Selection, Selector
from merit.types import Schema


class SchemaSelection:
    """A selector and the confirmed questions it learns from. A schema that fits its budget is shown whole."""

    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self._confirmed: ConfirmedQuestions | None = None  # made when first needed: a schema that fits needs none

    def learn(self, entries: Iterable[Entry]) -> None:
        """Take in confirmed answers, in their order."""
        for entry in entries:
            if isinstance(entry, Precedent) and entry.grade.at_least(Grade.TESTED):
                if self._confirmed is None:
                    self._confirmed = self._selector.confirmed()
                self._confirmed.add(entry.question, entry.sql)

    def choose(self, question: str, missing: Sequence[str] = (), budget: int | None = None) -> Selection:
        """The tables and columns for a question; a wider choice where names were missing."""
        return self._selector.select(question, earlier=self._confirmed, missing=missing, budget=budget)


def left_out_of(
    schema: Schema, selection: Selection | None, include: tuple[str, ...], exclude: tuple[str, ...]
) -> LeftOut:
    """What of a database the model is not shown, by the selection and by the lists of merit.toml."""
    if selection is None or selection.whole:
        return LeftOut(include=include, exclude=exclude)
    shown = {table.name for table in selection.schema.tables}
    tables = tuple(table.name for table in schema.tables if table.name not in shown)
    return LeftOut(tables, selection.left_out_columns, include, exclude)
