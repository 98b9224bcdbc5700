"""Texts of strangers as lines of a prompt."""

import unicodedata

from merit.reading import sendable

DESCRIPTION_CHARACTERS = 500  # a long comment has 300; dbt projects have pages of Markdown
RULE_CHARACTERS = 1000
NAME_CHARACTERS = 100  # of a synonym, a term or a metric; PostgreSQL's own names have 63
EXPRESSION_CHARACTERS = 500
MOST_SYNONYMS = 20


def prompt_line(text: str, most: int) -> str:
    """A text that stays in its line of a prompt: one line, nothing invisible, at most so many characters."""
    # Before anything else, so that a text of megabytes takes no time; blanks that go later may leave it shorter.
    shown = "".join(_visible(character) for character in sendable(text[: 8 * most]))
    line = " ".join(shown.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return (
        "" if unicodedata.category(character) == "Cf" else " "
    )  # Cf: marks that turn a line's direction, and the like


def synonyms_of(texts: list[str]) -> tuple[str, ...]:
    """Other names as short lines, each once, not too many."""
    lines = (prompt_line(text, NAME_CHARACTERS) for text in texts)
    unique = {line.casefold(): line for line in lines if line}
    return tuple(unique.values())[:MOST_SYNONYMS]
