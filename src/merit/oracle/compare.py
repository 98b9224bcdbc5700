"""Whether two results are the same denotation, by each benchmark's own rule."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from merit.types import Row, Value

_Bag = frozenset[tuple[Value, int]]  # the values of a column, each with how often it is there


class ComparisonTimeout(Exception):
    """Trying column orders took longer than the deadline."""


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
    same = Counter(ours) == Counter(theirs) if ordered else _columns_match(ours, theirs, deadline)
    return same and _not_rejected(reference, result, ordered)


def same_bird(reference: list[Row], result: list[Row]) -> bool:
    """BIRD's rule: equal as sets of rows.

    No set is made of rows that only the result has: a query can give rows that all have one hash, and a set of
    those takes time that grows with the square of their number.
    """
    expected = set(reference)
    matched: set[Row] = set()
    for row in result:
        if row not in expected:
            return False
        matched.add(row)
    return len(matched) == len(expected)


def _not_rejected(reference: list[Row], result: list[Row], ordered: bool) -> bool:
    """The official quick rejection, which is part of the verdict where integers meet floats.

    It compares rows with their values sorted by text, so (1, 10) and (1.0, 10) are sorted differently and rejected
    although they are equal. Without floats it cannot reject what is equal.
    """
    if not any(value.__class__ is float for rows in (reference, result) for row in rows for value in row):
        return True
    ours = [tuple(sorted(row, key=_text_and_type)) for row in reference]
    theirs = [tuple(sorted(row, key=_text_and_type)) for row in result]
    return ours == theirs if ordered else set(ours) == set(theirs)


def _text_and_type(value: object) -> str:
    return str(value) + str(type(value))


def _columns_match(ours: Sequence[Row], theirs: Sequence[Row], deadline: float) -> bool:
    """Whether some assignment of their columns to ours makes the bags of rows equal.

    The official search runs through permutations of columns; this one extends an assignment column by column
    and gives up as soon as the bags of partial rows differ, which decides the same question.
    """
    counts = Counter(theirs)  # equal columns are interchangeable
    by_bag: dict[_Bag, list[int]] = {}
    for number, column in enumerate(counts):
        by_bag.setdefault(_bag(column), []).append(number)
    candidates = [by_bag.get(_bag(column), []) for column in ours]
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
    numbers: dict[tuple[int, Value], int] = {}
    ours = [numbers.setdefault(pair, len(numbers)) for pair in zip(our_rows, our_column, strict=True)]
    bag = Counter(ours)
    for candidate in candidates:
        if time.monotonic() > deadline:
            raise ComparisonTimeout
        if left[candidate]:
            theirs = [numbers.get(pair, -1) for pair in zip(their_rows, columns[candidate], strict=True)]
            if Counter(theirs) == bag:
                yield candidate, ours, theirs
