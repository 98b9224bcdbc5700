"""Identifiers and questions as words, and how far a word that is asked means a word of a name."""

import re
from collections.abc import Iterable, Sequence

from merit.values.words import COMMON_WORDS, folded, singular

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CHUNK = re.compile(r"[^\W_]+")
_LONGEST_WORD = 12  # letters; longer parts of names are seldom one word
_SPOKEN = re.compile(r"[^\W\d_]+|\d+")
_CLAUSE = re.compile(r"[.,;:?!()\"]|\band\b|\bto\b|\bplease\b")
_SHORTEST_JOINED = 8  # letters; shorter parts are words, not words run together
_SHORTEST_PIECE = 3  # letters of a word inside a run-together part
_SHORT_PIECES = frozenset({"id", "ip", "no", "s"})

# Words that many schemas have: what run-together names are split by, beside the schema's own words.
_USUAL = (
    "account action active address agent amount area author balance bank begin bill binding birth book branch budget "
    "building card category center change channel city class client code color comment company contact cost count "
    "country course created credit currency current customer data date day delivery department description detail "
    "device discount district document email employee end event fee file first flag floor full gender grade group "
    "hour image index invoice item key language last level line list location login long manager member message "
    "method month name network number office order organization owner parent password payment period person phone "
    "plan point policy port position post price product profile project quantity rate rating reason record reference "
    "region report request result role room router salary school score section security segment service session "
    "setting sex shop size source start state status stock store street student subject tag target tax team term "
    "time title total type unit update user value version vendor view volume week weight year zip"
)
USUAL_NAMES = frozenset(_USUAL.split())
# Asking for something, not naming it, at the beginning of a clause: "list the owners" but "the mailing list".
_COMMAND = "list show count state group display order rank report detail name number provide retrieve give"
_COMMANDS = frozenset(_COMMAND.split())
_SAYING = (
    "sort sorted ordered ascending descending provide retrieve include including corresponding associated along "
    "information unique result row starting whether well across based compute calculate respectively using among "
    "within ensure following"
)
_NOT_ASKED = (COMMON_WORDS | frozenset(_SAYING.split())) - {"name", "number", "total", "first", "last", "list"}
_INITIALS_SKIP = frozenset({"of", "for", "the", "and", "in"})

# How sure a kind of likeness is, by judgement; not tuned.
_SAME_STEM, _ABBREVIATION, _INSIDE = 0.8, 0.7, 0.6
INITIALS = 0.9
_LEAST_STEM = 5  # letters that two forms of a word share at their beginning
_LEAST_STEM_SHARE = 0.6
_MOST_REMEMBERED = 20_000  # asked words
_USUAL_SHORT = {
    "acct": "account",
    "addr": "address",
    "amt": "amount",
    "bldg": "building",
    "cnt": "count",
    "curr": "current",
    "dept": "department",
    "desc": "description",
    "dest": "destination",
    "grp": "group",
    "img": "image",
    "mgr": "manager",
    "msg": "message",
    "nbr": "number",
    "num": "number",
    "org": "organization",
    "pct": "percent",
    "prev": "previous",
    "qty": "quantity",
    "sqft": "footage",
    "src": "source",
    "tel": "phone",
    "usr": "user",
    "vm": "instance",
    "yr": "year",
}


def parts(name: str) -> list[str]:
    """A name cut at underscores, digits and changes of case."""
    chunks = _CHUNK.findall(name)
    return [folded(part) for chunk in chunks for part in (_PART.findall(chunk) if chunk.isascii() else [chunk])]


