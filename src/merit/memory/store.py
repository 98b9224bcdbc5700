"""Entries on disk: a JSONL file for each polarity, appended line by line, durable, one writer at a time.

An entry is committed when `append` returns: its line is whole and on the disk. A line that a crash cut short was never
acknowledged; it is cut off, with a notice, when a writer opens the store again. Damage anywhere else is refused.
"""

import fcntl
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from merit.errors import InputError, MemoryUnusable
from merit.memory.entry import FORMAT, Entry, from_record
from merit.reading import LINE_BYTES, check_regular, open_file, parse_json
from merit.types import Polarity

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A deletion: the entry stays in the file, and is not recalled any more."""

    id: str
    reason: str

    def to_line(self) -> str:
        """The deletion as one line of JSON."""
        return json.dumps({"delete": self.id, "format": FORMAT, "reason": self.reason}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Line:
    """A committed line and where it stands."""

    offset: int
    length: int
    content: Entry | Tombstone


class MemoryStore:
    """The folder of a memory. Reading needs nothing; writing takes the folder's lock."""

    def __init__(self, folder: Path, *, writable: bool = True) -> None:
        self.folder = folder
        self._lock: int | None = None
        self._files: dict[Polarity, int] = {}
        if writable:
            self._open_for_writing()
        elif not any(self.path(polarity).is_file() for polarity in Polarity):
            raise MemoryUnusable(f"{folder}: there is no memory here (no memory_positive.jsonl)")

    def path(self, polarity: Polarity) -> Path:
        """The file of one polarity."""
        return self.folder / f"memory_{polarity}.jsonl"

    def size(self, polarity: Polarity) -> int:
        """How many bytes a polarity's file has."""
        return self.path(polarity).stat().st_size

    def append(self, contents: Mapping[Polarity, Sequence[Entry | Tombstone]]) -> dict[Polarity, list[int]]:
        """Commit lines, all of them or none; returns where each starts. When this returns, they survive a crash."""
        if not self._files:
            raise MemoryUnusable(f"{self.folder}: opened for reading only")
        before = {polarity: os.fstat(self._files[polarity]).st_size for polarity in contents}
        offsets: dict[Polarity, list[int]] = {}
        try:
            for polarity, lines in contents.items():
                encoded = [(line.to_line() + "\n").encode() for line in lines]
                _write_all(self._files[polarity], b"".join(encoded))
                os.fsync(self._files[polarity])
                offsets[polarity] = list(accumulate(map(len, encoded[:-1]), initial=before[polarity]))
        except BaseException as error:
            for polarity, size in before.items():
                os.ftruncate(self._files[polarity], size)  # leave no half line behind
            if isinstance(error, OSError):
                raise MemoryUnusable(f"{self.folder}: nothing was added ({error.strerror}); nothing is lost") from error
            raise
        return offsets

    def lines(self, polarity: Polarity, start: int = 0, first_number: int = 1) -> Iterator[Line]:
        """Every committed line from byte `start` on; damage is refused with file and line."""
        path = self.path(polarity)
        if not os.path.lexists(path):
            return
        with open_file(path) as file:
            file.seek(start)
            offset = start
            for number, data in enumerate(iter(lambda: file.readline(LINE_BYTES), b""), first_number):
                if len(data) == LINE_BYTES:
                    raise InputError(f"{path}, line {number}: far longer than any entry; restore the file from a copy")
                if not data.endswith(b"\n"):
                    return  # a torn tail: never acknowledged
                content = _parse(data, f"{path}, line {number}")
                if isinstance(content, Entry) and content.polarity is not polarity:
                    raise InputError(f"{path}, line {number}: a {content.polarity} entry in the wrong file")
                yield Line(offset, len(data), content)
                offset += len(data)

    def read(self, polarity: Polarity, offset: int) -> Entry:
        """The entry that starts at `offset`."""
        path = self.path(polarity)
        with open_file(path) as file:
            file.seek(offset)
            content = _parse(file.readline(LINE_BYTES), f"{path}, byte {offset}")
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
            self._lock = os.open(self.folder / "memory.lock", os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for polarity in Polarity:
                if self.path(polarity).exists():
                    check_regular(self.path(polarity))
                _cut_torn_tail(self.path(polarity))
                self._files[polarity] = os.open(self.path(polarity), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            _sync_folder(self.folder)
        except BlockingIOError:
            self.close()
            raise MemoryUnusable(
                f"{self.folder}: another process is writing this memory; wait for it or stop it"
            ) from None
        except OSError as error:
            self.close()
            raise MemoryUnusable(f"{error.filename or self.folder}: cannot be written ({error.strerror})") from error


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _parse(data: bytes, where: str) -> Entry | Tombstone:
    try:
        record = parse_json(data.decode(), Path(where))
    except (UnicodeDecodeError, InputError):
        raise InputError(f"{where}: damaged; restore the file from a copy or remove that line") from None
    if isinstance(record, dict) and "delete" in record and record.get("format") == FORMAT:
        return Tombstone(str(record["delete"]), str(record.get("reason", "")))
    return from_record(record, where)


def _cut_torn_tail(path: Path) -> None:
    """Cut off what follows the last newline: a line that was being written when the process died."""
    if not path.is_file():
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        keep, step = end, 64 * 1024
        while keep > 0:
            start = max(0, keep - step)
            file.seek(start)
            at = file.read(keep - start).rfind(b"\n")
            if at >= 0:
                keep = start + at + 1
                break
            keep = start
        file.seek(keep)
        if keep < end and _is_whole(file.read()):
            file.write(b"\n")  # an editor's last line without its newline
        elif keep < end:
            file.truncate(keep)
            os.fsync(file.fileno())
            _log.warning("%s: cut off %d bytes of a line that was never finished", path, end - keep)


def _is_whole(data: bytes) -> bool:
    try:
        _parse(data, "")
    except InputError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Make new files in a folder survive a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
