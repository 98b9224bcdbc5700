"""Entries on disk: a JSONL file for each polarity, appended line by line, durable, one writer at a time.

An entry is committed when `append` returns: its line is whole and on the disk. A line that a crash cut short was never
acknowledged; it is cut off, with a notice, when a writer opens the store again. Damage anywhere else is refused.
"""

import fcntl
import json
import logging
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from merit.errors import InputError, MemoryUnusable
from merit.memory.entry import FORMAT, Entry, from_record, shortened
from merit.reading import sendable
from merit.types import Polarity

_log = logging.getLogger(__name__)
MAX_LINE = 16 << 20  # bytes; an entry is a question, a schema, two queries and two messages: kilobytes


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A deletion: the entry stays in the file, and is not recalled any more."""

    id: str
    reason: str

    def to_line(self) -> str:
        """The deletion as one line of JSON."""
        return json.dumps({"delete": self.id, "format": FORMAT, "reason": sendable(self.reason)}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Line:
    """A committed line and where it stands."""

    offset: int
    data: bytes
    content: Entry | Tombstone


Contents = Mapping[Polarity, Sequence[Entry | Tombstone]]


class MemoryStore:
    """The folder of a memory. Reading needs nothing; writing takes the folder's lock."""

    def __init__(self, folder: Path, *, writable: bool = True) -> None:
        self.folder = folder
        self.torn = False  # a line that could not be written whole could not be taken back either
        self._lock: int | None = None
        self._files: dict[Polarity, int] = {}
        if writable:
            self._open_for_writing()
        elif not any(os.path.lexists(self.path(polarity)) for polarity in Polarity):
            raise MemoryUnusable(f"{folder}: there is no memory here (no memory_positive.jsonl)")

    def path(self, polarity: Polarity) -> Path:
        """The file of one polarity."""
        return self.folder / f"memory_{polarity}.jsonl"

    def append(self, contents: Contents) -> dict[Polarity, list[Line]]:
        """Commit lines, all of them or none. When this returns, they survive a crash."""
        if not self._files:
            raise MemoryUnusable(f"{self.folder}: opened for reading only")
        before = {polarity: os.fstat(self._files[polarity]).st_size for polarity in contents}
        written = {polarity: list(_lines(contents[polarity], before[polarity])) for polarity in contents}
        try:
            for polarity, lines in written.items():
                _write_all(self._files[polarity], b"".join(line.data for line in lines))
                os.fsync(self._files[polarity])
        except BaseException as error:
            self._take_back(before)  # leave no half line behind
            if isinstance(error, OSError):
                raise MemoryUnusable(f"{self.folder}: nothing was added ({error.strerror}); nothing is lost") from error
            raise
        return written

    def lines(self, polarity: Polarity, start: int = 0, first_number: int = 1) -> Iterator[Line]:
        """Every committed line from byte `start` on; damage is refused with file and line."""
        path = self.path(polarity)
        if not os.path.lexists(path):
            return
        with open_file(path) as file:
            file.seek(start)
            for number, data in numbered_lines(file, path, first_number):
                if not data.endswith(b"\n"):
                    return  # a torn tail: never acknowledged
                content = _parse(data, f"{path}, line {number}")
                if isinstance(content, Entry) and content.polarity is not polarity:
                    raise InputError(f"{path}, line {number}: a {content.polarity} entry in the wrong file")
                yield Line(start, data, content)
                start += len(data)

    def read(self, polarity: Polarity, offset: int) -> Entry:
        """The entry that starts at `offset`."""
        path = self.path(polarity)
        with open_file(path) as file:
            file.seek(offset)
            content = _parse(file.readline(MAX_LINE), f"{path}, byte {offset}")
        if not isinstance(content, Entry):
            raise MemoryUnusable(f"{path}, byte {offset}: expected an entry; delete the index folder beside it")
        return content

    def close(self) -> None:
        """Give back files and lock."""
        for file in self._files.values():
            os.close(file)
        self._files = {}
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _open_for_writing(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = _open_to_write(self.folder / "memory.lock")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for polarity in Polarity:
                self._files[polarity] = _open_to_write(self.path(polarity))
            for polarity, file in self._files.items():
                _cut_torn_tail(file, self.path(polarity))
            _sync_folder(self.folder)
        except BaseException as error:
            self.close()
            if isinstance(error, BlockingIOError):
                raise MemoryUnusable(
                    f"{self.folder}: another process is writing this memory; wait for it or stop it"
                ) from None
            if isinstance(error, OSError):
                place = error.filename or self.folder
                raise MemoryUnusable(f"{place}: cannot be written ({error.strerror})") from error
            raise

    def _take_back(self, sizes: Mapping[Polarity, int]) -> None:
        try:
            for polarity, size in sizes.items():
                os.ftruncate(self._files[polarity], size)
        except OSError as error:
            self.torn = True
            raise MemoryUnusable(
                f"{self.folder}: could not be written, nor cut back to what it was ({error.strerror}); "
                "open this memory again to have that done"
            ) from error


def open_file(path: Path) -> BufferedReader:
    """A regular file, open for reading: a pipe under its name would be waited for, and a device never end."""
    try:
        return os.fdopen(_regular(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), path), "rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def numbered_lines(file: BinaryIO, path: Path, first_number: int = 1) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, none of them too long to be an entry."""
    number = first_number
    while data := file.readline(MAX_LINE + 1):
        if len(data) > MAX_LINE:
            raise InputError(f"{path}, line {number}: longer than {MAX_LINE >> 20} MiB, so no entry; remove that line")
        yield number, data
        number += 1


def _open_to_write(path: Path) -> int:
    """A file to append to. A link is refused: in a stranger's folder it could lead to a file of ours."""
    if path.is_symlink():
        raise InputError(f"{path}: a link; put the file itself in its place, or remove it")
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    return _regular(os.open(path, flags, 0o644), path)


def _regular(file: int, path: Path) -> int:
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise InputError(f"{path}: not a regular file; put one in its place or remove it")
    return file


def _lines(contents: Sequence[Entry | Tombstone], start: int) -> Iterator[Line]:
    for content in contents:
        data = (content.to_line() + "\n").encode()
        if len(data) > MAX_LINE:
            raise InputError(f"entry {content.id}: longer than {MAX_LINE >> 20} MiB; nothing was written")
        yield Line(start, data, content)
        start += len(data)


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _parse(data: bytes, where: str) -> Entry | Tombstone:
    try:
        record: Any = json.loads(data.decode())
    except (ValueError, RecursionError):
        raise InputError(f"{where}: damaged; restore the file from a copy or remove that line") from None
    if isinstance(record, dict) and "delete" in record and record.get("format") == FORMAT:
        identity, reason = record["delete"], record.get("reason", "")
        if not isinstance(identity, str) or not isinstance(reason, str):
            raise InputError(f"{where}: a deletion names an id and a reason, both text, not {shortened(record)}")
        return Tombstone(identity, reason)
    return from_record(record, where)


def _cut_torn_tail(file: int, path: Path) -> None:
    """Cut off what follows the last newline: a line that was being written when the process died."""
    end = start = os.fstat(file).st_size
    tail = b""
    while start > 0 and b"\n" not in tail and len(tail) <= MAX_LINE:
        step = min(start, max(64 << 10, len(tail)))
        start -= step
        tail = os.pread(file, step, start) + tail
    tail = tail[tail.rfind(b"\n") + 1 :]
    if len(tail) > MAX_LINE:
        raise InputError(f"{path}: the last line is longer than {MAX_LINE >> 20} MiB, so no entry; remove that line")
    if tail and _is_whole(tail):
        _write_all(file, b"\n")  # an editor's last line without its newline
    elif tail:
        os.ftruncate(file, end - len(tail))
        os.fsync(file)
        _log.warning("%s: cut off %d bytes of a line that was never finished", path, len(tail))


def _is_whole(data: bytes) -> bool:
    """Whether a line has its end: an object that was cut short is not JSON."""
    try:
        json.loads(data.decode())
    except (ValueError, RecursionError):
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Make new files in a folder survive a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
