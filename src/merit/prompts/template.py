"""Filling in the template files. A value is put in as it is: braces inside it mean nothing."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_PLACEHOLDER = re.compile(r"\{([A-Z_]+(?:\(none\))?)\}")
_ALONE = re.compile(r"^\{([A-Z_]+(?:\(none\))?)\}\n(?:\n|(?=.))", re.MULTILINE)  # a line, or a paragraph, of its own


@cache
def read(name: str) -> str:
    """A template file's text."""
    return (files(__package__) / "templates" / f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n")


def names() -> list[str]:
    """All templates there are."""
    folder = files(__package__) / "templates"
    return sorted(path.name.removesuffix(".txt") for path in folder.iterdir() if path.name.endswith(".txt"))


def fill(name: str, values: Mapping[str, str]) -> str:
    """A template with every placeholder replaced; an optional part that is empty leaves no gap."""
    template = _ALONE.sub(lambda found: found[0] if values[found[1]] else "", read(name))
    return _PLACEHOLDER.sub(lambda found: values[found[1]], template)
