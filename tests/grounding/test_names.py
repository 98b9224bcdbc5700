"""When two identifiers are one name, written differently."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merit.grounding.names import edits, nearest


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("StuID", ["stu_id", "name"], "stu_id"),
        ("students", ["student", "staff"], "student"),
        ("cities", ["city", "country"], "city"),
        ("boxes", ["box"], "box"),
        ("suphero", ["superhero", "hero_power"], "superhero"),
        ("pets1", ["pets2", "pets3"], None),  # both are one letter away
        ("id", ["ip"], None),  # too short to be a slip
        ("name", ["names", "Name"], "Name"),  # the same letters come before a plural
        ("address", ["addres"], "addres"),
        ("___", ["a"], None),
        ("x", [], None),
    ],
)
def test_the_nearest_name(name: str, known: list[str], meant: str | None) -> None:
    assert nearest(name, known) == meant


def slow_edits(one: str, other: str) -> int:
    """Letters exchanged, left out, added or swapped, by the definition."""
    if not one or not other:
        return len(one) + len(other)
    best = min(
        slow_edits(one[1:], other) + 1,
        slow_edits(one, other[1:]) + 1,
        slow_edits(one[1:], other[1:]) + (one[0] != other[0]),
    )
    if len(one) > 1 and len(other) > 1 and one[0] == other[1] and one[1] == other[0]:
        best = min(best, slow_edits(one[2:], other[2:]) + 1)
    return best


@given(st.text("ab", max_size=6), st.text("ab", max_size=6), st.integers(0, 3))
def test_edits_are_counted_as_the_definition_says(one: str, other: str, most: int) -> None:
    assert min(edits(one, other, most), most + 1) == min(slow_edits(one, other), most + 1)
