"""Filling in the template files. A value is put in as it is: braces inside it mean nothing.

The files are the paper's, for SQLite. For another dialect, the few words that name SQLite or its quotes are exchanged.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from merit.types import DIALECTS

_PLACEHOLDER = re.compile(r"\{([A-Z_]+(?:\(none\))?)\}")
_ALONE = re.compile(r"^\{([A-Z_]+(?:\(none\))?)\}\n(?:\n|(?=.))", re.MULTILINE)  # a line, or a paragraph, of its own
_BACKTICKS = "in backticks, for example `Column Name`"
_DOUBLE_QUOTES = 'in double quotes, for example "Column Name"'
LIVE = "live"  # the folder of the templates for live use
OWN = "own"  # and of what is said besides about a person's own database; no benchmark's prompt has any of it
_DOUBLE_QUOTED_NAMES = ("postgresql", "duckdb")


@cache
def read(name: str, dialect: str = "sqlite") -> str:
    """A template file's text."""
    text = (files(__package__) / "templates" / f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n")
    if dialect in _DOUBLE_QUOTED_NAMES:
        text = text.replace(_BACKTICKS, _DOUBLE_QUOTES)
    return text.replace(DIALECTS["sqlite"], DIALECTS[dialect])


@cache
def names(folder: str = "") -> tuple[str, ...]:
    """All templates of the paper's family, or those of another one in its folder."""
    prefix = f"{folder}/" if folder else ""
    place = files(__package__) / "templates" / folder
    found = (path.name.removesuffix(".txt") for path in place.iterdir() if path.name.endswith(".txt"))
    return tuple(f"{prefix}{name}" for name in sorted(found))


def fill(name: str, values: Mapping[str, str], dialect: str = "sqlite") -> str:
    """A template with every placeholder replaced; an optional part that is empty leaves no gap."""
    empty = frozenset(optional for optional in _optional(name) if not values[optional])
    parts = list(_parts(name, empty, dialect))
    parts[1::2] = [values[placeholder] for placeholder in parts[1::2]]
    return "".join(parts)


@cache
def _optional(name: str) -> tuple[str, ...]:
    """The placeholders of a template that stand alone."""
    return tuple(_ALONE.findall(read(name)))


@cache
def _parts(name: str, empty: frozenset[str], dialect: str) -> tuple[str, ...]:
    """A template without its empty optional parts: text, placeholder, text and so on."""
    whole = _ALONE.sub(lambda match: "" if match[1] in empty else match[0], read(name, dialect))
    return tuple(_PLACEHOLDER.split(whole))
