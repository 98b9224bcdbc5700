"""Memory as people look after it: list, find, delete, confirm, export, import, count. It works on the files alone."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from merit.errors import InputError, counted
from merit.memory.entry import Entry, Grade, from_record, says_the_same, with_id
from merit.memory.store import MemoryStore, Tombstone, numbered_lines, open_file
from merit.types import Polarity, Status


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry in the files, and why it was deleted if it was."""

    entry: Entry
    deleted: str | None = None


def memory_in(folder: Path) -> Path:
    """The memory's own folder, where `folder` may also be a run's, which has its memory in it."""
    inner = folder / "memory"
    return inner if not _holds_one(folder) and _holds_one(inner) else folder


def _holds_one(folder: Path) -> bool:
    return any(os.path.lexists(folder / f"memory_{polarity}.jsonl") for polarity in Polarity)


def kept(folder: Path) -> Iterator[Kept]:
    """Every entry, deleted ones too, positive ones first."""
    store = MemoryStore(folder, writable=False)
    for polarity in Polarity:
        found: dict[str, Kept] = {}
        for line in store.lines(polarity):
            content = line.content
            if isinstance(content, Tombstone):
                if content.id in found:
                    found[content.id] = replace(found[content.id], deleted=content.reason)
            elif content.id in found:
                path = store.path(polarity)
                raise InputError(f"{path}: the id {content.id} is there twice; remove one of the lines")
            else:
                found[content.id] = Kept(content)
        yield from found.values()


def find(folder: Path, identity: str) -> Kept:
    """One entry by its id, or by a beginning of it that only one has."""
    found = [one for one in kept(folder) if one.entry.id.startswith(identity)]
    exact = [one for one in found if one.entry.id == identity]
    if len(exact or found) != 1:
        count = counted(len(found), "entry begins with", "entries begin with") if found else "there is no entry"
        raise InputError(f"{folder}: {count} {identity!r}; merit memory list shows all ids")
    return (exact or found)[0]


def delete(folder: Path, identity: str, reason: str) -> Entry:
    """Take an entry out of every later recall, and keep the reason."""
    one = find(folder, identity)
    if one.deleted is not None:
        raise InputError(f"{folder}: {one.entry.id} is deleted already ({one.deleted})")
    store = MemoryStore(folder)
    try:
        store.append({one.entry.polarity: [Tombstone(one.entry.id, reason)]})
    finally:
        store.close()
    return one.entry


def confirm(folder: Path, identity: str) -> tuple[Entry, Entry]:
    """Put a confirmed entry in the place of one that a person found right; returns the old one and the new one."""
    old = find(folder, identity).entry
    if old.polarity is Polarity.NEGATIVE:
        raise InputError(f"{folder}: {old.id} is a direction seen to fail; only a right answer can be confirmed")
    if old.grade is Grade.CONFIRMED:
        raise InputError(f"{folder}: {old.id} is confirmed already")
    new = with_id(replace(old, grade=Grade.CONFIRMED, outcome=Status.CORRECT, outcome_error=None))
    store = MemoryStore(folder)  # the lock first: nobody else may add meanwhile
    try:
        known = {one.entry.id: one for one in kept(folder)}
        for one in (known[old.id], known.get(new.id)):
            if one is not None and one.deleted is not None:
                raise InputError(f"{folder}: {one.entry.id} is deleted already ({one.deleted})")
        fresh = [] if new.id in known else [new]
        store.append({old.polarity: [*fresh, Tombstone(old.id, f"confirmed as {new.id}")]})  # both or neither
    finally:
        store.close()
    return old, new


def export(folder: Path, path: Path) -> int:
    """Write every entry that is not deleted to one file; returns how many."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "no regular file"
        raise InputError(f"{path}: is {kind}; name a file to write to")
    if path.absolute().parent.resolve() == folder.resolve():
        raise InputError(f"{path}: lies in the memory's own folder; export to another one")
    entries = [one.entry for one in kept(folder) if one.deleted is None]
    unfinished = path.with_name(path.name + ".part")
    text = "".join(entry.to_line() + "\n" for entry in entries)
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    return len(entries)


def import_entries(folder: Path, path: Path) -> tuple[int, int]:
    """Add the entries of an exported file; returns how many were new and how many were there. All or nothing."""
    store = MemoryStore(folder)  # the lock first: nobody else may add meanwhile
    try:
        fresh, there = _sift(path, {one.entry.id: one.entry for one in kept(folder)})
        store.append({polarity: [entry for entry in fresh if entry.polarity is polarity] for polarity in Polarity})
    finally:
        store.close()
    return len(fresh), there


def _sift(path: Path, known: dict[str, Entry]) -> tuple[list[Entry], int]:
    """The entries of a file that are not known, and how many are."""
    fresh: dict[str, Entry] = {}
    there = 0
    for number, entry in _read(path):
        where = f"{path}, line {number}"
        if with_id(entry).id != entry.id:
            raise InputError(f"{where}: the id {entry.id} does not follow from the entry; it was edited by hand")
        same = known.get(entry.id) or fresh.get(entry.id)
        if same is not None and not says_the_same(same, entry):
            raise InputError(f"{where}: another entry has the id {entry.id} already; nothing was imported")
        if same is None:
            fresh[entry.id] = entry
        else:
            there += 1
    return list(fresh.values()), there


def stats(folder: Path) -> dict[str, Any]:
    """Counts by polarity, type, database and grade."""
    everything = list(kept(folder))
    live = [one.entry for one in everything if one.deleted is None]
    return {
        "entries": len(live),
        "deleted": len(everything) - len(live),
        "by_polarity": _counts(entry.polarity for entry in live),
        "by_type": _counts(entry.type for entry in live),
        "by_database": _counts(entry.provenance.db_id for entry in live),
        "by_grade": _counts(entry.grade for entry in live),
        "bytes": sum(path.stat().st_size for path in folder.glob("memory_*.jsonl")),
    }


def _counts(values: Iterator[str]) -> dict[str, int]:
    return {str(value): count for value, count in sorted(Counter(values).items())}


def _read(path: Path) -> Iterator[tuple[int, Entry]]:
    with open_file(path) as file:
        for number, line in numbered_lines(file, path):
            if line.strip():
                yield number, _entry(line, f"{path}, line {number}")


def _entry(line: bytes, where: str) -> Entry:
    try:
        record = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise InputError(f"{where}: not valid JSON") from None
    return from_record(record, where)
