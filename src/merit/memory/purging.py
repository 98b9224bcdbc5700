"""Erasing entries from the files of a memory, so that no byte of what they said is left."""

import shutil
from pathlib import Path

from merit.errors import InputError, MemoryUnusable
from merit.files import atomic_write
from merit.memory.files import numbered_lines, open_file, refuse_link
from merit.memory.format4 import LINE_BYTES, log_line, parse_head
from merit.memory.log import Log
from merit.types import Deletion

PURGED = "purged"  # the reason that stays, instead of any that people gave


def purge_lines(log: Log, ids: frozenset[str]) -> tuple[Log, int]:
    """Write a log again without some entries; sequence numbers stay, so that positions mean what they meant."""
    erased = 0
    with open_file(log.path, through_link=False) as file, atomic_write(log.path, fault=MemoryUnusable) as new:
        for number, line in numbered_lines(file, log.path, LINE_BYTES):
            if file.tell() > log.end:
                break  # what a crash left of an append
            head = parse_head(line, log.where(number))
            if head.id in ids:
                erased += head.kind in ("repair", "precedent")
                line = log_line(Deletion(head.id, PURGED), head.sequence, head.more)
            new.write(line)
    again = Log(log.path)
    again.advance()
    return again, erased


def purged_log(older: Log) -> Log | None:
    """The log as another process's purge left it; None where something else happened to the file."""
    log = Log(older.path)
    try:
        log.advance()
        replaced = older.replaced_in(log)
    except InputError:  # no log at all
        return None
    if replaced is None or any(change != Deletion(change.id, PURGED) for change in replaced):
        return None
    return log


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it, or a file in its place; a link is refused, since it may lead anywhere."""
    refuse_link(folder)
    if folder.is_dir():
        shutil.rmtree(folder)
    else:  # rmtree would wait for a pipe's writer
        folder.unlink(missing_ok=True)
