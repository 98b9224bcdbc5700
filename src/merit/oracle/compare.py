"""Whether two results are the same denotation, by each benchmark's own rule.

A database can be made so that all rows of a result have one hash: Python's hash of a tuple can be computed backwards.
Sets and dictionaries of such tuples take time that grows with the square of their number. So whoever fills or asks one
here looks at the clock in between, or writes pairs as numbers. Of single values only a few have one hash.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from merit.types import Row, Value

_STEP = 128  # rows between two looks at the clock
_Bag = frozenset[tuple[Value, int]]  # the values of a column, each with how often it is there


class ComparisonTimeout(Exception):
    """Comparing took longer than the deadline."""


def same_spider(reference: list[Row], result: list[Row], *, ordered: bool, deadline: float) -> bool:
    """Spider's rule (`result_eq`): equal as bags of rows, or as lists when ordered, under some order of columns."""
    if not reference and not result:
        return True  # whatever their columns
    if len(reference) != len(result) or len(reference[0]) != len(result[0]):
        return False
    if len(reference[0]) == 1:
        return reference == result if ordered else Counter(reference) == Counter(result)
    ours, theirs = list(zip(*reference, strict=True)), list(zip(*result, strict=True))
    # In order, each column can be matched on its own.
    same = _same_columns(ours, theirs, deadline) if ordered else _columns_match(ours, theirs, deadline)
    return same and _not_rejected(reference, result, ordered, deadline)


def same_bird(reference: list[Row], result: list[Row], *, deadline: float) -> bool:
    """BIRD's rule: equal as sets of rows. No set is made of rows that only the result has."""
    expected: set[Row] = set()
    for rows in _in_steps(reference, deadline):
        expected.update(rows)
    matched: set[Row] = set()
    for rows in _in_steps(result, deadline):
        if not all(map(expected.__contains__, rows)):
            return False
        matched.update(rows)
    return len(matched) == len(expected)


def _in_steps(rows: list[Row], deadline: float) -> Iterator[list[Row]]:
    """The rows, some at a time, for as long as there is time."""
    for start in range(0, len(rows), _STEP):
        _check(deadline)
        yield rows[start : start + _STEP]


def _check(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise ComparisonTimeout


def _not_rejected(reference: list[Row], result: list[Row], ordered: bool, deadline: float) -> bool:
    """The official quick rejection, which is part of the verdict where integers meet floats.

    It compares rows with their values sorted by text, so (1, 10) and (1.0, 10) are sorted differently and rejected
    although they are equal. Without floats it cannot reject what is equal.
    """
    if not any(value.__class__ is float for rows in (reference, result) for row in rows for value in row):
        return True
    ours: list[Row] = [tuple(sorted(row, key=_text_and_type)) for row in reference]
    theirs: list[Row] = [tuple(sorted(row, key=_text_and_type)) for row in result]
    return ours == theirs if ordered else same_bird(ours, theirs, deadline=deadline)


def _text_and_type(value: object) -> str:
    return str(value) + str(type(value))


def _counted(columns: Sequence[Row], deadline: float) -> dict[Row, int]:
    """How often each column is there."""
    counts: dict[Row, int] = {}
    for column in columns:
        _check(deadline)
        counts[column] = counts.get(column, 0) + 1
    return counts


def _same_columns(ours: Sequence[Row], theirs: Sequence[Row], deadline: float) -> bool:
    """Whether two results of the same width have the same columns in some order."""
    left = _counted(ours, deadline)
    for column in theirs:
        _check(deadline)
        count = left.get(column, 0)
        if not count:
            return False
        left[column] = count - 1
    return True


def _columns_match(ours: Sequence[Row], theirs: Sequence[Row], deadline: float) -> bool:
    """Whether some assignment of their columns to ours makes the bags of rows equal.

    The official search runs through permutations of columns; this one extends an assignment column by column
    and gives up as soon as the bags of partial rows differ, which decides the same question.
    """
    counts = _counted(theirs, deadline)  # equal columns are interchangeable
    by_bag: dict[_Bag, list[int]] = {}
    for number, column in enumerate(counts):
        _check(deadline)
        by_bag.setdefault(_bag(column), []).append(number)
    candidates: list[list[int]] = []
    for column in ours:
        _check(deadline)
        candidates.append(by_bag.get(_bag(column), []))
    if not all(candidates):
        return False
    distinct, left = list(counts), list(counts.values())
    start = [0] * len(ours[0])
    levels = [_extensions(ours[0], start, start, candidates[0], distinct, left, deadline)]
    taken: list[int] = []  # the column of theirs that was chosen at every level but the last
    while levels:  # a loop, since a result may have more columns than Python allows calls within calls
        extension = next(levels[-1], None)
        if extension is None:
            levels.pop()
            if taken:
                left[taken.pop()] += 1
            continue
        number, our_rows, their_rows = extension
        depth = len(levels)
        if depth == len(ours):
            return True
        left[number] -= 1
        taken.append(number)
        levels.append(_extensions(ours[depth], our_rows, their_rows, candidates[depth], distinct, left, deadline))
    return False


def _bag(column: Row) -> _Bag:
    return frozenset(Counter(column).items())


def _extensions(
    our_column: Row,
    our_rows: list[int],
    their_rows: list[int],
    candidates: Sequence[int],
    columns: Sequence[Row],
    left: Sequence[int],
    deadline: float,
) -> Iterator[tuple[int, list[int], list[int]]]:
    """Their columns that can stand beside our next one: the number of each, and the partial rows that result.

    A partial row is written as a number, the same for equal rows on both sides; so a step takes as long for the
    hundredth column as for the first. `left` says how often a column is still free.
    """
    values: dict[Value, int] = {}
    places = [values.setdefault(value, len(values)) for value in our_column]
    size = len(values)  # row * size + place is another number for every pair of a row and a value
    numbers: dict[int, int] = {}
    ours = [numbers.setdefault(row * size + place, len(numbers)) for row, place in zip(our_rows, places, strict=True)]
    bag = Counter(ours)
    for candidate in candidates:
        _check(deadline)
        if left[candidate]:
            column = columns[candidate]  # has the same values as ours
            pairs = zip(their_rows, column, strict=True)
            theirs = [numbers.get(row * size + values[value], -1) for row, value in pairs]
            if Counter(theirs) == bag:
                yield candidate, ours, theirs
