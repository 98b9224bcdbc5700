"""Several acceptable references, and choices of columns."""

from collections.abc import Sequence

import pytest

from merit.oracle import Acceptance, acceptance, asks_for_order, references_of
from merit.types import Row

EXACT, CONTAINS, WRONG = Acceptance(True, True), Acceptance(False, True), Acceptance(False, False)


@pytest.mark.parametrize(
    ("query", "statements"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';' ; ", ["SELECT ';'"]),
        (
            "SELECT {a.id, a.name}, COUNT(*) FROM a GROUP BY {};",
            [
                "SELECT a.id, COUNT(*) FROM a GROUP BY a.id",
                "SELECT a.name, COUNT(*) FROM a GROUP BY a.name",
                "SELECT a.id, a.name, COUNT(*) FROM a GROUP BY a.id, a.name",
            ],
        ),
        ("SELECT {COALESCE(a, b), c}", ["SELECT COALESCE(a, b)", "SELECT c", "SELECT COALESCE(a, b), c"]),
        ("SELECT {a};SELECT b", ["SELECT a", "SELECT b"]),
        ("SELECT '}{'", ["SELECT '}{'"]),
        ("", []),
    ],
)
def test_every_acceptable_statement(query: str, statements: list[str]) -> None:
    assert references_of(query) == statements


def judged(result: Sequence[Row], *references: Sequence[Row], ordered: bool = False) -> Acceptance:
    return acceptance(result, references, ordered=ordered)


def test_one_reference_is_enough() -> None:
    assert judged([(1,)], [(2,)], [(1,)]) == EXACT
    assert judged([(3,)], [(2,)], [(1,)]) == WRONG


def test_rows_count_once_and_in_any_order() -> None:
    assert judged([(1, "a"), (2, "b"), (1, "a")], [(2, "b"), (1, "a")]) == EXACT


def test_columns_may_be_in_any_order_and_more() -> None:
    assert judged([("a", 1), ("b", 2)], [(1, "a"), (2, "b")]) == EXACT
    assert judged([("a", 1, 7), ("b", 2, 7)], [(1, "a"), (2, "b")]) == CONTAINS
    assert judged([(1,), (2,)], [(1, "a"), (2, "b")]) == WRONG


def test_columns_must_fit_row_by_row() -> None:
    assert judged([(1, 2), (2, 1)], [(1, 1), (2, 2)]) == WRONG


def test_numbers_are_compared_to_five_digits_whatever_their_type() -> None:
    assert judged([(0.1 + 0.2,)], [(0.3,)]) == EXACT
    assert judged([(2,)], [(2.0,)]) == EXACT
    assert judged([(1.00005,)], [(1.0000499999,)]) == EXACT
    assert judged([(1.001,)], [(1.0,)]) == WRONG
    assert judged([("1",)], [(1,)]) == WRONG


def test_order_counts_where_it_is_asked_for_and_ties_may_be_in_any() -> None:
    reference = [("a", 3), ("b", 2), ("c", 2), ("d", 1)]
    assert judged([("a", 3), ("c", 2), ("b", 2), ("d", 1)], reference, ordered=True) == EXACT
    assert judged([("d", 1), ("b", 2), ("c", 2), ("a", 3)], reference, ordered=True) == WRONG
    assert judged([("d", 1), ("b", 2), ("c", 2), ("a", 3)], reference) == EXACT


@pytest.mark.parametrize(
    ("question", "category", "counts"),
    [("Sort them", "", True), ("x", "order_by", True), ("In border towns", "", False)],
)
def test_when_order_counts(question: str, category: str, counts: bool) -> None:
    assert asks_for_order(question, category) is counts


def test_no_rows_match_no_rows() -> None:
    assert judged([], []) == EXACT
    assert judged([], [(1,)]) == judged([(1,)], []) == WRONG
    assert judged([(1,)]) == WRONG


def test_many_columns_that_look_alike_take_no_time() -> None:
    wide = [tuple(range(30)), tuple(reversed(range(30)))]
    assert judged([(0,) * 30, (1,) * 30], [(0, 1) * 15, (1, 0) * 15]) == WRONG
    assert judged(wide, wide) == EXACT
