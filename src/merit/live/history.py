"""The history of a database's questions: one line an event, on the disk before it is acknowledged.

Several processes may append. What a crash left of a line was never acknowledged; the next writer cuts it off.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from merit.errors import InputError, RunUnusable
from merit.files import open_regular, take_lock, write_all
from merit.live.records import Asked, Event, Feedback, event_record, read_event
from merit.reading import LINES_BYTES, parse_json
from merit.runs.text import read_lines, to_json

HISTORY = "history.jsonl"
_WAIT_S = 5.0  # an append takes milliseconds
_WAY_OUT = "make the folder writable, or choose another one"


class History:
    """The file history.jsonl in a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / HISTORY

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
        where = ((number, f"{self.path}, line {number}") for number in range(1, len(lines) + 1))
        return [read_event(parse_json(line, self.path, n), at) for line, (n, at) in zip(lines, where, strict=True)]

    def answers(self) -> dict[str, Asked]:
        """The questions that were asked, by the ids of their answers."""
        return {event.id: event for event in self.events() if isinstance(event, Asked)}

    def find(self, identity: str) -> tuple[Asked, Feedback | None]:
        """An answer by its id, or by an unambiguous beginning of it, and what was said about it last."""
        events = self.events()
        found = [event for event in events if isinstance(event, Asked) and event.id.startswith(identity)]
        if len(found) != 1 or not identity:
            why = "there is no answer" if not found else "several answers begin with"
            raise InputError(f"{self.path}: {why} {identity!r}; `merit history` lists them")
        said = [event for event in events if not isinstance(event, Asked) and event.answer == found[0].id]
        return found[0], said[-1] if said else None

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
            yield file
        finally:
            os.close(file)


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
