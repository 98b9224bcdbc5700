"""Opening a SQLite file to read it: any file, from anywhere.

Nothing is left beside a file that is frozen. Beside another one in WAL mode, SQLite keeps a -shm and a -wal, which all
who have it open share; the last program that may write it removes them.
"""

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import apsw

from merit.files import beside, names_super_journal
from merit.types import Cause, Error

_SUPER_JOURNAL = (
    "its journal names another file, which SQLite would delete; remove the journal if the database is right "
    "without it, or get the data anew"
)
_EMPTY = (
    "the file is empty, and SQLite would delete the -wal file beside it, which may hold what was in it; move that "
    "file away"
)
_BESIDE = ("-wal", "-journal", "-shm")  # files that SQLite opens together with a database
CAUSES = {
    apsw.SQLITE_READONLY: Cause.READ_ONLY,
    apsw.SQLITE_TOOBIG: Cause.TOO_LARGE,
    apsw.SQLITE_NOMEM: Cause.TOO_LARGE,
    # The database itself is never written, so only temporary files can run out of room.
    apsw.SQLITE_FULL: Cause.TOO_LARGE,
    apsw.SQLITE_CANTOPEN: Cause.DATABASE_UNREADABLE,
    apsw.SQLITE_CORRUPT: Cause.DATABASE_UNREADABLE,
    apsw.SQLITE_NOTADB: Cause.DATABASE_UNREADABLE,
    apsw.SQLITE_BUSY: Cause.DATABASE_BUSY,
    apsw.SQLITE_LOCKED: Cause.DATABASE_BUSY,
    apsw.SQLITE_IOERR: Cause.DATABASE_UNREADABLE,
    apsw.SQLITE_PERM: Cause.DATABASE_UNREADABLE,
}


class Unopened(Exception):
    """A database that cannot be opened; `error` says why."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.message)
        self.error = error


def primary_code(error: apsw.Error) -> int:
    """SQLite's primary result code; 0 for apsw's own errors."""
    return (getattr(error, "result", None) or 0) & 0xFF


def code_name(error: apsw.Error) -> str:
    """SQLite's extended result code by name, such as SQLITE_ERROR; empty for apsw's own errors."""
    code = getattr(error, "extendedresult", None) or getattr(error, "result", None) or 0
    names = {**apsw.mapping_result_codes, **apsw.mapping_extended_result_codes}
    return str(names.get(code, code)) if code else ""


def unopened(error: apsw.Error) -> Unopened:
    """SQLite's refusal to open a file, with its cause."""
    cause = CAUSES.get(primary_code(error), Cause.DATABASE_UNREADABLE)
    return Unopened(Error(cause, str(error), code_name(error)))


def open_file(path: Path, frozen: bool, scratch: Path) -> apsw.Connection:
    """Open a file read-only, leaving nothing beside it where `frozen` is promised."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for its writer
            raise Unopened(Error(Cause.DATABASE_UNREADABLE, "not a regular file"))
    except FileNotFoundError:
        raise Unopened(Error(Cause.DATABASE_MISSING, "there is no such database file")) from None
    except OSError as error:
        raise Unopened(Error(Cause.DATABASE_UNREADABLE, str(error))) from None
    for suffix in _BESIDE:
        with suppress(OSError):  # most have none, and it may go at any time
            if not stat.S_ISREG(beside(path, suffix).stat().st_mode):  # as above
                raise Unopened(Error(Cause.DATABASE_UNREADABLE, f"its {suffix} file is not a regular file"))
    if not frozen and status.st_size == 0 and os.path.lexists(beside(path, "-wal")):
        raise Unopened(Error(Cause.DATABASE_UNREADABLE, _EMPTY))
    try:
        if not frozen:
            return _connect(path, "mode=ro")
        if not any(os.path.lexists(beside(path, suffix)) for suffix in ("-wal", "-journal")):
            return _connect(path, "mode=ro&immutable=1")
        with tempfile.TemporaryDirectory(dir=scratch) as folder:  # the open file outlives its name
            return _connect(_recovered(path, Path(folder)), "mode=ro&immutable=1")
    except apsw.Error as error:
        raise unopened(error) from None
    except OSError as error:
        raise Unopened(Error(Cause.DATABASE_UNREADABLE, str(error))) from None


def _recovered(path: Path, folder: Path) -> Path:
    """A copy of a database with what its journal says about it; SQLite would write beside the original."""
    copy = folder / "copy.sqlite"
    for suffix in ("", "-wal", "-journal"):
        source = beside(path, suffix)
        if source.is_file():
            shutil.copyfile(source, f"{copy}{suffix}")
    if names_super_journal(copy):
        raise Unopened(Error(Cause.DATABASE_UNREADABLE, _SUPER_JOURNAL))
    raw = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        raw.pragma("journal_mode", "delete")
        raw.execute("SELECT count(*) FROM sqlite_master").fetchall()
    finally:
        raw.close(True)
    return copy


def _connect(path: Path, mode: str) -> apsw.Connection:
    uri = f"file:{quote(os.fsencode(path.absolute()))}?{mode}"
    return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READONLY, statementcachesize=0)
