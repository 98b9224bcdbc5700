"""What earlier confirmed questions tell about a later one, compared with the plain way to compute it."""

import math

import pytest

from merit.selection import Selector
from merit.selection.words import question_words
from merit.types import Schema

QUESTIONS = (
    "How well did the boiler run yesterday?",
    "How well did the pump run?",
    "Which pump ran well yesterday?",
    "What does the boiler cost?",
)


def cosine(question: str, other: str) -> float:
    """Of words, each weighted by the square of its logarithmic rarity among all questions."""

    def weight(word: str) -> float:
        times = sum(word in question_words(text) for text in QUESTIONS)
        return math.log(1 + len(QUESTIONS) / times if times else 1 + len(QUESTIONS)) ** 2

    one, two = set(question_words(question)), set(question_words(other))
    lengths = [math.sqrt(sum(map(weight, words))) for words in (one, two)]
    return sum(map(weight, one & two)) / math.prod(lengths)


def test_tables_of_similar_questions_count_by_their_likeness(large: Schema) -> None:
    earlier = Selector(large, budget=150).confirmed()
    for number, text in enumerate(QUESTIONS):
        earlier.add(text, f"SELECT reading_{number}_1 FROM sensor_{number}")
    asked = "How well did the new boiler run?"
    use = earlier.recall(asked)
    assert use is not None
    squares = [cosine(asked, text) ** 2 for text in QUESTIONS]
    names = [table.name for table in large.tables]
    places = [names.index(f"plant.SENSOR_{number}") for number in range(4)]
    assert use.tables[places, 1].tolist() == pytest.approx([square / (sum(squares) + 0.1) for square in squares])
    assert use.times.sum() == 4
    assert use.nearest[places[0]] == QUESTIONS[0]


def test_what_is_added_later_counts_at_the_next_question(large: Schema) -> None:
    earlier = Selector(large, budget=150).confirmed()
    earlier.add(QUESTIONS[0], "SELECT reading_1_1 FROM sensor_1")
    assert earlier.recall(QUESTIONS[1]) is not None
    earlier.add(QUESTIONS[1], "SELECT reading_2_1 FROM sensor_2")
    use = earlier.recall(QUESTIONS[1])
    assert use is not None
    assert QUESTIONS[1] in use.nearest.values()
