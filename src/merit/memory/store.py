"""A memory in a folder: one log file, memory.jsonl, that several processes may append to and follow.

A change is committed when `append` returns: its line is whole and on the disk. What a crash left of an append was never
acknowledged; the next writer cuts it off, with a notice. Damage anywhere else is refused with file and line. The lock
is held while something is appended, and no longer. A memory of format 3 is read as it is; the first append turns it
into a log and puts its files aside, into the folder format-3.
"""

import logging
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from merit.errors import InputError, MemoryChanged, MemoryUnusable
from merit.files import atomic_write, what_to_do
from merit.memory import format3
from merit.memory.files import is_json, last_line, open_to_append, sync_folder, write_all
from merit.memory.format4 import LINE_BYTES, LOG_NAME, log_line, log_lines
from merit.memory.lock import WriterLock
from merit.memory.log import Log
from merit.memory.purging import purge_lines, purged_log, remove_folder
from merit.types import Change, Entry

LOCK_NAME = "memory.lock"
ASIDE = "format-3"  # where the files of format 3 go
INDEX = "index"
_logger = logging.getLogger(__name__)


def has_memory(folder: Path) -> bool:
    """Whether a folder holds a memory, of whatever format."""
    return os.path.lexists(folder / LOG_NAME) or bool(format3.files_in(folder))


def memory_folder(folder: Path) -> Path:
    """The memory's own folder, where `folder` may also be a run's, which has its memory in it."""
    inner = folder / "memory"
    return inner if not has_memory(folder) and has_memory(inner) else folder


class FileStore:
    """The log in a folder. Reading needs nothing; a writable store makes the folder where it is missing.

    An exclusive store keeps other writers out for as long as it is open. Usable from many threads.
    """

    def __init__(self, folder: Path, *, writable: bool = True, exclusive: bool = False) -> None:
        self.folder = folder
        self._mutex = threading.RLock()
        self.purges = 0
        self._closed = False
        self._broken = False  # an append could neither be finished nor be taken back
        if not writable and not has_memory(folder):
            why = f"no {LOG_NAME}" if folder.exists() else "the folder does not exist"
            raise MemoryUnusable(f"{folder}: there is no memory here ({why})")
        self._lock = _open_lock(folder) if writable else None
        try:
            if self._lock is not None:
                self._open_for_writing(self._lock, exclusive)
            else:
                self._log = _open_log(folder)
        except OSError as error:
            self.close()
            raise MemoryUnusable(
                f"{error.filename or folder}: cannot be written ({error.strerror}); {what_to_do(error)}"
            ) from error
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        return str(self.folder)

    def append(self, changes: Sequence[Change], *, expected: int | None = None) -> int:
        """Commit changes, all of them or none; see `Store.append`."""
        with self._changing():
            purges = self.purges
            self._follow()
            if expected is not None and (expected != self._log.sequence or purges != self.purges):
                raise MemoryChanged(f"{self.folder}: another process changed this memory first; try again")
            if changes:
                self._append(changes)
            return self._log.sequence

    def since(self, sequence: int) -> Iterator[tuple[int, Change]]:
        """The changes committed after a sequence number."""
        with self._mutex:
            self._follow()
            return self._log.since(sequence)

    def read(self, ids: Iterable[str]) -> list[Entry]:
        """Entries by their ids."""
        with self._mutex:
            self._follow()
            return [self._log.entry(identity) for identity in ids]

    def fingerprint(self, sequence: int) -> str | None:
        """The hash of the log's bytes up to a sequence number."""
        with self._mutex:
            self._check_usable()
            return self._log.fingerprint(sequence)

    def erase(self, ids: Iterable[str]) -> int:
        """Take entries out of the file itself; in their place stays, under the same number, that they were purged.

        Whatever else holds them goes first: the index, which is made again, and the files of format 3 put aside. Other
        processes that have this memory open read it anew.
        """
        with self._changing():
            self._follow()
            try:
                if self._log.is_converted:
                    self._convert()
                _put_aside(self.folder)
                for name in (ASIDE, INDEX):
                    remove_folder(self.folder / name)
                self._log, erased = purge_lines(self._log, frozenset(ids))
                self.purges += 1
                sync_folder(self.folder)
            except OSError as error:
                raise MemoryUnusable(f"{self.folder}: could not be purged ({error.strerror}); purge again") from error
            return erased

    def close(self) -> None:
        """Give back the lock."""
        self._closed = True
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """One change at a time, of this process and of others; refused in a store that is only read."""
        if self._lock is None and not self._closed:
            raise MemoryUnusable(f"{self.folder}: opened for reading only")
        with self._mutex:
            self._check_usable()
            assert self._lock is not None
            with self._lock:
                yield

    def _open_for_writing(self, lock: WriterLock, exclusive: bool) -> None:
        with lock:
            if not format3.files_in(self.folder):
                os.close(open_to_append(self.folder / LOG_NAME))
            sync_folder(self.folder)
        self._log = _open_log(self.folder)  # without the lock, since a large log takes seconds
        with lock:
            self._follow()
            if not self._log.is_converted:
                self._cut_unfinished()
            if exclusive:
                lock.__enter__()  # left when the store is closed

    def _check_usable(self) -> None:
        if self._closed:
            raise MemoryUnusable(f"{self.folder}: this memory is closed")
        if self._broken:
            raise MemoryUnusable(f"{self.folder}: a write went wrong; open this memory again")

    def _follow(self) -> None:
        """See what other processes have appended."""
        self._check_usable()
        if self._log.is_converted and os.path.lexists(self._log.path):  # another process has turned it into a log
            log = Log(self._log.path)
            log.advance()
            if log.fingerprint(self._log.sequence) != self._log.fingerprint(self._log.sequence):
                raise MemoryUnusable(f"{self.folder}: changed by something other than merit; open this memory again")
            self._log = log
        try:
            self._log.advance()
        except MemoryUnusable:
            if (purged := purged_log(self._log)) is None:
                raise
            self._log, self.purges = purged, self.purges + 1

    def _append(self, changes: Sequence[Change]) -> None:
        lines = list(log_lines(changes, self._log.sequence))
        try:
            if self._log.is_converted:
                self._convert()
            _put_aside(self.folder)
            self._cut_unfinished()
            self._write(b"".join(lines))
        except OSError as error:
            raise MemoryUnusable(f"{self.folder}: nothing was added ({error.strerror}); nothing is lost") from error
        self._log.note(lines)

    def _write(self, data: bytes) -> None:
        file = open_to_append(self._log.path)
        try:
            write_all(file, data)
            os.fsync(file)
        except BaseException:
            try:
                os.ftruncate(file, self._log.end)  # leave no part of it behind
            except OSError as error:
                self._broken = True
                raise MemoryUnusable(
                    f"{self.folder}: could not be written, nor cut back to what it was ({error.strerror}); "
                    "open this memory again to have that done"
                ) from error
            raise
        finally:
            os.close(file)

    def _cut_unfinished(self) -> None:
        """Cut off what follows the last whole append: it was being written when its process died."""
        file = open_to_append(self._log.path)
        try:
            size = os.fstat(file).st_size
            if size > self._log.end and is_json(last_line(file, max(self._log.end, size - LINE_BYTES), size)):
                write_all(file, b"\n")  # an editor's last line without its newline
                self._log.advance()
                size += 1
            if size > self._log.end:
                os.ftruncate(file, self._log.end)
                os.fsync(file)
                lost = size - self._log.end
                _logger.warning("%s: cut off %d bytes of a change that was never finished", self._log.path, lost)
        finally:
            os.close(file)

    def _convert(self) -> None:
        """Write the log of a memory of format 3. Until it has its name, the files of format 3 are the memory."""
        older = format3.files_in(self.folder)
        for path in older:
            if path.is_symlink():
                raise InputError(f"{path}: a link; put the file itself in its place, or remove it")
        content = _converted(self.folder)
        if content != self._log.content:
            raise MemoryUnusable(f"{self.folder}: changed by something other than merit; open this memory again")
        with atomic_write(self._log.path, fault=MemoryUnusable, way_out="nothing was changed") as file:
            file.write(content)
        sync_folder(self.folder)
        self._log = Log(self._log.path)
        self._log.advance()
        _logger.warning(
            "%s: turned into memory format 4; its files of format 3 are in %s", self.folder, self.folder / ASIDE
        )


