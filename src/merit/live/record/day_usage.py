"""What the questions of a day took, added up from the history."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

from merit.files import open_regular
from merit.live.record.events import Asked, Spent, event_in
from merit.models import Usage
from merit.reading import LINES_BYTES
from merit.runs.text import decode_line


class DayUsage:
    """What the questions of one day took. It follows the file, and begins again where a purge replaced it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._day = ""
        self._file = (0, 0)  # device and inode
        self._read = self._lines = 0  # bytes and lines
        self._sent = Usage()

    def sent(self, day: str) -> Usage:
        """What they took so far, as far as it is written down."""
        with self._lock:
            try:
                file = open_regular(self._path, os.O_RDONLY)
            except FileNotFoundError:
                return Usage()
            try:
                status = os.fstat(file)
                if (day, (status.st_dev, status.st_ino)) != (self._day, self._file) or status.st_size < self._read:
                    self._day, self._file = day, (status.st_dev, status.st_ino)
                    self._read, self._lines, self._sent = 0, 0, Usage()
                with os.fdopen(os.dup(file), "rb") as stream:
                    stream.seek(self._read)
                    data = stream.read(LINES_BYTES)
            finally:
                os.close(file)
            whole = data[: data.rfind(b"\n") + 1]
            for start, line in _lines_with(whole, f'"time":"{day}'.encode()):
                number = self._lines + whole.count(b"\n", 0, start) + 1
                event = event_in(decode_line(line, self._path, number), self._path, number)
                if isinstance(event, Asked | Spent):
                    spent = Usage(event.calls, event.prompt_tokens, event.output_tokens, event.seconds)
                    self._sent = Usage.total([self._sent, spent])
            self._read, self._lines = self._read + len(whole), self._lines + whole.count(b"\n")
            return self._sent


def _lines_with(data: bytes, mark: bytes) -> Iterator[tuple[int, bytes]]:
    """The whole lines that have a mark, and where each begins; inside a JSON text, a mark's quotes are escaped."""
    at = data.find(mark)
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        if end < 0:
            return
        yield start, data[start:end]
        at = data.find(mark, end)
