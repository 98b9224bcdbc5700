"""Each benchmark's idea of equal results, checked against a naive restatement of it."""

import time
from collections import Counter
from itertools import count, permutations
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making.clock import STALL_S
from making.hashes import rows_of_one_hash
from merit.oracle.compare import ComparisonTimeout, same_bird, same_spider
from merit.types import Row

LATER = float("inf")


def naive(reference: list[Row], result: list[Row], ordered: bool) -> bool:
    """Spider's rule said as plainly as possible: try every order of columns."""
    if not reference and not result:
        return True
    if len(reference) != len(result) or len(reference[0]) != len(result[0]):
        return False

    def unordered(row: Row) -> Row:
        return tuple(sorted(row, key=lambda value: str(value) + str(type(value))))

    ours, theirs = [unordered(row) for row in reference], [unordered(row) for row in result]
    if not (ours == theirs if ordered else set(ours) == set(theirs)):
        return False
    for order in permutations(range(len(reference[0]))):
        turned = [tuple(row[i] for i in order) for row in result]
        if reference == turned if ordered else Counter(reference) == Counter(turned):
            return True
    return False


values = st.one_of(
    st.none(), st.integers(0, 12), st.sampled_from([0.0, 1.0, 2.5, 10.0, 12.0]), st.sampled_from(["", "1", "a"])
)


changed = st.booleans()