def _open_lock(folder: Path) -> WriterLock:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return WriterLock(folder / LOCK_NAME)
    except OSError as error:
        raise MemoryUnusable(
            f"{error.filename or folder}: cannot be written ({error.strerror}); {what_to_do(error)}"
        ) from error


def _open_log(folder: Path) -> Log:
    path = folder / LOG_NAME
    while not os.path.lexists(path):
        try:
            content = _converted(folder)
        except InputError:
            if os.path.lexists(path):
                break  # another process has turned it into a log meanwhile
            raise
        log = Log(path, content)
        log.advance()
        if not os.path.lexists(path):
            return log
    log = Log(path)
    log.advance()
    if older := format3.files_in(folder):  # a conversion was cut short after the log was written, or goes on
        known = {change for _, change in log.since(0)}
        if not known.issuperset(format3.read_changes(folder)):
            raise InputError(
                f"{folder}: has {LOG_NAME} and also files of format 3 with something else in them; move "
                f"{older[0].name} elsewhere and add it with `merit memory import`"
            )
    return log


def _converted(folder: Path) -> bytes:
    """The log of a memory of format 3: each change is an append of its own."""
    changes = format3.read_changes(folder)
    return b"".join(log_line(change, sequence) for sequence, change in enumerate(changes, 1))


def _put_aside(folder: Path) -> None:
    """Move files of format 3 that the log holds out of the way."""
    older = format3.files_in(folder)
    if not older:
        return
    aside = folder / ASIDE
    if aside.is_symlink():
        raise InputError(f"{aside}: a link; remove it")
    aside.mkdir(exist_ok=True)
    for path in older:
        path.replace(aside / path.name)
    sync_folder(folder)
