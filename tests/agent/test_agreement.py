"""Where nobody says what is right: which candidate stands, and when that is settled."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merit.agent.agreement import Vote, choose, decided, is_agreed, share_of_votes
from merit.types import Status, Verdict

FAILED = Verdict(Status.EXECUTION_ERROR, "no such table: t")


def ran(results: str) -> list[Verdict]:
    """A candidate for each letter: `-` failed, `0` gave no rows, others gave the rows of that name."""
    given = {"-": FAILED, "0": Verdict(Status.EXECUTED, result="")}
    return [given.get(letter) or Verdict(Status.EXECUTED, result=letter) for letter in results]


def votes(results: str) -> list[Vote]:
    """The same, as votes: a capital letter is a candidate that had to be grounded, and counts half."""
    return [
        Vote(verdict, 0.5 if letter.isupper() else 1.0)
        for letter, verdict in zip(results, ran(results.lower()), strict=True)
    ]


@pytest.mark.parametrize(
    ("results", "stands"),
    [
        ("a", 0),
        ("ab", 0),  # nobody agrees: the first answer
        ("abb", 1),
        ("abab", 0),
        ("baab", 0),  # of equally large groups, the one that came first
        ("-a-", 1),  # what failed has no vote
        ("---", 2),
        ("00a", 2),  # rows before no rows
        ("-00", 1),
        ("AAb", 0),  # two halves are a whole, and came first
        ("Abb", 1),
        ("Ab", 1),
        ("ABb", 1),
    ],
)
def test_the_first_of_the_largest_group_stands(results: str, stands: int) -> None:
    assert choose(votes(results)) == stands


@given(st.text("abcAB0-", min_size=1, max_size=4), st.integers(0, 3))
def test_it_is_settled_exactly_when_nothing_could_change_it(results: str, left: int) -> None:
    now = ran(results.lower())[choose(votes(results))]
    endings = ["".join(more) for more in itertools.product("abcdeA0-", repeat=left)]
    after = [choose(votes(results + ending)) for ending in endings]
    could_change = any(ran((results + ending).lower())[at] != now for ending, at in zip(endings, after, strict=True))
    if decided(votes(results), left):
        assert not could_change
    elif now is not FAILED and now.result:  # being careful where nothing gave rows yet costs a draw, never an answer
        assert could_change


@pytest.mark.parametrize(
    ("results", "agreed"), [("a", False), ("aa", True), ("ab", False), ("aab", True), ("aabbc", False), ("a--", False), ("aa--", True), ("--", False)]
)  # fmt: skip
def test_agreement_takes_two_and_half_of_all(results: str, agreed: bool) -> None:
    assert is_agreed(ran(results), 0.5) == agreed


def test_more_than_half_can_be_asked_for() -> None:
    assert [is_agreed(ran(results), 0.75) for results in ("aa", "aab", "aaab", "a")] == [True, False, True, False]


@pytest.mark.parametrize(
    ("results", "share"),
    [("a", 1.0), ("ab", 0.5), ("aaab", 0.75), ("a-", 0.5), ("--", 0.0), ("Ab", 2 / 3), ("aAb", 0.6)],
)
def test_the_share_of_votes_counts_failures_as_votes_against(results: str, share: float) -> None:
    assert share_of_votes(votes(results)) == pytest.approx(share)
