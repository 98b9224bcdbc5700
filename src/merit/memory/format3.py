"""Memory format 3, of merit up to 0.1: three files, one for each pool. It is read, and turned into format 4 and back.

An entry's id is still the hash of its content as format 3 has it, so that ids stay what they are.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.memory import format4
from merit.memory.files import numbered_lines, open_file
from merit.memory.records import (
    REPAIR_FIELDS,
    parse_object,
    precedent_of,
    provenance_record,
    repair_of,
    shortened,
    take,
    with_lesson,
)
from merit.types import (
    Change,
    Deletion,
    Entry,
    FailureSubtype,
    FailureType,
    Polarity,
    Precedent,
    Repair,
)

FORMAT = 3
_PROVENANCE = ("run", "question_id", "db_id", "position", "step", "episode")
# What format 3 wrote of a precedent's failure, which it does not have.
_NO_FAILURE = {
    "before": "",
    "db_error": None,
    "type": FailureType.UNKNOWN,
    "subtype": FailureSubtype.UNKNOWN,
    "outcome_error": None,
}


def file_name(polarity: Polarity) -> str:
    """The file of a pool."""
    return f"memory_{polarity}.jsonl"


FILE_NAMES = tuple(file_name(polarity) for polarity in Polarity)


def files_in(folder: Path) -> list[Path]:
    """The files of format 3 that a folder has."""
    return [folder / name for name in FILE_NAMES if os.path.lexists(folder / name)]


def record_of(entry: Entry) -> dict[str, Any]:
    """An entry's fields in format 3."""
    match entry:
        case Repair():
            record = with_lesson({name: getattr(entry, name) for name in REPAIR_FIELDS})
        case Precedent():
            shared = {name: getattr(entry, name) for name in ("id", "question", "schema", "outcome", "grade")}
            answer = {"polarity": Polarity.PRECEDENT, "after": entry.sql, "status": entry.observed}
            record = with_lesson({**_NO_FAILURE, **shared, **answer, "lesson": entry.lesson})
    record["provenance"] = provenance_record(entry.provenance, _PROVENANCE)
    return record


def entry_line(entry: Entry) -> str:
    """An entry as format 3 wrote it."""
    return canonical_json({"format": FORMAT, **record_of(entry)})


def canonical_json(record: Mapping[str, Any]) -> str:
    """JSON that is the same for the same values, in whatever order they come."""
    return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def parse_entry(record: Mapping[str, Any], where: str) -> Entry:
    """The entry of a record of format 3."""
    fields = {name: value for name, value in record.items() if name != "format"}
    if fields.get("polarity") != Polarity.PRECEDENT:
        return repair_of(fields, where, FORMAT, _PROVENANCE)
    take(fields, REPAIR_FIELDS, where, FORMAT)
    for name, value in _NO_FAILURE.items():
        if fields[name] != value:
            raise InputError(f"{where}: the field {name!r} of a precedent cannot be {shortened(fields[name])}")
    answer = {name: fields[name] for name in ("id", "question", "schema", "outcome", "grade", "provenance")}
    precedent = {**answer, "sql": fields["after"], "observed": fields["status"]}
    return precedent_of(precedent, where, FORMAT, _PROVENANCE)


def read_changes(folder: Path) -> list[Change]:
    """All changes of a memory of format 3, positive ones first, then negative ones, then precedents.

    A deletion counts for earlier lines of its own file alone: others have no effect and are left out.
    """
    changes: list[Change] = []
    for polarity in Polarity:
        known = set()
        for where, change in _read_file(folder / file_name(polarity)):
            if isinstance(change, Deletion):
                if change.id in known:
                    changes.append(change)
                continue
            if change.polarity is not polarity:
                raise InputError(f"{where}: a {change.polarity} entry in the wrong file")
            known.add(change.id)
            changes.append(change)
    return changes


def _read_file(path: Path) -> Iterator[tuple[str, Entry | Deletion]]:
    if not os.path.lexists(path):
        return
    with open_file(path) as file:
        for number, data in numbered_lines(file, path, format4.LINE_BYTES):
            if not data.endswith(b"\n"):
                return  # a line that was never finished
            where = f"{path}, line {number}"
            yield where, _parse_line(data, where)


def _parse_line(data: bytes, where: str) -> Entry | Deletion:
    record = parse_object(data, where, "damaged; restore the file from a copy or remove that line")
    version = record.get("format")
    if version != FORMAT:
        raise InputError(
            f"{where}: memory format {shortened(version)}, where format {FORMAT} is expected; "
            "it was not written by merit, or by a newer one"
        )
    if "delete" not in record:
        return parse_entry(record, where)
    identity, reason = record["delete"], record.get("reason", "")
    if not isinstance(identity, str) or not isinstance(reason, str):
        raise InputError(f"{where}: a deletion names an id and a reason, both text, not {shortened(record)}")
    return Deletion(identity, reason)
