"""Which part of a large schema a question's prompts show; what was confirmed tells which tables belong together."""

from collections.abc import Iterable

from merit.memory import Entry, Grade, Precedent
from merit.selection import ConfirmedQuestions, Selection, Selector


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

    def choose(self, question: str) -> Selection:
        """The tables and columns for a question."""
        return self._selector.select(question, earlier=self._confirmed)


def left_out(selection: Selection) -> tuple[str, ...]:
    """A line on what is not shown, for a prompt."""
    if selection.whole:
        return ()
    tables, columns = selection.left_out_tables, selection.left_out_columns
    return (f"{tables} other tables and {columns} columns of these tables are not shown.",)
