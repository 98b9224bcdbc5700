"""Reading a log of format 4: which change has which number and stands where. Byte offsets never leave this room.

Lines are gone through once, by how they begin; a change is parsed when it is asked for.
"""

import hashlib
import io
import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from merit.errors import InputError, MemoryUnusable
from merit.memory.files import numbered_lines, open_file
from merit.memory.format4 import LINE_BYTES, Head, parse_head, parse_line
from merit.types import Change, Entry, Precedent, Repair

_BLOCK_BYTES = 1 << 20


class Log:
    """A log file, or bytes that stand for one, as far as it has been gone through."""

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self.path = path
        self.end = 0  # bytes up to here are whole appends
        self.content = content  # instead of the file's
        self._sequences = array("q")  # of each line
        self._offsets = array("q")  # where each line begins
        self._hashes = array("q")  # of each line, in this process
        self._lines_of_entries: dict[str, int] = {}
        self._digest: Any = hashlib.sha256()  # of the bytes up to `end`
        self._last_line = b""
        self._seen: tuple[int, ...] | None = None  # what the file system said of the file at the last look

    @property
    def sequence(self) -> int:
        """The last sequence number."""
        return self._sequences[-1] if self._sequences else 0

    @property
    def is_converted(self) -> bool:
        """Whether it stands for files of format 3, which nothing has turned into a log yet."""
        return self.content is not None

    def advance(self) -> None:
        """Go through what was appended since the last look; where nothing was, this costs one look at its size."""
        if self._state_of(self.path) == self._seen:
            return
        with self._open() as file:
            seen = self._state_of(file.fileno() if self.content is None else self.path)
            self._check_beginning(file, seen)
            file.seek(self.end)
            waiting: list[tuple[Head, bytes]] = []  # lines of an append whose last line has not come
            last = self.sequence
            for number, line in numbered_lines(file, self.path, LINE_BYTES, len(self._offsets) + 1):
                if not line.endswith(b"\n"):
                    break  # a line that is being written, or never was finished
                head = parse_head(line, self.where(number))
                if head.sequence <= last:
                    raise InputError(
                        f"{self.where(number)}: sequence number {head.sequence} after {last}; the lines were moved "
                        "or doubled: restore the file from a copy"
                    )
                last = head.sequence
                waiting.append((head, line))
                if head.more == 0:
                    self._take_in(waiting)
                    waiting = []
            self._seen = seen

    def note(self, lines: list[bytes]) -> None:
        """Take in lines that this process has just appended."""
        self._take_in([(parse_head(line, str(self.path)), line) for line in lines])
        self._seen = self._state_of(self.path)

    def since(self, sequence: int) -> Iterator[tuple[int, Change]]:
        """The changes after a sequence number, up to the last look."""
        first, last = bisect_right(self._sequences, sequence), len(self._sequences)
        if first == last:
            return
        with self._open() as file:
            file.seek(self._offsets[first])
            for number, line in numbered_lines(file, self.path, LINE_BYTES, first + 1):
                if number > last:
                    return
                yield self._sequences[number - 1], parse_line(line, self.where(number))

    def entry(self, identity: str) -> Entry:
        """An entry by its id."""
        if identity not in self._lines_of_entries:
            raise InputError(f"{self.path}: there is no entry {identity}")
        number = self._lines_of_entries[identity]
        change = self._change_at(number)
        if not isinstance(change, Repair | Precedent) or change.id != identity:
            raise MemoryUnusable(f"{self.where(number + 1)}: changed while it was in use; open this memory again")
        return change

    def fingerprint(self, sequence: int) -> str | None:
        """The hash of all lines up to a sequence number."""
        if sequence == self.sequence:
            digest: str = self._digest.hexdigest()
            return digest
        line = bisect_left(self._sequences, sequence) if sequence else -1
        if line >= 0 and (line == len(self._sequences) or self._sequences[line] != sequence):
            return None
        left, again = self._offsets[line + 1] if self._offsets else 0, hashlib.sha256()
        with self._open() as file:
            while left > 0 and (block := file.read(min(left, _BLOCK_BYTES))):
                again.update(block)
                left -= len(block)
        return again.hexdigest()

    def replaced_in(self, newer: "Log") -> list[Change] | None:
        """What a newer log has in place of lines of this one; None if it lacks some of their numbers."""
        count = len(self._offsets)
        if newer._sequences[:count] != self._sequences:
            return None
        changed = [number for number in range(count) if newer._hashes[number] != self._hashes[number]]
        return [newer._change_at(number) for number in changed]

    def where(self, number: int) -> str:
        """A line, for messages."""
        return f"{self.path}, line {number}"

    def _change_at(self, number: int) -> Change:
        with self._open() as file:
            file.seek(self._offsets[number])
            return parse_line(file.readline(LINE_BYTES), self.where(number + 1))

    def _take_in(self, lines: list[tuple[Head, bytes]]) -> None:
        for head, line in lines:
            if head.kind in ("repair", "precedent"):
                self._lines_of_entries.setdefault(head.id, len(self._offsets))
            self._sequences.append(head.sequence)
            self._offsets.append(self.end)
            self._hashes.append(hash(line))
            self._digest.update(line)
            self.end += len(line)
            self._last_line = line

    def _open(self) -> BinaryIO:
        return open_file(self.path) if self.content is None else io.BytesIO(self.content)

    def _state_of(self, file: Path | int) -> tuple[int, ...]:
        if self.content is not None:
            return (len(self.content),)
        try:
            status = file.stat() if isinstance(file, Path) else os.fstat(file)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror})") from None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def _check_beginning(self, file: BinaryIO, seen: tuple[int, ...]) -> None:
        """Complain unless the file still begins as it did: it may have been replaced or cut by something else."""
        same_file = self._seen is None or seen[:2] == self._seen[:2] or self.content is not None
        if self.end:
            file.seek(self.end - len(self._last_line))
        if not same_file or file.read(len(self._last_line)) != self._last_line:
            raise MemoryUnusable(f"{self.path}: changed by something other than merit; open this memory again")
