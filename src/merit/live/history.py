"""The history of a database's questions: one line an event, on the disk before it is acknowledged.

Several processes may append. What a crash left of a line was never acknowledged; the next writer cuts it off. A history
grows for years, so what is looked for is found by its text, and only the lines that have it are taken apart.
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from merit.errors import InputError, RunUnusable
from merit.files import open_regular, take_lock, write_all
from merit.live.records import Asked, Event, Feedback, event_record, read_event
from merit.models import Sent
from merit.reading import LINES_BYTES, parse_json, read_bytes
from merit.runs.text import decode_line, read_lines, to_json

HISTORY = "history.jsonl"
_WAIT_S = 5.0  # an append takes milliseconds
_AGAIN_S = 0.001
_WAY_OUT = "make the folder writable, or choose another one"


class History:
    """The file history.jsonl in a folder. Usable from many threads."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / HISTORY
        self._day = _Day(self.path)

    def append(self, event: Event) -> None:
        """Write an event down; it survives a crash once this returns."""
        line = (to_json(event_record(event)) + "\n").encode()
        with self._open() as file:
            end = _whole_lines(file)
            if end + len(line) > LINES_BYTES:
                raise RunUnusable(f"{self.path}: the history is full; move the file aside and go on with a new one")
            os.ftruncate(file, end)
            os.lseek(file, end, os.SEEK_SET)
            try:
                write_all(file, line)
                os.fsync(file)
            except OSError as error:
                os.ftruncate(file, end)
                raise InputError(f"{self.path}: cannot be written ({error.strerror}); {_WAY_OUT}") from error

    def events(self) -> list[Event]:
        """Everything that happened, in order."""
        if not self.path.exists():
            return []
        lines = read_lines(self.path, torn=True)
        return [_event(line, self.path, number) for number, line in enumerate(lines, 1)]

    def answers(self) -> dict[str, Asked]:
        """The questions that were asked, by the ids of their answers."""
        return {event.id: event for event in self.events() if isinstance(event, Asked)}

    def find(self, identity: str) -> tuple[Asked, Feedback | None]:
        """An answer by its id, or by an unambiguous beginning of it, and what was said about it last."""
        events = self._mentioning(identity) if identity else []
        found = [event for event in events if isinstance(event, Asked) and event.id.startswith(identity)]
        if len(found) != 1:
            why = "there is no answer" if not found else "several answers begin with"
            raise InputError(f"{self.path}: {why} {identity!r}; `merit history` lists them")
        said = [event for event in events if not isinstance(event, Asked) and event.answer == found[0].id]
        return found[0], said[-1] if said else None

    def sent_on(self, day: str) -> Sent:
        """What all questions of a day, such as 2026-11-16, have taken."""
        return self._day.sent(day)

    def _mentioning(self, identity: str) -> list[Event]:
        """The events of answers whose ids begin so, and what was said about them."""
        if not self.path.exists():
            return []
        beginning = json.dumps(identity, ensure_ascii=False)[:-1].encode()
        data = read_bytes(self.path, LINES_BYTES)
        marks = (b'"id":' + beginning, b'"answer":' + beginning)
        lines = {start: line for mark in marks for start, line in _lines_with(data, mark)}
        return [
            _event(decode_line(line, self.path, number), self.path, number)
            for start, line in sorted(lines.items())
            for number in [data.count(b"\n", 0, start) + 1]
        ]

    @contextmanager
    def _open(self) -> Iterator[int]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = open_regular(self.path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written ({error.strerror}); {_WAY_OUT}") from None
        try:
            until = time.monotonic() + _WAIT_S
            while not take_lock(file):
                if time.monotonic() > until:
                    raise RunUnusable(f"{self.path}: another process is writing the history; wait for it or stop it")
                time.sleep(_AGAIN_S)
            yield file
        finally:
            os.close(file)


class _Day:
    """What the questions of one day took, kept up with a file that grows; one that was written anew is read anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._day = ""
        self._file = (0, 0)  # device and inode
        self._read = self._lines = 0  # bytes and lines
        self._sent = Sent()

    def sent(self, day: str) -> Sent:
        """What they took so far, as far as it is written down."""
        with self._lock:
            try:
                file = open_regular(self._path, os.O_RDONLY)
            except FileNotFoundError:
                return Sent()
            try:
                status = os.fstat(file)
                if (day, (status.st_dev, status.st_ino)) != (self._day, self._file) or status.st_size < self._read:
                    self._day, self._file = day, (status.st_dev, status.st_ino)
                    self._read, self._lines, self._sent = 0, 0, Sent()
                with os.fdopen(os.dup(file), "rb") as stream:
                    stream.seek(self._read)
                    data = stream.read(LINES_BYTES)
            finally:
                os.close(file)
            whole = data[: data.rfind(b"\n") + 1]
            for start, line in _lines_with(whole, f'"time":"{day}'.encode()):
                number = self._lines + whole.count(b"\n", 0, start) + 1
                event = _event(decode_line(line, self._path, number), self._path, number)
                if isinstance(event, Asked):
                    spent = Sent(event.calls, event.prompt_tokens, event.output_tokens, event.seconds)
                    self._sent = Sent.total([self._sent, spent])
            self._read, self._lines = self._read + len(whole), self._lines + whole.count(b"\n")
            return self._sent


def _event(line: str, path: Path, number: int) -> Event:
    return read_event(parse_json(line, path, number), f"{path}, line {number}")


def _lines_with(data: bytes, mark: bytes) -> Iterator[tuple[int, bytes]]:
    """The whole lines that have a mark, and where each begins; inside a JSON text, a mark's quotes are escaped."""
    at = data.find(mark)
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        if end < 0:
            return
        yield start, data[start:end]
        at = data.find(mark, end)


def _whole_lines(file: int) -> int:
    """Where the last whole line of a file ends."""
    end = os.fstat(file).st_size
    while end:
        start = max(0, end - 65536)
        os.lseek(file, start, os.SEEK_SET)
        block = os.read(file, end - start)
        if (at := block.rfind(b"\n")) >= 0:
            return start + at + 1
        end = start
    return 0
