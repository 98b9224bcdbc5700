"""From parsed JSON to entries, with every field checked: what is wrong with a record is said in one sentence."""

import json
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from merit.errors import InputError
from merit.reading import STRICT_JSON
from merit.types import (
    Entry,
    FailureSubtype,
    FailureType,
    Grade,
    Polarity,
    Precedent,
    Provenance,
    Repair,
    Status,
    is_scope,
)

REPAIR_FIELDS = tuple(field.name for field in fields(Repair))
PRECEDENT_FIELDS = tuple(field.name for field in fields(Precedent))
_SCOPE = "scope"  # is left out of a record where an entry is for everyone, as in all records of merit 0.1
PROVENANCE_FIELDS = tuple(field.name for field in fields(Provenance) if field.name != _SCOPE)
# Free text of an entry.
TEXT_FIELDS = ("question", "schema", "before", "db_error", "after", "outcome_error", "sql", "lesson")
_LEFT_OUT = ("lesson",)  # where an entry has none
_NONE_ALLOWED = ("db_error", "outcome_error", "author", "time", "schema_fingerprint", "dialect")
_NUMBERS = ("position", "step")
_SCOPES_SINCE = 4  # the memory format
_LARGEST = 2**62  # columns of the index hold 64-bit integers
_BEYOND = 2**63  # no dataset has such an id, and no line of JSON with one is read
ENTRY_ID = re.compile(r"(?:pos|neg|pre)-[0-9a-f]{16}")


def parse_object(data: bytes, where: str, problem: str) -> dict[str, Any]:
    """The JSON object of a line; `problem` says what to do where it is none."""
    try:
        record = STRICT_JSON.decode(data.decode())
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise InputError(f"{where}: {problem}") from None
    except ValueError as error:  # keys that are there twice, numbers that are too large
        raise InputError(f"{where}: {problem} ({error})") from None
    if not isinstance(record, dict):
        raise InputError(f"{where}: expected a JSON object")
    return record


def repair_of(record: Mapping[str, Any], where: str, version: int, provenance: Collection[str]) -> Repair:
    """The repair of a record that has exactly a repair's fields; `provenance` names those that say where it is from."""
    taken = take(record, REPAIR_FIELDS, where, version)
    try:
        return Repair(
            **{
                **taken,
                "schema": sys.intern(taken["schema"]),
                "polarity": Polarity(taken["polarity"]),
                "status": Status(taken["status"]),
                "type": FailureType(taken["type"]),
                "subtype": FailureSubtype(taken["subtype"]),
                "outcome": Status(taken["outcome"]),
                "grade": Grade(taken["grade"]),
                "provenance": _provenance(taken["provenance"], where, version, provenance),
            }
        )
    except ValueError as error:
        raise InputError(f"{where}: {_middle_left_out(str(error))}") from None


def precedent_of(record: Mapping[str, Any], where: str, version: int, provenance: Collection[str]) -> Precedent:
    """The precedent of a record that has exactly a precedent's fields."""
    taken = take(record, PRECEDENT_FIELDS, where, version)
    try:
        return Precedent(
            **{
                **taken,
                "schema": sys.intern(taken["schema"]),  # entries of one database hold one text, however many there are
                "observed": Status(taken["observed"]),
                "outcome": Status(taken["outcome"]),
                "grade": Grade(taken["grade"]),
                "provenance": _provenance(taken["provenance"], where, version, provenance),
            }
        )
    except ValueError as error:
        raise InputError(f"{where}: {_middle_left_out(str(error))}") from None


def take(record: Mapping[str, Any], names: Collection[str], where: str, version: int) -> Mapping[str, Any]:
    """The record, if it has exactly the fields `names`, each with a value of its type."""
    wanted = set(names)
    for name in sorted(wanted - set(record) - set(_LEFT_OUT)):
        raise InputError(f"{where}: the field {name!r} is missing")
    for name in sorted(set(record) - wanted):
        raise InputError(f"{where}: the field {shortened(name)} does not belong to memory format {version}")
    for name, value in record.items():
        if not _fits(name, value):
            raise InputError(f"{where}: the field {name!r} cannot be {shortened(value)}")
    return record


def _fits(name: str, value: object) -> bool:
    if name == "provenance":
        return True  # checked by itself
    if name == "stale":
        return isinstance(value, bool)
    if name in _NUMBERS:
        return type(value) is int and abs(value) < _LARGEST
    if name == "question_id" and type(value) is int:
        return -_BEYOND <= value < _BEYOND
    if value is None:
        return name in _NONE_ALLOWED
    if not isinstance(value, str) or clean(value) != value:
        return False
    if name == _SCOPE:
        return is_scope(value)
    return name != "id" or ENTRY_ID.fullmatch(value) is not None


def _provenance(record: object, where: str, version: int, names: Collection[str]) -> Provenance:
    if not isinstance(record, dict):
        raise InputError(f"{where}, provenance: missing; every entry says where it comes from")
    if _SCOPE in record and version >= _SCOPES_SINCE:
        names = (*names, _SCOPE)
    return Provenance(**take(record, names, f"{where}, provenance", version))


def provenance_record(provenance: Provenance, names: Collection[str] = PROVENANCE_FIELDS) -> dict[str, Any]:
    """Where an entry comes from, as plain values."""
    return {name: getattr(provenance, name) for name in names}


def entry_record(entry: Entry) -> dict[str, Any]:
    """An entry's fields as plain values, in their order."""
    names = REPAIR_FIELDS if isinstance(entry, Repair) else PRECEDENT_FIELDS
    record = with_lesson({name: getattr(entry, name) for name in names})
    record["provenance"] = provenance_record(entry.provenance)
    if entry.provenance.scope is not None:
        record["provenance"][_SCOPE] = entry.provenance.scope
    return record


def with_lesson(record: dict[str, Any]) -> dict[str, Any]:
    """A record that has a lesson only where there is one, so that entries without one are what they always were."""
    return {name: value for name, value in record.items() if name not in _LEFT_OUT or value is not None}


def clean(text: str) -> str:
    """The text with every lone surrogate, which cannot be written as UTF-8, as a question mark."""
    return text.encode("utf-8", "replace").decode()


def shortened(value: object) -> str:
    """A value from a file, for a message: short, on one line, however long or deep it is."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return _middle_left_out(repr(value))


def _middle_left_out(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:60]}...{text[-37:]}"
