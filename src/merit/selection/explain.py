"""Why a table or a column was chosen, in words."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from merit.selection.confirmed import EarlierUse
from merit.selection.features import QuestionFeatures
from merit.selection.index import SchemaIndex

_SHOWN = 4  # words or names in one reason
_QUOTED = 80  # characters of an earlier question


class SelectionExplainer:
    """Puts the signs of one selection into words."""

    def __init__(
        self,
        index: SchemaIndex,
        asked: QuestionFeatures,
        recalled: EarlierUse | None,
        chosen: Mapping[int, Sequence[int]],
        forced: Collection[int],
    ) -> None:
        self._index, self._asked, self._recalled, self._forced = index, asked, recalled, set(forced)
        self._chosen = chosen
        self._spoken = {int(word) for word in np.flatnonzero(asked.matched)}

    def table(self, table: int) -> tuple[str, ...]:
        """Why a table is in."""
        found = []
        if self._forced & set(self._index.columns_of[table]):
            found.append("was missing")
        if words := self._words(self._index.in_name.indices, self._index.in_name.indptr, table):
            found.append(f"its name has {words}")
        if self._recalled is not None and (times := int(self._recalled.times[table])):
            use_count = f"{times} confirmed question{'s' if times > 1 else ''} used it"
            near = self._recalled.nearest.get(table)
            found.append(f"{use_count}, such as {near[:_QUOTED]!r}" if near else use_count)
        matching = [c for c in self._chosen[table] if self._asked.words[c] > 0]
        if matching:
            matching.sort(key=lambda column: -self._asked.words[column])
            found.append(f"columns match: {', '.join(self._index.columns[c].name for c in matching[:_SHOWN])}")
        linked = [other for other in self._chosen if self._index.links[table, other] > 0]
        if linked:
            linked.sort(key=lambda other: -self._index.links[table, other])
            shown = [f"{self._index.tables[o].name} by {self._index.link_names[table, o]}" for o in linked[:2]]
            found.append(f"joins {', '.join(shown)}")
        return tuple(found) or ("close in meaning, or of a database that fits",)

    def column(self, column: int) -> tuple[str, ...]:
        """Why a column is in."""
        index, found = self._index, []
        if column in self._forced:
            found.append("was missing")
        if column in self._asked.mentioned:
            found.append("holds a value of the question")
        if words := self._words(index.in_column.indices, index.in_column.indptr, column):
            found.append(f"its name has {words}")
        if self._recalled is not None and (times := int(self._recalled.column_times[column])):
            found.append(f"{times} confirmed question{'s' if times > 1 else ''} used it")
        if index.columns[column].primary_key:
            found.append("primary key")
        elif index.declared_key[column]:
            found.append("foreign key")
        elif index.own_key[column]:
            found.append("key of its table by its name")
        elif index.joining[column]:
            found.append("other tables have a key of this name")
        return tuple(found) or ("there was room",)

    def _words(self, indices: Sequence[int], starts: Sequence[int], row: int) -> str:
        words = [int(word) for word in indices[starts[row] : starts[row + 1]]]
        return ", ".join(self._index.words[word] for word in words if word in self._spoken)
