"""Spending a budget of tokens on tables and columns, so that nothing needed is likely to be missing."""

import math
from collections.abc import Collection

import numpy as np

from merit.selection.index import Floats, Ints, SchemaIndex

_LEAST, _MOST = 1e-4, 0.999  # no column is out of the question, and none certain
_CANDIDATES_PER_TOKEN = 1 / 30  # tables that are looked at: a shown table takes more than 30 tokens

_Step = tuple[float, int, int, int]  # minus its worth, table, how many columns before and after


class Chooser:
    """Chooses for one question, given how likely each table is needed, and each column where its table is.

    A table is complete if it is not needed, or if all its columns that are needed are there. What is bought next is
    what adds most, for each token, to the logarithm of the chance that all tables are complete; the first purchase of
    a table takes its declared keys along. `forced` columns come first, whatever they cost.
    """

    def __init__(
        self,
        index: SchemaIndex,
        tables: Floats,
        columns: Floats,
        budget: int,
        forced: Collection[int] = (),
    ) -> None:
        usual = _usual_type(index, tables, columns)
        self.usual_type = index.types[usual] if usual is not None else ""  # shown once for all its columns
        costs = np.where(index.type_number == usual, index.column_cost - index.type_cost, index.column_cost)
        self._plan = plan = _Plan(index, tables, columns, costs, forced)
        owners = {int(index.table_of[column]) for column in forced}
        most = max(20, int(budget * _CANDIDATES_PER_TOKEN))
        likely = [int(table) for table in np.lexsort((np.arange(len(tables)), -tables))[:most]]
        self._forced = {table: plan.along(table) for table in sorted(owners)}
        steps: list[_Step] = []
        for table in dict.fromkeys([*sorted(owners), *likely]):
            if index.columns_of[table]:
                steps += [step for step in plan.steps(table) if step[2] >= self._forced.get(table, 0)]
        self._steps = sorted(steps)

    def choose(self, budget: int) -> dict[int, list[int]]:
        """The columns to show of each table within a budget of tokens."""
        plan, taken = self._plan, dict(self._forced)
        left = budget - sum(plan.cost(table, count) for table, count in taken.items())
        for _, table, start, end in self._steps:
            if taken.get(table, 0) != start:
                continue  # an earlier step of this table did not fit
            reached = plan.affordable(table, start, end, left)
            if reached > start:
                left -= plan.cost(table, reached) - plan.cost(table, start)
                taken[table] = reached
        return {table: sorted(plan.order(table, count)) for table, count in taken.items()}


def _usual_type(index: SchemaIndex, tables: Floats, columns: Floats) -> int | None:
    """The type that likely columns have most often, by what leaving it out saves; None if a column has no type."""
    if "" in index.types:
        return None
    saved = np.bincount(index.type_number, tables[index.table_of] * columns * index.type_cost)
    return int(saved.argmax()) if saved.size and saved.max() > 0 else None


class _Plan:
    """The columns of all tables in the order in which they would be bought, with gains and costs."""

    def __init__(
        self, index: SchemaIndex, tables: Floats, columns: Floats, costs: Ints, forced: Collection[int]
    ) -> None:
        self._index, self._tables = index, np.minimum(tables, _MOST)
        along = index.declared_key.copy()
        along[list(forced)] = True
        self._along = np.bincount(index.table_of[along], minlength=len(tables))
        worth = columns / np.maximum(costs, 1)
        self._order = np.lexsort((np.arange(len(columns)), -worth, ~along, index.table_of))
        missing = np.log1p(-np.clip(columns[self._order], _LEAST, _MOST))
        owner = index.table_of[self._order]
        ends = np.array([numbers.stop for numbers in index.columns_of], dtype=np.int64)
        summed = np.cumsum(missing)
        left_over = summed[np.maximum(ends - 1, 0)][owner] - summed
        likely = self._tables[owner]
        self._gains = np.log(1 - likely + likely * np.exp(np.minimum(left_over, 0.0)))
        spent = np.concatenate([[0], np.cumsum(costs[self._order])])
        starts = np.array([numbers.start for numbers in index.columns_of], dtype=np.int64)
        self._costs = spent[1:] - spent[starts][owner] + index.table_cost[owner]

    def along(self, table: int) -> int:
        """How many columns come with a table: its keys and forced ones, or its best one."""
        return max(1, int(self._along[table]))

    def order(self, table: int, count: int) -> list[int]:
        """The first columns of a table."""
        start = self._index.columns_of[table].start
        return [int(column) for column in self._order[start : start + count]]

    def cost(self, table: int, count: int) -> int:
        """The tokens of a table with its first columns."""
        return int(self._costs[self._index.columns_of[table].start + count - 1]) if count else 0

    def steps(self, table: int) -> list[_Step]:
        """The purchases of a table: between the corners of the concave hull of gain over cost."""
        numbers, first = self._index.columns_of[table], self.along(table)
        costs = [0, *self._costs[numbers.start + first - 1 : numbers.stop].tolist()]
        gains = [math.log1p(-self._tables[table]), *self._gains[numbers.start + first - 1 : numbers.stop].tolist()]
        hull, slopes = [0], [math.inf]
        for point in range(1, len(costs)):
            slope = (gains[point] - gains[hull[-1]]) / (costs[point] - costs[hull[-1]])
            while slope >= slopes[-1]:
                hull.pop()
                slopes.pop()
                slope = (gains[point] - gains[hull[-1]]) / (costs[point] - costs[hull[-1]])
            hull.append(point)
            slopes.append(slope)
        return [
            (-slope, table, one + first - 1 if one else 0, other + first - 1)
            for one, other, slope in zip(hull, hull[1:], slopes[1:], strict=False)
        ]

    def affordable(self, table: int, start: int, end: int, left: int) -> int:
        """How far a purchase can be made; a table is begun as a whole purchase or not at all."""
        paid = self.cost(table, start)
        if self.cost(table, end) - paid <= left:
            return end
        if start == 0:
            return 0
        while end > start and self.cost(table, end) - paid > left:
            end -= 1
        return end
