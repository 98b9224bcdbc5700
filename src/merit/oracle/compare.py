"""Whether two results are the same denotation, by each benchmark's own rule."""

import time
from collections import Counter
from collections.abc import Sequence

from merit.types import Row


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
    """BIRD's rule: equal as sets of rows."""
    return set(reference) == set(result)


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
    our_bags, their_bags = ([Counter(column) for column in columns] for columns in (ours, theirs))
    candidates = [[j for j, bag in enumerate(their_bags) if bag == our_bag] for our_bag in our_bags]
    if not all(candidates):
        return False
    width, height = len(ours), len(ours[0])

    def extend(chosen: list[int], our_rows: list[Row], their_rows: list[Row]) -> bool:
        depth = len(chosen)
        if depth == width:
            return True
        if time.monotonic() > deadline:
            raise ComparisonTimeout
        longer = [(*row, value) for row, value in zip(our_rows, ours[depth], strict=True)]
        bag = Counter(longer)
        tried: set[Row] = set()
        for j in candidates[depth]:
            if j in chosen or theirs[j] in tried:  # equal columns are interchangeable
                continue
            tried.add(theirs[j])
            extended = [(*row, value) for row, value in zip(their_rows, theirs[j], strict=True)]
            if Counter(extended) == bag and extend([*chosen, j], longer, extended):
                return True
        return False

    return extend([], [()] * height, [()] * height)
