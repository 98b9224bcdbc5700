"""What an entry is called: its id follows from what it says, not from the run, position or time it was learned at."""

import hashlib
from dataclasses import replace
from typing import Any

from merit.memory import format3
from merit.memory.records import TEXT_FIELDS, clean
from merit.types import Entry


def with_id(entry: Entry) -> Entry:
    """The entry under its own id.

    Lone surrogates, which a model can be made to emit and which no file can hold, become question marks.
    """
    values = {name: getattr(entry, name) for name in TEXT_FIELDS if name in entry.__slots__}
    texts: dict[str, Any] = {name: None if value is None else clean(value) for name, value in values.items()}
    cleaned = replace(entry, **texts)
    digest = hashlib.sha256(format3.canonical_json(_content(cleaned)).encode()).hexdigest()[:16]
    return replace(cleaned, id=f"{entry.polarity[:3]}-{digest}")


def says_the_same(entry: Entry, other: Entry) -> bool:
    """Whether two entries differ at most in where and when they were learned."""
    return _content(entry) == _content(other)


def _content(entry: Entry) -> dict[str, Any]:
    content = {**format3.record_of(entry), "id": ""}
    provenance = content["provenance"]
    content["provenance"] = {name: provenance[name] for name in ("question_id", "db_id", "step")}
    if entry.provenance.scope is not None:  # so that what two people keep to themselves are two entries
        content["provenance"]["scope"] = entry.provenance.scope
    return content
