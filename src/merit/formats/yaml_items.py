"""Lists of objects in YAML documents."""

from collections.abc import Iterator
from typing import Any

from merit.errors import InputError
from merit.formats.pair import Document
from merit.reading import shown
from merit.yaml import parse_yaml

MOST_EVENTS = 1_000_000  # 50,000 verified queries with all their fields


def items_of(document: Document, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of the list under a name, each with its place."""
    value = parse_yaml(document.text, document.path, most_events=MOST_EVENTS)
    if not isinstance(value, dict) or name not in value:
        raise InputError(f"{document.path}: has no list {name!r}")
    yield from items_in(value, name, document)


def items_in(value: dict[str, Any], name: str, document: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a list of an object that was read."""
    listed = value.get(name) or []
    if not isinstance(listed, list):
        raise InputError(f"{document.path}: {name} should be a list, not {shown(listed)}")
    for number, item in enumerate(listed):
        where = f"{document.path}, {name}[{number}]"
        if not isinstance(item, dict):
            raise InputError(f"{where}: should be an object with fields, not {shown(item)}")
        yield where, item
