"""The history of a database's questions: one line an event, on the disk before it is acknowledged.

Several processes may append. What a crash left of a line was never acknowledged; the next writer cuts it off. A purge
replaces the file as a whole, so whatever follows it looks at which file it is.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from merit.errors import InputError, RunUnusable
from merit.files import atomic_write, open_regular, take_lock, write_all
from merit.live.records import Asked, Event, Feedback, event_record, read_event
from merit.reading import LINES_BYTES, parse_json
from merit.runs.text import decode_line, to_json

HISTORY = "history.jsonl"
_WAIT_S = 5.0  # an append takes milliseconds
_WAY_OUT = "make the folder writable, or choose another one"


class History:
    """The file history.jsonl in a folder, as far as it was read; `events` and the like read what is new."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / HISTORY
        self._forget()

    def append(self, event: Event) -> None:
        """Write an event down; it survives a crash once this returns."""
        with self._open() as file:
            self._append(file, event)

    @contextmanager
    def judging(self, identity: str) -> Iterator[tuple[Asked, Callable[[Feedback], None]]]:
        """An answer that nothing was said about yet, and how to write down what is; other writers wait meanwhile."""
        with self._open() as file:
            asked, said = self.find(identity)
            if said is not None:
                what, by = type(said).__name__.lower(), f" by {said.author}" if said.author else ""
                raise InputError(f"{asked.id}: was {what} already, on {said.time}{by}")
            yield asked, lambda feedback: self._append(file, feedback)

    def events(self) -> list[Event]:
        """Everything that happened, in order."""
        self._follow()
        return list(self._events)

    def answers(self) -> dict[str, Asked]:
        """The questions that were asked, by the ids of their answers."""
        self._follow()
        return dict(self._answers)

    def feedback(self) -> dict[str, Feedback]:
        """What was said about answers, by their ids."""
        self._follow()
        return dict(self._said)

    def same_question(self, database: str, question: str) -> list[Asked]:
        """Every answer to this very question, apart from case, spaces and the last punctuation."""
        self._follow()
        return list(self._same.get((database, plain_question(question)), ()))

    def standing(self, asked: Asked) -> str:
        """A question as it stands by itself: one of a conversation together with those before it."""
        self._follow()
        before = [self._answers[identity].question for identity in asked.earlier if identity in self._answers]
        return standing_question(before, asked.question)

    def find(self, identity: str) -> tuple[Asked, Feedback | None]:
        """An answer by its id, or by an unambiguous beginning of it, and what was said about it last."""
        self._follow()
        found = [asked for known, asked in self._answers.items() if known.startswith(identity)]
        if len(found) != 1 or not identity:
            why = "there is no answer" if not found else "several answers begin with"
            raise InputError(f"{self.path}: {why} {identity!r}; `merit history` lists them")
        return found[0], self._said.get(found[0].id)

    @contextmanager
    def rewriting(self) -> Iterator[Callable[[Callable[[Event], bool]], int]]:
        """How to write the file again with the events that are to be kept; other writers wait meanwhile."""
        with self._open():
            yield self._rewrite

    def _rewrite(self, keep: Callable[[Event], bool]) -> int:
        """How many events went."""
        kept = [event for event in self.events() if keep(event)]
        gone = len(self._events) - len(kept)
        with atomic_write(self.path) as file:
            file.writelines(_line(event) for event in kept)
        return gone

    def _append(self, file: int, event: Event) -> None:
        line = _line(event)
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

    def _forget(self) -> None:
        self._events: list[Event] = []
        self._answers: dict[str, Asked] = {}
        self._said: dict[str, Feedback] = {}
        self._same: dict[tuple[str, str], list[Asked]] = {}
        self._end = 0  # bytes up to here were read
        self._last_line = b""
        self._seen: tuple[int, ...] = ()  # what the file system said of the file at the last look

    def _follow(self) -> None:
        """Read what was appended since the last look; a file that is another one, or was edited, from its beginning."""
        try:
            file = open_regular(self.path, os.O_RDONLY)
        except FileNotFoundError:
            self._forget()
            return
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror})") from None
        try:
            status = os.fstat(file)
            seen = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            if seen == self._seen:
                return
            last = self._last_line
            if seen[:2] != self._seen[:2] or os.pread(file, len(last), self._end - len(last)) != last:
                self._forget()
            if status.st_size > LINES_BYTES:
                raise RunUnusable(f"{self.path}: too large for a history; move it away")
            with os.fdopen(os.dup(file), "rb") as reader:
                reader.seek(self._end)
                for line in reader:
                    if line.endswith(b"\n"):  # else it is being written, or never was finished
                        self._take_in(line)
            self._seen = seen
        finally:
            os.close(file)

    def _take_in(self, line: bytes) -> None:
        number = len(self._events) + 1
        record = parse_json(decode_line(line[:-1], self.path, number), self.path, number)
        event = read_event(record, f"{self.path}, line {number}")
        self._events.append(event)
        self._end += len(line)
        self._last_line = line
        if isinstance(event, Asked):
            self._answers[event.id] = event
            before = [self._answers[identity].question for identity in event.earlier if identity in self._answers]
            key = (event.database, plain_question(standing_question(before, event.question)))
            self._same.setdefault(key, []).append(event)
        else:
            self._said[event.answer] = event

    @contextmanager
    def _open(self) -> Iterator[int]:
        """The file, with other writers kept out; one that a purge replaced meanwhile is left for the new one."""
        until = time.monotonic() + _WAIT_S
        while True:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                file = open_regular(self.path, os.O_RDWR | os.O_CREAT)
            except OSError as error:
                raise InputError(f"{self.path}: cannot be written ({error.strerror}); {_WAY_OUT}") from None
            try:
                while not take_lock(file):
                    if time.monotonic() > until:
                        raise RunUnusable(
                            f"{self.path}: another process is writing the history; wait for it or stop it"
                        )
                if _is_at(file, self.path):
                    yield file
                    return
            finally:
                os.close(file)


def standing_question(before: list[str], question: str) -> str:
    """A question of a conversation, with those before it: `How many orders? | and in May?`."""
    return " | ".join([*before, question])


def _line(event: Event) -> bytes:
    return (to_json(event_record(event)) + "\n").encode()


def plain_question(question: str) -> str:
    """A question without what does not matter: case, spaces and the last punctuation."""
    return " ".join(question.casefold().split()).rstrip(" .?!")


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


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
