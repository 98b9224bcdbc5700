"""Lists that a model changes by operations, a line each, so that what it does not mention stays as it is."""

import re
from typing import NamedTuple

_LONGEST = 300  # characters of an item


class Operation(NamedTuple):
    """One change to a list: a word, the number of an item (0 for none), and a text."""

    word: str
    number: int
    text: str


def operations(reply: str, words: tuple[str, ...], most: int) -> list[Operation]:
    """The first operations in a reply, such as `EDIT 3: ...`; anything else in it is passed over."""
    pattern = re.compile(rf"^[ \t*>-]*({'|'.join(words)})\b[ ]*(\d{{0,4}})[ \t:.)*-]*(.*)$", re.MULTILINE)
    found = [(word, int(number or 0), " ".join(text.split())) for word, number, text in pattern.findall(reply)]
    return [Operation(word, number, text[:_LONGEST]) for word, number, text in found][:most]
