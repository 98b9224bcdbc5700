"""Pairs of a question and SQL, as files of other tools hold them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from merit.reading import sendable, shown

QUESTION_CHARACTERS = 10_000  # the longest question of BIRD has 300


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and the SQL that answers it. What a file does not say is empty."""

    question: str
    sql: str
    where: str = ""  # its file and line, or its place in the file
    author: str = ""  # the person who said that it is right
    time: str = ""  # when, ISO 8601
    database: str = ""  # the database that it is about, where a file has pairs of several


@dataclass(frozen=True, slots=True)
class SkippedPair:
    """Something in a file that does not become an entry, and why."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """What a file holds."""

    pairs: tuple[Pair, ...]
    skipped: tuple[SkippedPair, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A file's text."""

    path: Path
    text: str


def pair_of(
    question: object, sql: object, where: str, *, author: object = "", time: object = "", database: object = ""
) -> Pair | SkippedPair:
    """A pair of values from a file, or why they are none."""
    for name, value in (("question", question), ("SQL", sql)):
        if value is None or value == "":
            return SkippedPair(where, f"has no {name}")
        if not isinstance(value, str):
            return SkippedPair(where, f"its {name} should be a text, not {shown(value)}")
        if not value.strip():
            return SkippedPair(where, f"its {name} is blank")
    asked, statement = sendable(str(question)).strip(), sendable(str(sql)).strip()
    if len(asked) > QUESTION_CHARACTERS:
        return SkippedPair(where, f"its question has more than {QUESTION_CHARACTERS} characters")
    return Pair(asked, statement, where, _text(author), _text(time), _text(database))


def found(items: Iterable[Pair | SkippedPair]) -> FoundPairs:
    """Pairs, and what is none, each in its order."""
    listed = list(items)
    return FoundPairs(
        tuple(item for item in listed if isinstance(item, Pair)),
        tuple(item for item in listed if isinstance(item, SkippedPair)),
    )


def _text(value: object) -> str:
    """A text that may be missing; anything else says nothing."""
    return sendable(value).strip()[:200] if isinstance(value, str) else ""
