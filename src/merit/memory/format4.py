"""Memory format 4: one line of JSON a change, which says its format, its sequence number and its kind.

The beginning of a line has a fixed shape, so that a large log can be gone through without parsing it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from merit.errors import InputError
from merit.memory.records import (
    PROVENANCE_FIELDS,
    entry_record,
    parse_object,
    precedent_of,
    repair_of,
    shortened,
    take,
)
from merit.reading import sendable
from merit.types import Change, Deletion, Entry, Precedent, Repair, Restoration, Staleness

FORMAT = 4
LOG_NAME = "memory.jsonl"
LINE_BYTES = 16 << 20  # an entry is a question, a schema, two queries and two messages: kilobytes
_DAMAGED = "damaged; restore the file from a copy or remove that line"
_HEAD = re.compile(
    rb'\{"format":4,"sequence":([1-9][0-9]{0,17}),"more":(0|[1-9][0-9]{0,8}),'
    rb'"kind":"([a-z]+)","id":"((?:pos|neg|pre)-[0-9a-f]{16})"'
)
_MOST = 10**18


class Head(NamedTuple):  # a million are made when a large log is opened, and a dataclass takes twice as long
    """How a line begins."""

    sequence: int
    more: int  # lines of the same append that follow this one: an append is whole when its last line is
    kind: str
    id: str  # of the entry that the change brings or is about


def change_record(change: Change) -> dict[str, Any]:
    """A change as plain values: its kind and its fields."""
    match change:
        case Repair():
            return {"kind": "repair", **entry_record(change)}
        case Precedent():
            return {"kind": "precedent", **entry_record(change)}
        case Deletion():
            return {"kind": "deletion", "id": change.id, "reason": sendable(change.reason)}
        case Restoration():
            return {"kind": "restoration", "id": change.id, "reason": sendable(change.reason)}
        case Staleness():
            about = {"id": change.id, "stale": change.stale, "reason": sendable(change.reason)}
            return {"kind": "staleness", **about}


def entry_line(entry: Entry) -> str:
    """An entry by itself, outside a log, as one line of JSON: what an export holds."""
    return _json({"format": FORMAT, **change_record(entry)})


def log_line(change: Change, sequence: int, more: int = 0) -> bytes:
    """A change as its line of a log, always the same bytes for the same change."""
    return (_json({"format": FORMAT, "sequence": sequence, "more": more, **change_record(change)}) + "\n").encode()


def log_lines(changes: Sequence[Change], last_sequence: int) -> Iterator[bytes]:
    """The lines of one append that follows a sequence number; a change that is too long is refused."""
    for number, change in enumerate(changes, 1):
        line = log_line(change, last_sequence + number, len(changes) - number)
        if len(line) > LINE_BYTES:
            kind = change_record(change)["kind"]
            raise InputError(f"{kind} {change.id}: longer than {LINE_BYTES >> 20} MiB; nothing was written")
        yield line


def parse_head(line: bytes, where: str) -> Head:
    """The beginning of a line, without parsing the rest of it where merit wrote it."""
    if found := _HEAD.match(line):
        return Head(int(found[1]), int(found[2]), found[3].decode(), found[4].decode())
    return _head(_checked_format(parse_object(line, where, _DAMAGED), where), where)


def parse_line(line: bytes, where: str) -> Change:
    """The change of a line of a log."""
    record = _checked_format(parse_object(line, where, _DAMAGED), where)
    _head(record, where)
    return _change({name: value for name, value in record.items() if name not in ("sequence", "more")}, where)


def parse_entry(record: dict[str, Any], where: str) -> Entry:
    """The entry of a record outside a log."""
    change = _change(_checked_format(record, where), where)
    if not isinstance(change, Repair | Precedent):
        raise InputError(f"{where}: a {record['kind']}, where an entry is expected")
    return change


def _change(record: dict[str, Any], where: str) -> Change:
    fields = {name: value for name, value in record.items() if name not in ("format", "kind")}
    match record.get("kind"):
        case "repair":
            return repair_of(fields, where, FORMAT, PROVENANCE_FIELDS)
        case "precedent":
            return precedent_of(fields, where, FORMAT, PROVENANCE_FIELDS)
        case "deletion":
            return Deletion(**take(fields, ("id", "reason"), where, FORMAT))
        case "restoration":
            return Restoration(**take(fields, ("id", "reason"), where, FORMAT))
        case "staleness":
            return Staleness(**take(fields, ("id", "stale", "reason"), where, FORMAT))
        case other:
            raise InputError(f"{where}: the kind {shortened(other)} is unknown to this merit; update it")


def _head(record: dict[str, Any], where: str) -> Head:
    kind, identity = record.get("kind"), record.get("id")
    if not isinstance(kind, str) or not isinstance(identity, str):
        raise InputError(f"{where}: every change has a kind and an id, both text")
    return Head(_number(record, "sequence", 1, where), _number(record, "more", 0, where), kind, identity)


def _number(record: dict[str, Any], name: str, least: int, where: str) -> int:
    value = record.get(name)
    if type(value) is not int or not least <= value < _MOST:
        raise InputError(f"{where}: the field {name!r} cannot be {shortened(value)}")
    return value


def _checked_format(record: dict[str, Any], where: str) -> dict[str, Any]:
    version = record.get("format")
    if version != FORMAT or isinstance(version, bool):
        newer = isinstance(version, int) and version > FORMAT
        advice = "it was written by a newer merit: update this one" if newer else "it is not a line of a memory"
        raise InputError(f"{where}: memory format {shortened(version)}, this merit reads {FORMAT}; {advice}")
    return record


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def readable(entry: Entry) -> Entry:
    """The entry, if it could be read back."""
    return parse_entry({"format": FORMAT, **change_record(entry)}, f"entry {entry.id}")