@st.composite
def results(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    """Two results that are often nearly the same: shuffled rows, turned columns, a changed value."""
    width = draw(st.integers(1, 5))
    rows: list[Row] = draw(st.lists(st.tuples(*[values] * width), max_size=6))
    order = draw(st.permutations(range(width)))
    other: list[Row] = [tuple(row[i] for i in order) for row in draw(st.permutations(rows))]
    if draw(changed) and other:
        i, j = draw(st.integers(0, len(other) - 1)), draw(st.integers(0, width - 1))
        other[i] = (*other[i][:j], draw(values), *other[i][j + 1 :])
    return rows, other


@given(results(), st.booleans())
def test_spider_agrees_with_trying_everything(pair: tuple[list[Row], list[Row]], ordered: bool) -> None:
    reference, result = pair
    assert same_spider(reference, result, ordered=ordered, deadline=LATER) == naive(reference, result, ordered)


@pytest.mark.parametrize(
    ("reference", "result", "same"),
    [
        ([], [], True),
        ([(1,)], [], False),
        ([(1, "a")], [("a", 1)], True),
        ([(1,), (2,)], [(2,), (1,)], True),
        ([(1,), (1,)], [(1,)], False),
        ([(1,), (1,), (2,)], [(1,), (2,), (2,)], False),
        ([(1,)], [("1",)], False),
        ([(1,)], [(1.0,)], True),
        ([(1, 10)], [(1.0, 10)], False),  # equal, but the official quick rejection sorts them apart
        ([(None, 1)], [(1, None)], True),
        ([(1, 2)], [(1, 2, 3)], False),
    ],
)
def test_spider_by_example(reference: list[Row], result: list[Row], same: bool) -> None:
    assert same_spider(reference, result, ordered=False, deadline=LATER) is same


def test_order_counts_only_when_asked_for() -> None:
    reference: list[Row] = [(1, "a"), (2, "b")]
    backwards: list[Row] = [("b", 2), ("a", 1)]
    assert same_spider(reference, backwards, ordered=False, deadline=LATER)
    assert not same_spider(reference, backwards, ordered=True, deadline=LATER)
    assert same_spider(reference, [("a", 1), ("b", 2)], ordered=True, deadline=LATER)


def test_many_equal_columns_are_no_trap() -> None:
    """The official search would try 20! orders here."""
    reference: list[Row] = [tuple(range(20)), *[(0,) * 20] * 50]
    result: list[Row] = [tuple(reversed(range(20))), *[(0,) * 20] * 50]
    started = time.monotonic()
    assert same_spider(reference, result, ordered=False, deadline=LATER)
    assert time.monotonic() - started < 2 * STALL_S


def test_more_columns_than_python_allows_calls_within_calls() -> None:
    reference: list[Row] = [tuple(range(2000)), tuple(range(1, 2001))]
    assert same_spider(reference, [row[::-1] for row in reference[::-1]], ordered=False, deadline=LATER)
    assert not same_spider(reference, [reference[0], reference[0]], ordered=False, deadline=LATER)


def test_very_many_columns_of_the_same_values_end_at_the_deadline() -> None:
    """Each column is a permutation of the same numbers, so that any may stand for any other at first."""
    columns = [tuple((row * (number + 1)) % 401 for row in range(401)) for number in range(400)]
    reference: list[Row] = list(zip(*columns, strict=True))
    result: list[Row] = list(zip(*columns[:-1], tuple(range(1, 401)) + (0,), strict=True))
    started = time.monotonic()
    with pytest.raises(ComparisonTimeout):
        same_spider(reference, result, ordered=False, deadline=started + 0.3)
    assert time.monotonic() - started < 10.0


def test_a_search_that_takes_too_long_says_so() -> None:
    reference: list[Row] = [(0, 1), (1, 0)]
    with pytest.raises(ComparisonTimeout):
        same_spider(reference, [(1, 1), (0, 0)], ordered=False, deadline=time.monotonic() - 1.0)


@pytest.mark.parametrize(
    ("result", "same"),
    [
        ([(2, "b"), (1, "a")], True),
        ([(1, "a"), (1, "a"), (2, "b")], True),
        ([("a", 1), ("b", 2)], False),
        ([(1, "a")], False),
        ([(1.0, "a"), (2, "b")], True),
        ([("1", "a"), (2, "b")], False),
        ([(1, "a"), (2, "b"), (None, None)], False),
    ],
)
def test_bird_by_example(result: list[Row], same: bool) -> None:
    assert same_bird([(1, "a"), (2, "b")], result, deadline=LATER) is same


def test_rows_of_one_hash_are_not_compared_with_each_other() -> None:
    class Number(int):
        compared = 0

        def __hash__(self) -> int:
            return 7  # as pairs of numbers can have that a query computes

        def __eq__(self, other: object) -> bool:
            Number.compared += 1
            return int(self) == other

    reference: list[Row] = [(number,) for number in range(1000)]
    assert not same_bird(reference, [(Number(number),) for number in range(1000, 2000)], deadline=LATER)
    assert same_bird(reference, list(reversed(reference)), deadline=LATER)
    assert Number.compared < 10


def seconds(rows: list[Row]) -> float:
    """The least computing time that it took to see that rows are the same in another order."""

    def once() -> float:
        started = time.process_time()
        assert same_spider(rows, rows[::-1], ordered=False, deadline=LATER)
        return time.process_time() - started

    return min(once() for _ in range(3))


def test_pairs_of_one_hash_take_no_longer_than_others() -> None:
    hostile = rows_of_one_hash(24_000)
    assert max(Counter(map(hash, hostile)).values()) > 5_000
    assert seconds(hostile) < 4 * seconds([(number, number * 7919 % 24_001) for number in range(24_000)])


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock on which a second passes between two looks."""
    monkeypatch.setattr("merit.oracle.compare.time", SimpleNamespace(monotonic=count().__next__))


@pytest.mark.usefixtures("hurried")
def test_sets_of_many_rows_end_at_the_deadline() -> None:
    rows: list[Row] = [(number, 0.5) for number in range(5_000)]
    with pytest.raises(ComparisonTimeout):
        same_bird(rows, rows[:1], deadline=30)
    with pytest.raises(ComparisonTimeout):
        same_bird(rows[:1], rows[:1] * 5_000, deadline=30)
    assert same_bird(rows, rows, deadline=1_000)


@pytest.mark.usefixtures("hurried")
def test_the_quick_rejection_of_many_rows_ends_at_the_deadline() -> None:
    rows: list[Row] = [(number, 0.5) for number in range(5_000)]
    with pytest.raises(ComparisonTimeout):
        same_spider(rows, rows[::-1], ordered=False, deadline=30)


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("ordered", [True, False])
def test_very_many_columns_end_at_the_deadline(ordered: bool) -> None:
    """Columns, too, are tuples that can have one hash."""
    with pytest.raises(ComparisonTimeout):
        same_spider([tuple(range(500))], [tuple(range(500))], ordered=ordered, deadline=30)
