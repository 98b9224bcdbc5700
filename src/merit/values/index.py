"""The texts that a database stores, by column, and how they are found again."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from merit.types import Value
from merit.values.close import CloseTexts
from merit.values.words import COMMON_WORDS, key, spelling, words

_LONGEST_PHRASE = 12  # words of a question that may be one value
_SHORTEST_KEY = 3  # letters; a shorter value must stand in the question exactly as it is stored
_SHORTEST_NUMBER = 3  # digits and signs; shorter ones are in every other question
_LONGEST_QUESTION = 2_000  # characters; what follows is not looked at

Mention = tuple[str, str, str]  # table, column, value
Phrases = dict[str, list[range]]  # by key, the places of the words that it is made of


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """What is known of one column."""

    table: str
    column: str
    examples: tuple[Value, ...]  # frequent ones first; numbers too
    texts: tuple[str, ...]  # distinct, sorted
    complete: bool  # whether `texts` are all that the column has, but for long ones


class ValueIndex:
    """The distinct texts of a database's columns, found by word and by groups of letters."""

    def __init__(self, columns: Sequence[ColumnValues]) -> None:
        self.columns = tuple(columns)
        self._by_name = {_name(column.table, column.column): column for column in self.columns}
        self._spellings: dict[tuple[str, str], dict[str, list[str]]] = {}

    def examples(self, table: str, column: str, most: int = 3) -> list[Value]:
        """A few values of a column, frequent ones first; numbers as numbers."""
        found = self._by_name.get(_name(table, column))
        return list(found.examples[:most]) if found else []

    def nearest(self, table: str, column: str, literal: str) -> str | None:
        """The only stored text that differs from a literal by case, accents, plural or spacing alone.

        None where the literal itself is stored, and where it is not known which texts the column has.
        """
        name = _name(table, column)
        found = self._by_name.get(name)
        if found is None or not found.complete:
            return None
        if name not in self._spellings:
            self._spellings[name] = _grouped(spelling, found.texts)
        same = self._spellings[name].get(spelling(literal), [])
        return same[0] if len(same) == 1 and same[0] != literal else None

    def mentioned(self, question: str, most: int = 8) -> list[Mention]:
        """The stored texts that a question mentions: those in it, the longest first, then those that nearly are."""
        asked = question[:_LONGEST_QUESTION]
        spoken = words(asked)
        phrases = _phrases(spoken)
        found: list[Mention] = []
        free = set(range(len(spoken)))  # places of the words that no text was found for
        for phrase in sorted(phrases.keys() & self._texts_by_key.keys(), key=lambda phrase: (-len(phrase), phrase)):
            mentions = [mention for mention in self._mentions(phrase) if _is_meant(mention[2], phrase, asked)]
            found += mentions
            free -= {place for span in phrases[phrase] for place in span if mentions}
        found = _without_parts(found, most)
        if len(found) < most:
            found += [mention for key in self._close.find(_runs(spoken, free)) for mention in self._mentions(key)]
        return found[:most]

    def _mentions(self, phrase: str) -> list[Mention]:
        return [(column.table, column.column, text) for column, text in self._texts_by_key[phrase]]

    @cached_property
    def _texts_by_key(self) -> dict[str, list[tuple[ColumnValues, str]]]:
        """Every text that may be shown, with its column, by its key."""
        found: dict[str, list[tuple[ColumnValues, str]]] = {}
        for column in self.columns:
            for text in column.texts:
                if text.isprintable() and (phrase := key(text)):  # a line break could end the line that it is shown in
                    found.setdefault(phrase, []).append((column, text))
        return found

    @cached_property
    def _close(self) -> CloseTexts:
        names = {word for column in self.columns for name in (column.table, column.column) for word in words(name)}
        return CloseTexts({key: texts[0][1] for key, texts in self._texts_by_key.items()}, frozenset(names))


def _name(table: str, column: str) -> tuple[str, str]:
    return table.lower(), column.lower()


def _grouped(form: Callable[[str], str], texts: Iterable[str]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for text in texts:
        grouped.setdefault(form(text), []).append(text)
    return grouped


def _phrases(spoken: list[str]) -> Phrases:
    """Every run of neighbouring words, run together, and where it stands."""
    found: Phrases = {}
    for start in range(len(spoken)):
        for end in range(start + 1, min(start + _LONGEST_PHRASE, len(spoken)) + 1):
            found.setdefault("".join(spoken[start:end]), []).append(range(start, end))
    return found


def _runs(spoken: list[str], free: set[int]) -> list[list[str]]:
    """The words of a question at the free places, neighbours together."""
    runs: list[list[str]] = [[]]
    for place, word in enumerate(spoken):
        if place in free:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return runs


def _without_parts(mentions: list[Mention], most: int) -> list[Mention]:
    """The first mentions without those that are words of a longer one of the same column: York in New York.

    No more are looked for than are wanted: a column may have thousands that differ in punctuation or spacing alone.
    """
    kept: list[Mention] = []
    spoken: dict[tuple[str, str], list[str]] = {}
    for table, column, text in mentions:
        longer = spoken.setdefault((table, column), [])
        phrase = _as_phrase(text)
        if not any(phrase in other and phrase != other for other in longer):
            kept.append((table, column, text))
            longer.append(phrase)
        if len(kept) == most:
            break
    return kept


def _is_meant(text: str, phrase: str, question: str) -> bool:
    """Whether a question means a text whose key is a phrase in it.

    Short texts and common words must stand in it exactly as they are stored, numbers with their parts apart.
    """
    if phrase.isdigit() and len(text) >= _SHORTEST_NUMBER:
        return _as_phrase(text) in _as_phrase(question)
    if len(phrase) >= _SHORTEST_KEY and phrase not in COMMON_WORDS:
        return True
    if re.search(rf"""(["'`]){re.escape(text)}\1""", question):
        return True
    is_name = text.isupper() and len(text) > 1 if phrase in COMMON_WORDS else text != text.lower()  # US; but not I
    return is_name and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", question) is not None


def _as_phrase(text: str) -> str:
    return f" {' '.join(words(text))} "
