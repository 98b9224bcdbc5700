"""Fences around what databases and people wrote: data that cannot end its fence, and cannot grow without limit.

A model may still believe what it reads. The fence says what is data; what a reply may do is decided elsewhere: it is
executed read-only, and nothing that it says raises a grade.
"""

import re

OPEN, CLOSE = "<data>", "</data>"
MOST_CHARACTERS = 200_000  # of one part of a prompt: beyond any schema that a model has room for
_TAG = re.compile(r"<(?=\s*+/?\s*+(?:data|answer)\b)", re.IGNORECASE)
_BLOCK = "```"  # a template's own fence


def fenced(text: str, most: int = MOST_CHARACTERS) -> str:
    """A text inside a fence; one line stays one line, and an empty text needs no fence."""
    if not text:
        return ""
    gap = "\n" if "\n" in text else ""
    return f"{OPEN}{gap}{escaped(text, most)}{gap}{CLOSE}"


def escaped(text: str, most: int = MOST_CHARACTERS) -> str:
    """A text without anything that would end or begin a fence: a blank parts what looks like one, so SQL stays SQL."""
    shown = text if len(text) <= most else f"{text[:most]}…"
    visible = "\n".join(line if line.isprintable() else _visible(line) for line in shown.split("\n"))
    return _TAG.sub("< ", visible.replace(_BLOCK, "` ` `"))


def _visible(line: str) -> str:
    return "".join(character for character in line if character.isprintable() or character == "\t")