class NameSplitter:
    """Splits names into singular words, run-together ones by the words that other names have."""

    def __init__(self, names: Iterable[str]) -> None:
        several = [own for own in map(parts, names) if len(own) > 1]  # what stands beside other parts is a word
        seen = {part for own in several for part in own if part.isalpha()}
        self._known = {part for part in seen if _SHORTEST_PIECE <= len(part) <= _LONGEST_WORD} | USUAL_NAMES

    def words(self, name: str) -> list[str]:
        """The words of a name."""
        return [singular(piece) for part in parts(name) for piece in self._pieces(part)]

    def _pieces(self, part: str) -> list[str]:
        """The fewest known words that make up a part; the part itself where there are none."""
        if len(part) < _SHORTEST_JOINED or part in self._known:
            return [part]
        best: list[list[str] | None] = [[], *[None] * len(part)]
        for start in range(len(part)):
            so_far = best[start]
            if so_far is None:
                continue
            for end in range(start + 1, len(part) + 1):
                piece = part[start:end]
                if piece in _SHORT_PIECES or piece in self._known:
                    longer = best[end]
                    if longer is None or len(so_far) + 1 < len(longer):
                        best[end] = [*so_far, piece]
        found = best[-1]
        return [piece for piece in found if piece != "s"] if found else [part]


def question_words(question: str) -> list[str]:
    """The words of a question that may name something, in order, once each."""
    found: dict[str, None] = {}
    for clause in _CLAUSE.split(folded(question)):
        spoken = [singular(word) for word in _SPOKEN.findall(clause)]
        for place, word in enumerate(spoken):
            follows = spoken[place + 1] if place + 1 < len(spoken) else ""
            if place == 0 and word in _COMMANDS and (follows in COMMON_WORDS or word not in {"name", "number"}):
                continue
            if word not in _NOT_ASKED:
                found[word] = None
    return list(found)


def initials(question: str, known: Iterable[str]) -> list[str]:
    """Known words that three or four neighbouring words of a question begin with: Center for International Studies."""
    spoken = [word for word in _SPOKEN.findall(folded(question)) if word not in _INITIALS_SKIP]
    runs = ("".join(w[0] for w in spoken[at : at + size]) for size in (3, 4) for at in range(len(spoken) - size + 1))
    wanted = set(known)
    return [run for run in dict.fromkeys(runs) if run in wanted]


class StoredWords:
    """The words of names, found by a word that is asked."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._by_letter: dict[str, list[int]] = {}
        for place, word in enumerate(words):
            self._by_letter.setdefault(word[0], []).append(place)
        self._found: dict[str, list[tuple[int, float]]] = {}

    def like(self, asked: str) -> list[tuple[int, float]]:
        """The places of the words that an asked word may mean, and how surely."""
        if asked not in self._found:
            near = set(self._by_letter.get(asked[0], []))
            usual = {_USUAL_SHORT.get(asked)} | {short for short, word in _USUAL_SHORT.items() if word == asked}
            inside = len(asked) >= _LEAST_STEM
            near |= {place for place, word in enumerate(self._words) if word in usual or (inside and asked in word)}
            if len(self._found) >= _MOST_REMEMBERED:
                self._found.clear()
            found = [(place, _likeness(asked, self._words[place])) for place in sorted(near)]
            self._found[asked] = [(place, sure) for place, sure in found if sure]
        return self._found[asked]


def _likeness(asked: str, stored: str) -> float:
    if asked == stored:
        return 1.0
    if _USUAL_SHORT.get(stored) == asked or _USUAL_SHORT.get(asked) == stored:
        return _ABBREVIATION
    if len(asked) < 4 or len(stored) < 3:
        return 0.0
    shared = _shared_beginning(asked, stored)
    if shared >= _LEAST_STEM and shared >= _LEAST_STEM_SHARE * max(len(asked), len(stored)):
        return _SAME_STEM
    if _abbreviates(stored, asked) or _abbreviates(asked, stored):
        return _ABBREVIATION
    return _INSIDE if len(asked) >= _LEAST_STEM and asked in stored else 0.0


def _shared_beginning(one: str, other: str) -> int:
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    return shared


def _abbreviates(short: str, word: str) -> bool:
    """Whether a word may be cut to a short one: its beginning, or its first letter and some consonants."""
    if len(short) < 3 or len(short) + 2 > len(word) or short[0] != word[0]:
        return False
    if word.startswith(short):
        return True
    letters = iter(word)
    vowels = sum(letter in "aeiou" for letter in short)
    return len(short) <= 5 and vowels <= 1 and all(letter in letters for letter in short)
