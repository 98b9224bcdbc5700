"""The schemas that a database has had, and the lineage of entries under the schema that they were learned with.

Both are kept beside the memory: schemas under their fingerprints, lineages in a cache that can be made anew.
"""

import hashlib
import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from merit.errors import MeritError
from merit.files import atomic_write, is_file, open_regular, write_all
from merit.live.schema.drift import statement
from merit.live.schema.lineage import Columns, Lineage, lineage, read_lineage
from merit.memory import Entry
from merit.reading import LINES_BYTES, parse_json, read_bytes, read_text
from merit.types import Schema

SCHEMAS, LINEAGE, CHECKED = "schemas", "lineage.jsonl", "checked.json"
_FINGERPRINT = re.compile("[0-9a-f]{16}")
_FORMAT = 1


def fingerprint(schema_text: str) -> str:
    """A hash of what a schema says."""
    return hashlib.sha256(schema_text.encode()).hexdigest()[:16]


class KnownSchemas:
    """What is known about the schemas of one database, past and present."""

    def __init__(self, folder: Path, schema: Schema, dialect: str) -> None:
        """The folder is that of memory and history; the present schema is kept there."""
        self._folder = folder
        self._dialect = dialect
        self.now = Columns.of(schema)
        self._name = schema.db_id
        self._present = fingerprint(schema.text())
        self._past: dict[str, Columns | None] = {self._present: self.now}
        self._cache: dict[str, Lineage] | None = None
        self._distinct: dict[str, Lineage] = {}  # by what they say
        self._keep(self._present)

    def lineage_of(self, entry: Entry) -> Lineage:
        """What an entry uses; computed once, with the schema that it was learned with where that is known."""
        if self._cache is None:
            known = _read_cache(self._folder / LINEAGE)
            self._cache = {entry: self._shared(found) for entry, found in known.items()}
        if entry.id not in self._cache:
            learned = self._columns(entry.provenance.schema_fingerprint or "")
            dialect = entry.provenance.dialect or self._dialect
            found = lineage(statement(entry), learned or self.now, dialect, as_learned=learned is not None)
            self._cache[entry.id] = found = self._shared(found)
            if found.known:
                self._append(entry.id, found)
        return self._cache[entry.id]

    def _shared(self, found: Lineage) -> Lineage:
        """One object for all lineages that are equal: most statements use what others use as well."""
        return self._distinct.setdefault(_json(found.record()), found)

    def checked_until(self, memory: str) -> int | None:
        """Up to which number of a memory's log entries were compared with the present schema; None: they were not."""
        match self._checked().get(self._name):
            case {"schema": self._present, "memory": str(name), "sequence": int(sequence)} if name == memory:
                return sequence
            case _:
                return None

    def note_checked(self, memory: str, sequence: int) -> None:
        """The entries of a memory were compared with the present schema, up to a number of its log."""
        looked = {"schema": self._present, "memory": memory, "sequence": sequence}
        _write(self._folder / SCHEMAS / CHECKED, {**self._checked(), self._name: looked})

    def _checked(self) -> dict[str, Any]:
        """Which schema each database's entries were compared with last, and up to where."""
        path = self._folder / SCHEMAS / CHECKED
        with suppress(MeritError):
            known = parse_json(read_text(path), path)
            return known if isinstance(known, dict) else {}
        return {}

    def _columns(self, identity: str) -> Columns | None:
        """The columns of an earlier schema; None where it is not known."""
        if identity not in self._past:
            path = self._folder / SCHEMAS / f"{identity}.json"
            known = _FINGERPRINT.fullmatch(identity) is not None and is_file(path)
            self._past[identity] = _read_columns(path) if known else None
        return self._past[identity]

    def _keep(self, identity: str) -> None:
        path = self._folder / SCHEMAS / f"{identity}.json"
        if not os.path.lexists(path):
            _write(path, {"format": _FORMAT, "tables": self.now.types})

    def _append(self, identity: str, found: Lineage) -> None:
        line = _json({"entry": identity, **found.record()}) + "\n"
        with suppress(OSError):  # it is only a cache
            file = open_regular(self._folder / LINEAGE, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                write_all(file, line.encode())
            finally:
                os.close(file)


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _write(path: Path, record: dict[str, Any]) -> None:
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(json.dumps(record, ensure_ascii=False).encode())


def _read_columns(path: Path) -> Columns | None:
    """The columns of a schema that was kept; None where the file is damaged."""
    with suppress(MeritError, KeyError, TypeError, AttributeError):
        tables = parse_json(read_text(path), path)["tables"]
        if all(isinstance(text, str) for used in tables.values() for pair in used.items() for text in pair):
            return Columns(tables)
    return None


def _read_cache(path: Path) -> dict[str, Lineage]:
    """The lineages that were computed before; a line that is damaged is computed again."""
    found: dict[str, Lineage] = {}
    if not is_file(path):
        return found
    for line in read_bytes(path, LINES_BYTES).splitlines():
        with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
            record: Any = json.loads(line)
            if isinstance(record["entry"], str):
                found[record["entry"]] = read_lineage(record)
    return found
