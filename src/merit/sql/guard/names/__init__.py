"""The lists of names that the guard decides by: text files with comments, for people to read and to correct."""

import re
from functools import cache
from importlib.resources import files


@cache
def names(file: str) -> frozenset[str]:
    """The names of one list."""
    text = files("merit.sql.guard.names").joinpath(f"{file}.txt").read_text("utf-8")
    return frozenset(name for line in text.splitlines() if not line.startswith("#") for name in line.split())


@cache
def pattern(file: str) -> re.Pattern[str]:
    """The names of one list in which * stands for any text, as one pattern."""
    return re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in sorted(names(file))))
