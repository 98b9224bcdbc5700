"""Texts without what people leave out or write differently: case, accents, plurals, spacing."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_SPACING = re.compile(r"[\s_]+|(?<=[^\W\d_])-(?=[^\W\d_])")  # a hyphen between letters; one before a digit is a minus
_MOST_PARTS = 4  # that a letter comes apart into, on average: Hangul has 3; one ligature of Arabic has 18
_SHORTEST_PLURAL = 4  # letters; three are as often a code (GAS, BUS) as a plural

# Words of questions that are seldom meant as values, as `words` gives them: codes are called AND, FOR or ALL, too.
_COMMON = (
    "a about after all also an and any are as at average be been before between both but by can did different "
    "distinct do does each every find first for from give had has have how i if in into is it its last least less "
    "list many maximum me minimum more most much name no not number of on one only or other our out over per please "
    "return same show some such than that the their them then there these they thi this those to total two under up "
    "us was we were what when where which while who whose why will with you your"
)
COMMON_WORDS = frozenset(_COMMON.split())


def folded(text: str) -> str:
    """A text without case and accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    if len(decomposed) > _MOST_PARTS * len(text):  # an index may have 200,000 such texts
        return text.casefold()
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def singular(word: str) -> str:
    """A folded word without the ending of an English plural."""
    if not word.endswith("s") or len(word) < _SHORTEST_PLURAL or word.endswith("ss") or not word.isalpha():
        return word
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + instead
    return word


def words(text: str) -> list[str]:
    """The folded singular words of a text."""
    return [singular(word) for word in _WORD.findall(folded(text))]


def key(text: str) -> str:
    """The folded singular words of a text, run together: what a text is looked up by."""
    plain = folded(text)
    if plain.isalnum() and not plain.endswith("s"):  # most texts are one word
        return plain
    return "".join([singular(word) for word in _WORD.findall(plain)])


def spelling(text: str) -> str:
    """A text without case, accents, plurals and spacing, but with its punctuation: C++ is not C, and 1.5 not 15."""
    return "".join([singular(word) for word in _SPACING.split(folded(text))])
