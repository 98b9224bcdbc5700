"""Stored texts that are nearly in a question: a typing error apart, or another form of a word."""

from collections.abc import Iterable, Mapping, Sequence

from merit.values.grams import GramIndex, grams, likeness
from merit.values.words import COMMON_WORDS, words

# Tried on questions of Spider's training split: below these, nearly all that is found is not meant.
_CLOSE = 0.7  # likeness of a text and a phrase of as many words
_CLOSE_WORD = 0.6  # likeness of each word: "the airport" is not Blythe Airport
_LEAST_SHARED = _CLOSE / (2 - _CLOSE)  # of a text's own groups: with fewer, no phrase is as close as that
_SHORTEST, _LONGEST = 5, 40  # letters; shorter texts are too alike, longer ones are written otherwise, not wrongly
_MOST_LETTERS = 2_000_000  # of all texts; an index of these takes half a second and 150 MB to make
_CANDIDATES = 100  # texts that are compared with each phrase
_MOST = 3

Phrase = Sequence[str]  # folded singular words


class CloseTexts:
    """Finds texts by groups of three letters, then compares them word by word."""

    def __init__(self, texts: Mapping[str, str], names: frozenset[str]) -> None:
        """Take texts by their keys, and the words that name tables and columns, which are not meant as texts."""
        self._keys = _searched(texts)
        self._texts = texts
        self._grams = GramIndex(self._keys)
        self._passed_over = COMMON_WORDS | names

    def find(self, runs: Sequence[Phrase]) -> list[str]:
        """The keys of the few texts that are close to a phrase in these runs of words, the most alike first."""
        # A group of three letters is of three words at most, so longer phrases have no others.
        short = ("".join(phrase) for length in (1, 2, 3) for phrase in _phrases(runs, length))
        wanted = frozenset[str]().union(*map(grams, short))
        phrases: dict[int, list[tuple[Phrase, frozenset[str]]]] = {}  # by length, made where a text needs them
        found: list[tuple[float, int, str]] = []
        for number in self._grams.sharing(wanted, _LEAST_SHARED, _CANDIDATES):
            key = self._keys[number]
            own_words, own_grams = words(self._texts[key]), grams(key)
            length = len(own_words)
            if length not in phrases:
                phrases[length] = [(phrase, grams("".join(phrase))) for phrase in _phrases(runs, length)]
            alike = [likeness(own_grams, groups) for phrase, groups in phrases[length] if self._fits(own_words, phrase)]
            if max(alike, default=0.0) >= _CLOSE:
                found.append((-max(alike), -len(key), key))
        return [key for _, _, key in sorted(found)[:_MOST]]

    def _fits(self, own_words: Phrase, phrase: Phrase) -> bool:
        """Whether each word of a phrase may stand for that of a text."""
        return all(
            own == spoken or (spoken not in self._passed_over and likeness(grams(own), grams(spoken)) >= _CLOSE_WORD)
            for own, spoken in zip(own_words, phrase, strict=True)
        )


def _searched(keys: Iterable[str]) -> list[str]:
    """The keys that are looked for, as many as there is room for; not codes and numbers, which must be right."""
    searched, room = [], _MOST_LETTERS
    for key in keys:
        if _SHORTEST <= len(key) <= _LONGEST and key.isalpha():
            room -= len(key)
            if room < 0:
                break
            searched.append(key)
    return searched


def _phrases(runs: Sequence[Phrase], length: int) -> list[Phrase]:
    return [run[start : start + length] for run in runs for start in range(len(run) - length + 1)]
