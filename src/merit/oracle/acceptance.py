"""Questions with several acceptable references, as defog-ai/sql-eval writes and judges them.

A query holds references separated by `;`. In a reference, `{a, b}` means that any of these columns will do, or all,
and `{}` later in it stands for the same choice. A result is right if it has the rows of one reference: each row once,
columns under any name and in any order, numbers to five digits. `exact` is that; `contains` also takes more columns.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from merit.types import Row, Value

_MOST_COLUMNS = 6  # of a choice; it has 63 then
_MOST_ORDERS = 5000  # of columns that are tried; beyond, results count as different
_ORDER = re.compile(r"\b(order|sort|arrange)", re.IGNORECASE)
# Numbers are compared after rounding. Two that are almost the same can be rounded apart, but not on both grids.
_GRIDS = (1.0, 1.0 + 4e-6)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Whether a result has the rows of an acceptable reference: alone, or among other columns."""

    exact: bool
    contains: bool


def references_of(query: str) -> list[str]:
    """Every acceptable statement of a query."""
    return [statement for part in _split(query, ";") if part.strip() for statement in _chosen(part.strip())]


def asks_for_order(question: str, category: str) -> bool:
    """Whether the order of rows counts."""
    return category == "order_by" or _ORDER.search(question) is not None


def acceptance(result: Sequence[Row], references: Iterable[Sequence[Row]], *, ordered: bool) -> Acceptance:
    """Judge the rows of a result by the rows of every acceptable reference."""
    contains = False
    for reference in references:
        if not reference and not result:
            return Acceptance(exact=True, contains=True)
        if reference and result and _matches(reference, result, ordered):
            if len(reference[0]) == len(result[0]):
                return Acceptance(exact=True, contains=True)
            contains = True
    return Acceptance(exact=False, contains=contains)


def _split(text: str, separator: str) -> list[str]:
    """Split where a separator stands outside quotes and parentheses."""
    parts, quote, depth = [""], "", 0
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        else:
            depth += (character == "(") - (character == ")")
        if character == separator and not quote and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _chosen(statement: str) -> list[str]:
    """A statement for every choice of columns that its braces leave."""
    opening, closing = statement.find("{"), statement.find("}")
    if opening < 0 or closing < opening:
        return [statement]
    columns = [column.strip() for column in _split(statement[opening + 1 : closing], ",")][:_MOST_COLUMNS]
    before, after = statement[:opening], statement[closing + 1 :]
    choices = [choice for size in range(1, len(columns) + 1) for choice in combinations(columns, size)]
    return [before + ", ".join(choice) + after.replace("{}", ", ".join(choice)) for choice in choices]


def _matches(reference: Sequence[Row], result: Sequence[Row], ordered: bool) -> bool:
    return len(reference[0]) <= len(result[0]) and any(
        _matches_on(_rounded(reference, grid), _rounded(result, grid), ordered) for grid in _GRIDS
    )


def _matches_on(reference: list[Row], result: list[Row], ordered: bool) -> bool:
    """Whether some columns of a result, in some order, have the reference's rows."""
    ours, theirs = list(zip(*reference, strict=True)), list(zip(*result, strict=True))
    sets = [frozenset(column) for column in theirs]
    fitting = [[at for at, values in enumerate(sets) if values == frozenset(column)] for column in ours]
    rows = frozenset(reference)
    tried = 0
    todo: list[tuple[int, ...]] = [()]
    while todo:
        chosen = todo.pop()
        if len(chosen) < len(ours):
            todo += [(*chosen, at) for at in reversed(fitting[len(chosen)]) if at not in chosen]
            continue
        picked = [tuple(row[at] for at in chosen) for row in result]
        if frozenset(picked) == rows and not (ordered and _out_of_order(reference, picked)):
            return True
        tried += 1
        if tried == _MOST_ORDERS:
            break
    return False


def _out_of_order(reference: list[Row], picked: list[Row]) -> bool:
    """Whether rows are in another order than the reference's, where ties may be in any.

    What a reference sorts by is not known; but the first column that it sorts by rises or falls.
    """
    ours, theirs = list(dict.fromkeys(reference)), list(dict.fromkeys(picked))
    if ours == theirs:
        return False
    columns = list(zip(zip(*ours, strict=True), zip(*theirs, strict=True), strict=True))
    return not any(our == their for our, their in columns if _is_sorted(our))


def _is_sorted(values: Sequence[Value]) -> bool:
    known = [value for value in values if value is not None]
    try:
        rises = all(one <= other for one, other in pairwise(known))  # type: ignore[operator]
        falls = all(one >= other for one, other in pairwise(known))  # type: ignore[operator]
    except TypeError:
        return False
    return len(set(known)) > 1 and (rises or falls)


def _rounded(rows: Sequence[Row], grid: float) -> list[Row]:
    return [tuple(_plain(value, grid) for value in row) for row in rows]


def _plain(value: Value, grid: float) -> Value:
    """A value as it is compared: numbers of any type to five digits, as the official rule takes them."""
    if isinstance(value, int | float):
        number = float(value) * grid if abs(value) < 1e300 else math.inf
        return 0.0 if number == 0 else float(f"{number:.5g}") if math.isfinite(number) else str(value)
    return value
