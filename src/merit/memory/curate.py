"""What people do to a memory by hand, in any store: list, find, delete, confirm, export, import, copy, count."""

import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from merit.errors import Conflict, InputError, MemoryChanged, NotFound, counted
from merit.files import atomic_write
from merit.memory import format3, format4
from merit.memory.contents import Contents, Listed, read_contents
from merit.memory.files import numbered_lines, open_file
from merit.memory.identity import says_the_same, with_id
from merit.memory.opening import SizedStore, open_store
from merit.memory.records import parse_object
from merit.memory.store import FileStore
from merit.types import Change, Deletion, Entry, Grade, Polarity, Precedent, Repair, Status, Store, scope_kind

Result = TypeVar("Result")
LIVE_RUN = (
    "live"  # the run that entries learned from people's words name; a history beside the memory accounts for them
)
_IMPORTED_RUN = "imported"  # what such entries name where they were imported: their history is elsewhere


def entries_in(location: Path | str) -> list[Listed]:
    """Every entry of the memory in a folder or at a URL, deleted ones too, in the order in which they were learned."""
    with closing(open_store(location, writable=False)) as store:
        return list(read_contents(store).entries.values())


def find(store: Store, identity: str) -> Listed:
    """One entry by its id, or by a beginning of it that only one has."""
    return _find(store, read_contents(store), identity)


def delete(store: Store, identity: str, reason: str) -> Entry:
    """Take an entry out of every later recall, and keep the reason."""
    if not reason.strip():
        raise InputError(f"{store.name}: a deletion needs a reason; say why in --reason")

    def change(contents: Contents) -> tuple[Sequence[Change], Entry]:
        listed = _find(store, contents, identity)
        _check_there(store, listed)
        return [Deletion(listed.entry.id, reason)], listed.entry

    return _changed(store, change)


def confirm(store: Store, identity: str) -> tuple[Entry, Entry]:
    """Let a confirmed entry take over from one that a person found right; returns the old one and the new one."""

    def change(contents: Contents) -> tuple[Sequence[Change], tuple[Entry, Entry]]:
        listed = _find(store, contents, identity)
        old = listed.entry
        if old.polarity is Polarity.NEGATIVE:
            raise Conflict(f"{store.name}: {old.id} is a direction seen to fail; only a right answer can be confirmed")
        if old.grade is Grade.CONFIRMED:
            raise Conflict(f"{store.name}: {old.id} is confirmed already")
        new = with_id(_as_confirmed(old))
        _check_there(store, listed)
        _check_there(store, contents.entries.get(new.id))
        fresh = [] if new.id in contents.entries else [new]
        return [*fresh, Deletion(old.id, f"confirmed as {new.id}")], (old, new)

    return _changed(store, change)


def deleted_ids(store: Store) -> list[str]:
    """The entries that were deleted and are still in the file."""
    return [identity for identity, listed in read_contents(store).entries.items() if listed.deleted is not None]


