"""Finding stored texts: by a question, and by a literal."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merit.values import ColumnValues, ValueIndex
from merit.values.grams import GramIndex, grams, likeness


def column(table: str, name: str, *texts: str, complete: bool = True) -> ColumnValues:
    return ColumnValues(table, name, texts[:3], tuple(sorted(texts)), complete)


WORD = "extraordinarily"
INDEX = ValueIndex(
    [
        column("city", "Name", "New York", "York", "Paris", "São Paulo", "Monte-Carlo", "Caribbean Isles", "IN", "A"),
        column("country", "Name", "United States", "France", "Africa", "Netherlands"),
        column("country", "Code", "US", "FR", "AND", "20", "747", "AB12345"),
        column("race", "date", "2015-11-29", "2009-05-24"),
        column("race", "time", "2:00.905"),
        column("line", "breaks", "first\nsecond", "tab\tbed"),
    ]
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which cities are in united states?", [("country", "Name", "United States")]),
        ("How many people live in new york?", [("city", "Name", "New York")]),  # and not York
        ("How far is sao paulo from MonteCarlo?", [("city", "Name", "Monte-Carlo"), ("city", "Name", "São Paulo")]),
        ("Who won on 2015/11/29?", [("race", "date", "2015-11-29")]),
        ("Who won in 2009-05?", []),  # not 2:00.905
        ("What is the area of the Carribbean Isles?", [("city", "Name", "Caribbean Isles")]),
        ("List all African countries.", [("country", "Name", "Africa")]),
        ("How many live in France and in a city?", [("country", "Name", "France")]),  # not IN, A or AND
        ("How many have the code US or 'AND'?", [("country", "Code", "AND"), ("country", "Code", "US")]),
        ("Who is older than 20 and flew a 747?", [("country", "Code", "747")]),
        ("Who has AB12346?", []),  # a code that differs in a digit is another one
        ("first second tab bed", []),  # could not be shown in a line
        ("", []),
    ],
)
def test_what_a_question_mentions(question: str, expected: list[tuple[str, str, str]]) -> None:
    assert INDEX.mentioned(question) == expected


def test_the_longest_come_first_and_never_too_many() -> None:
    index = ValueIndex([column(f"t{number}", "c", "blue", "deep blue sea") for number in range(5)])
    mentions = index.mentioned("Is the deep blue sea as blue?")
    assert mentions == [(f"t{number}", "c", "deep blue sea") for number in range(5)]  # blue is a part of it
    assert index.mentioned("Is the deep blue sea as blue?", 2) == mentions[:2]


@pytest.mark.parametrize("part", ["!", " "])
def test_thousands_of_spellings_of_one_word_take_no_time(part: str) -> None:
    """Each was held against each: 9 seconds for one question and one column."""
    texts = (
        "".join(f"{letter}{part * (number >> i & 1)}" for i, letter in enumerate(WORD)) for number in range(20_000)
    )
    index = ValueIndex([column("t", "c", *texts)])
    index.mentioned("")  # makes the index
    started = time.process_time()
    assert len(index.mentioned(f"What is an {WORD}?")) == 8
    assert time.process_time() - started < 10.0


def test_a_literal_has_at_most_one_nearest_text() -> None:
    index = ValueIndex(
        [column("T", "C", "Dog", "cat", "CAT", "Big Cats", "C++"), column("T", "cut", "Dog", complete=False)]
    )
    assert index.nearest("t", "c", "dogs") == "Dog"
    assert index.nearest("T", "C", "bigcat") == "Big Cats"
    assert index.nearest("T", "C", "Dog") is None  # stored itself
    assert index.nearest("T", "C", "Cat") is None  # two are as near
    assert index.nearest("T", "C", "cat") is None
    assert index.nearest("T", "C", "c") is None
    assert index.nearest("T", "cut", "dog") is None  # the other texts are not known
    assert index.nearest("T", "D", "dog") is None
    assert index.nearest("U", "C", "dog") is None


def test_examples_are_the_first_of_a_column() -> None:
    index = ValueIndex([ColumnValues("T", "N", (3, 2.5, "x"), (), complete=True)])
    assert index.examples("t", "n", 2) == [3, 2.5]
    assert index.examples("t", "other") == []


@settings(max_examples=50, deadline=None)
@given(texts=st.sets(st.text(max_size=30), max_size=8), question=st.text(max_size=200))
def test_any_text_can_be_stored_and_asked_for(texts: set[str], question: str) -> None:
    index = ValueIndex([column("t", "c", *texts)])
    mentions = index.mentioned(question)
    assert mentions == ValueIndex([column("t", "c", *texts)]).mentioned(question)
    assert {text for _, _, text in mentions} <= texts
    for text in texts:
        assert index.nearest("t", "c", text) is None or text not in texts
        near = index.nearest("t", "c", f" {text.upper()} ")
        assert near is None or near in texts


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(alphabet="abcé𝔘", min_size=1, max_size=8), min_size=1, max_size=20, unique=True), st.data())
def test_keys_by_their_groups_of_letters_are_those_of_a_plain_search(keys: list[str], data: st.DataObject) -> None:
    wanted = grams(data.draw(st.sampled_from(keys)) + data.draw(st.text(alphabet="abcé", max_size=3)))
    least = data.draw(st.sampled_from([0.3, 0.5, 1.0]))
    found = GramIndex(keys).sharing(wanted, least, len(keys))
    plain = [number for number, key in enumerate(keys) if len(grams(key) & wanted) / len(grams(key)) >= least]
    assert sorted(found) == plain


def test_likeness_is_the_share_of_common_groups() -> None:
    assert likeness(grams("paris"), grams("paris")) == 1.0
    assert likeness(grams("paris"), grams("london")) == 0.0
    assert likeness(frozenset(), frozenset()) == 0.0


def test_no_text_no_mention() -> None:
    assert ValueIndex([]).mentioned("Where is Paris?") == []


def test_a_long_question_is_cut() -> None:
    letters = random.Random(1)
    noise = " ".join("".join(letters.choices("abcdefgh", k=6)) for _ in range(10_000))
    assert INDEX.mentioned(f"Is Paris {noise}")[0] == ("city", "Name", "Paris")
