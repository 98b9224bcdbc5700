"""What a run is: everything that decides its content, so that two runs of one identity are the same bytes."""

import hashlib
import json
import platform
import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from merit import __version__

FORMAT = 1


def make_manifest(identity: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of a run with this identity."""
    return {
        "format": FORMAT,
        "run": run_id(identity),
        "identity": dict(identity),
        "made_with": {"merit": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version},
    }


def run_id(identity: Mapping[str, Any]) -> str:
    """The run's name: a hash of its identity."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def difference(there: Any, here: Any, field: str = "") -> str | None:
    """The first field in which two identities differ, with both values; None where they do not."""
    if isinstance(there, dict) and isinstance(here, dict):
        for name in dict.fromkeys([*there, *here]):  # in the manifest's order, the telling ones first
            found = difference(there.get(name), here.get(name), f"{field}.{name}".strip("."))
            if found:
                return found
        return None
    return None if there == here else f"{field} is {_short(there)} there and {_short(here)} here"


@cache
def code_hash() -> str:
    """One hash over merit's own source and templates."""
    listing = hashlib.sha256()
    for name, content in sorted(_sources(files("merit"))):
        listing.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return listing.hexdigest()[:16]


def _sources(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for path in folder.iterdir():
        if path.is_dir() and path.name != "__pycache__":
            yield from _sources(path, f"{prefix}{path.name}/")
        elif path.name.endswith((".py", ".txt")):
            yield f"{prefix}{path.name}", path.read_bytes()


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