def export(store: Store, path: Path, version: int = format4.FORMAT) -> int:
    """Write every entry that is not deleted to one file, in memory format 4 or 3; returns how many."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "not a regular file"
        raise InputError(f"{path}: is {kind}; name a file to write to")
    entries = [listed.entry for listed in read_contents(store).entries.values() if listed.deleted is None]
    if version == format3.FORMAT and any(entry.provenance.scope is not None for entry in entries):
        raise InputError(f"{store.name}: holds entries for some people alone, which format 3 would show to all; use 4")
    entry_line = format3.entry_line if version == format3.FORMAT else format4.entry_line
    lines = [entry_line(entry) for entry in entries]
    with atomic_write(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)
    return len(lines)


def import_entries(store: Store, path: Path) -> tuple[int, int, int]:
    """Add the entries of an exported file, all or none; a deleted one stays deleted.

    Returns how many were new, how many were there, and how many are deleted here.
    """

    def change(contents: Contents) -> tuple[Sequence[Change], tuple[int, int, int]]:
        fresh, known, deleted = _new_entries(path, contents.entries)
        return fresh, (len(fresh), known, deleted)

    return _changed(store, change)


def copy(source: Store, target: Store) -> int:
    """Append what a log holds to another, in its order and with its deletions; returns how many changes were new.

    The other is empty, or holds the beginning of the log: a copy can be brought up to date. Anything else is refused.
    """
    changes = [change for _, change in source.since(0)]
    there, last = 0, 0
    for last, change in target.since(0):
        if there == len(changes) or change != changes[there]:
            raise InputError(
                f"{target.name}: holds something other than a beginning of {source.name}, in change {last}; copy to a "
                "new memory, or add entries with `merit memory export` and `merit memory import`"
            )
        there += 1
    target.append(changes[there:], expected=last)
    return len(changes) - there


def next_position(store: Store) -> int:
    """A position after everything that a store holds, so that all of it is earlier."""
    listed = read_contents(store).entries.values()
    return 1 + max((item.entry.provenance.position for item in listed), default=-1)


def stats(store: Store) -> dict[str, Any]:
    """Counts by polarity, type, database and grade."""
    listed = read_contents(store).entries.values()
    live = [item.entry for item in listed if item.deleted is None]
    return {
        "entries": len(live),
        "deleted": len(listed) - len(live),
        "stale": sum(item.deleted is None and item.stale is not None for item in listed),
        "by_polarity": _counts(entry.polarity for entry in live),
        "by_type": _counts(entry.type for entry in live),
        "by_database": _counts(entry.provenance.db_id for entry in live),
        "by_grade": _counts(entry.grade for entry in live),
        "by_scope": _counts(scope_kind(entry.provenance.scope) for entry in live),
    }


def size_bytes(store: Store) -> int:
    """How much room a memory takes: its files, or what its server says."""
    if isinstance(store, FileStore):
        return file_bytes(store.folder)
    return store.size_bytes() if isinstance(store, SizedStore) else 0


def file_bytes(folder: Path) -> int:
    """How large the files of a memory are."""
    files = [path for path in (folder / format4.LOG_NAME, *format3.files_in(folder)) if os.path.lexists(path)]
    return sum(path.stat().st_size for path in files)


def _changed(store: Store, change: Callable[[Contents], tuple[Sequence[Change], Result]]) -> Result:
    """Append what `change` makes of a store's contents; where another process was first, look again."""
    while True:
        contents = read_contents(store)
        changes, result = change(contents)
        try:
            store.append(changes, expected=contents.sequence)
        except MemoryChanged:
            continue
        return result


def _find(store: Store, contents: Contents, identity: str) -> Listed:
    if identity in contents.entries:
        return contents.entries[identity]
    matches = [listed for known, listed in contents.entries.items() if known.startswith(identity)]
    if len(matches) != 1:
        count = counted(len(matches), "entry begins with", "entries begin with") if matches else "there is no entry"
        raise NotFound(
            f"{store.name}: {count} {identity!r}; `merit memory list {shlex.quote(store.name)}` shows all ids"
        )
    return matches[0]


def _check_there(store: Store, listed: Listed | None) -> None:
    if listed is not None and listed.deleted is not None:
        raise Conflict(f"{store.name}: {listed.entry.id} is deleted already ({listed.deleted})")


def _as_confirmed(entry: Entry) -> Entry:
    match entry:
        case Repair():
            return replace(entry, grade=Grade.CONFIRMED, outcome=Status.CORRECT, outcome_error=None)
        case Precedent():
            return replace(entry, grade=Grade.CONFIRMED, outcome=Status.CORRECT)


def _new_entries(path: Path, known: Mapping[str, Listed]) -> tuple[list[Entry], int, int]:
    """The entries of a file that are not known, how many are there, and how many are deleted."""
    fresh: dict[str, Entry] = {}
    there = deleted = 0
    for number, entry in _read(path):
        where = f"{path}, line {number}"
        if with_id(entry).id != entry.id:
            raise InputError(f"{where}: the id {entry.id} does not follow from the entry; it was edited by hand")
        listed = known.get(entry.id)
        same = listed.entry if listed else fresh.get(entry.id)
        if same is not None and not says_the_same(same, entry):
            raise InputError(f"{where}: another entry has the id {entry.id} already; nothing was imported")
        if same is None:
            run = _IMPORTED_RUN if entry.provenance.run == LIVE_RUN else entry.provenance.run
            fresh[entry.id] = replace(entry, provenance=replace(entry.provenance, run=run))
        elif listed and listed.deleted is not None:
            deleted += 1
        else:
            there += 1
    return list(fresh.values()), there, deleted


def _read(path: Path) -> Iterator[tuple[int, Entry]]:
    with open_file(path) as file:
        for number, line in numbered_lines(file, path, format4.LINE_BYTES):
            if line.strip():
                yield number, _entry(line, f"{path}, line {number}")


def _entry(line: bytes, where: str) -> Entry:
    """The entry of a line that this merit or an earlier one exported."""
    record = parse_object(line, where, "not valid JSON")
    if record.get("format") == format3.FORMAT:
        return format3.parse_entry(record, where)
    if "kind" not in record:
        raise InputError(f"{where}: is not an entry of a memory; give a file that `merit memory export` wrote")
    return format4.parse_entry(record, where)


def _counts(values: Iterable[str]) -> dict[str, int]:
    return {str(value): count for value, count in sorted(Counter(values).items())}
