"""Files on disk: written whole or not at all, locked by one process at a time, hashed together."""

import errno
import fcntl
import hashlib
import io
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from merit.errors import InputError, MeritError

_WAY_OUT = "choose another place"
# `is_locked` holds a lock for a moment; `take_lock` tries often before it calls a file locked, so that not even a
# process that looks all the time keeps another one out.
_TRIES, _PAUSE_S = 50, 0.01
# Begins a rollback journal of SQLite, and also ends one that names a super-journal: https://sqlite.org/fileformat.html
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
# The first page of a database holds its catalogue, behind the 100 bytes of the file's header: the kind of page (13: a
# leaf), 2 bytes about free room, 2 for the number of rows.
_PAGE_KIND, _ROW_COUNT, _LEAF = 100, slice(103, 105), 13
_MOST_AT_ONCE = 4 << 20  # bytes read of an archive; the list of a backup's files has 2 MiB at most, a wheel's much less


class ArchiveFile(io.FileIO):
    """A zip archive's bytes, read within bounds: zipfile reads the list of files whole, whatever size it claims."""

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes; many are asked for only where the list of files is longer than an honest archive's."""
        if size is not None and size > _MOST_AT_ONCE:
            raise ValueError(f"an archive whose list of files has {size} bytes")
        return super().read(size) or b""


def unfinished_path(path: Path) -> Path:
    """Where a file is written until it is whole."""
    return path.with_name(f"{path.name}.part")


@contextmanager
def atomic_write(path: Path, *, fault: type[MeritError] = InputError, way_out: str = _WAY_OUT) -> Iterator[BinaryIO]:
    """A file to write; it takes its name once it is on disk, and what a full disk left of it is removed.

    One process at a time: another would give its name to what this one has not finished.
    """
    if str(path) == "-":
        raise fault("-: standard output cannot be chosen here; name a file")
    unfinished = unfinished_path(path)
    if is_locked(unfinished):
        raise fault(f"{path}: another process is writing it; wait for that one, or {way_out}")
    try:
        unfinished.unlink(missing_ok=True)
        with unfinished.open("xb") as file:  # a new file: nothing is written through a link
            with suppress(OSError):  # a file system without locks
                take_lock(file.fileno())
            yield file
            file.flush()
            os.fsync(file.fileno())
            unfinished.replace(path)
    except OSError as error:
        if error.filename not in (None, str(unfinished)):
            raise  # of another file
        raise fault(f"{path}: cannot be written ({error.strerror}); {way_out}") from error
    finally:
        with suppress(OSError):
            unfinished.unlink()


def what_to_do(error: OSError) -> str:
    """What to do about a folder in which a file cannot be written."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "make room, or choose another one" if full else "make the folder writable, or choose another one"


def is_file(path: Path) -> bool:
    """Whether a regular file is there; a name that cannot be looked at (an endless link, no permission) is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def file_state(path: Path | bytes) -> tuple[int, ...]:
    """What changes whenever a file is replaced or written to; empty where there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a path may be bytes, as it is sent to a worker
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def write_all(file: int, data: bytes) -> None:
    """Write all of the data; the system may take it in parts."""
    while data:
        data = data[os.write(file, data) :]


def take_lock(file: int) -> bool:
    """Lock an open file for this process alone until it is closed; False where another process holds it."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(_PAUSE_S)
    return False


def open_regular(path: Path, flags: int) -> int:
    """Open a regular file; an OSError for a link, and for a pipe or device, which may block or act."""
    try:
        file = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # the system's words do not say what is there
            raise OSError(error.errno, "a link or a pipe, not a regular file", str(path)) from None
        raise
    if stat.S_ISREG(os.fstat(file).st_mode):
        return file
    os.close(file)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def is_locked(path: Path) -> bool | None:
    """Whether a process holds the lock of a file; None where that cannot be found out."""
    try:
        file = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # given back at once
        return False
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(file)


def hash_listing(hashes: Iterable[tuple[str, str]]) -> str:
    """One hash over many files, given by their names and the hashes of their content."""
    listing = hashlib.sha256()
    for name, content in hashes:
        listing.update(os.fsencode(name) + f"\0{content}\n".encode())
    return listing.hexdigest()


def beside(database: Path, suffix: str) -> Path:
    """A file that SQLite keeps with a database: it lies beside what a link leads to, and has that name."""
    return Path(f"{os.path.realpath(database)}{suffix}")


def without_tables(database: Path) -> bool:
    """Whether a SQLite file has no tables: 0 bytes of a failed download, or a catalogue without a row.

    Read from the file's first page. False where a journal beside it may hold another one, and where it cannot be read:
    using it says why.
    """
    if any(is_file(beside(database, suffix)) for suffix in ("-wal", "-journal")):
        return False
    try:
        with database.open("rb") as file:
            page = file.read(_ROW_COUNT.stop)
    except OSError:
        return False
    return not page or (page[_PAGE_KIND : _PAGE_KIND + 1] == bytes([_LEAF]) and page[_ROW_COUNT] == bytes(2))


def names_super_journal(database: Path) -> bool:
    """Whether the journal beside a SQLite database names another file: SQLite would delete that file, whichever it is.

    Only a commit over several databases that was cut short leaves such a journal; so does a stranger with bad intent.
    """
    journal = beside(database, "-journal")
    if not is_file(journal):
        return False
    with journal.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_JOURNAL_MAGIC)))
        return file.read() == _JOURNAL_MAGIC
