"""Texts that are nearly in a question, and those that only look like it."""

import pytest

from merit.values import close
from merit.values.close import CloseTexts
from merit.values.words import key, words

TEXTS = ["Africa", "Blythe Airport", "Annual Meeting", "Airlink", "Bangladesh", "AB12345", "Rome", "Maximus"]


def found(question: str, *texts: str, names: tuple[str, ...] = ()) -> list[str]:
    by_key = {key(text): text for text in texts or TEXTS}
    return [by_key[near] for near in CloseTexts(by_key, frozenset(names)).find([words(question)])]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which African countries are there?", ["Africa"]),
        ("Who was at the anual meeting?", ["Annual Meeting"]),
        ("Who lives in Bangladesch?", ["Bangladesh"]),
        ("Who lives by the airport?", []),  # every word must be close, not only the long one
        ("Who has AB12346?", []),  # a code must be right
        ("Who lives in Roma?", []),  # short words are too alike
        ("What is the maximum?", []),  # a common word
        ("", []),
    ],
)
def test_what_is_close(question: str, expected: list[str]) -> None:
    assert found(question) == expected


def test_names_of_tables_and_columns_are_not_meant_as_texts() -> None:
    assert found("How many airlins are there?") == ["Airlink"]
    assert found("How many airlins are there?", names=("airlin",)) == []


def test_the_most_alike_come_first_and_only_three() -> None:
    texts = ["Constantinopolis", "Constantinope", "Constantinopol", "Constantinopelian", "Constance"]
    assert found("Where is Constantinopel?", *texts) == ["Constantinope", "Constantinopelian", "Constantinopol"]


def test_an_index_takes_only_so_many_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(close, "_MOST_LETTERS", 10)
    assert found("african bangladesch") == ["Africa"]
