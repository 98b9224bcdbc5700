"""Where the lines of a history are: by the answer they are about, and by the question.

A history grows for years, so a line is looked at by how it begins, and taken apart only when it is needed. The index
follows the file as it grows; a file that was written anew, as by a purge, is gone through anew.
"""

import json
import os
import re
import threading
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from merit.errors import RunUnusable
from merit.files import open_regular
from merit.live.record.text_numbers import TextNumbers
from merit.reading import LINES_BYTES

_TEXT = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_ASKED = re.compile(
    rb'\{"format":\d+,"kind":"asked","id":(' + _TEXT + rb'),"time":"[^"]*","question":(' + _TEXT + rb")"
)
_SAID = re.compile(rb'\{"format":\d+,"kind":"[a-z]+","answer":(' + _TEXT + rb")")
_SCOPE = re.compile(rb'"scope":\s*"[^"]')  # of a word; one that is for everyone has an empty scope or none
_UNREADABLE = (ValueError, RecursionError, KeyError, TypeError)  # of a line: told when all events are read
_JUDGED, _SCOPED = 1, 2  # marks on the line of an answer


class HistoryLines:
    """An index over a file of events: some 60 bytes for each answer. Usable from many threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._file = (0, 0)  # device and inode
        self._end = 0  # bytes that were gone through
        self._forget()

    def ids(self, beginning: str) -> list[str]:
        """The ids of answers that begin so."""
        self.follow()
        wanted, ids = b"\n" + beginning.encode("utf-8", "surrogatepass"), self._ids_now()
        found, at = list[str](), ids.find(wanted)
        while 0 <= at < len(ids) - 1:
            end = ids.index(b"\n", at + 1)
            found.append(ids[at + 1 : end].decode("utf-8", "surrogatepass"))
            at = ids.find(wanted, end)
        return found

    def newest(self, before: str = "") -> Iterator[str]:
        """The ids of all answers, newest first; with `before`, of those before it, none where it is not there."""
        self.follow()
        ids = self._ids_now()
        end = len(ids)
        if before:
            end = ids.find(b"\n" + before.encode("utf-8", "surrogatepass") + b"\n") + 1
        while end > 1:
            start = ids.rfind(b"\n", 0, end - 1) + 1
            yield ids[start : end - 1].decode("utf-8", "surrogatepass")
            end = start

    def answers(self, ids: list[str]) -> list[tuple[bytes, int]]:
        """The lines of answers by their ids, with their numbers; one that is not there is left out."""
        lines = self._read(lambda: [number for identity in ids for number in self._answers.find(identity)])
        found = {_about(line): (line, number) for line, number in lines}
        return [found[identity] for identity in ids if identity in found]

    def feedback_on(self, answers: list[str]) -> list[tuple[bytes, int]]:
        """The lines of what was said about some answers, oldest first."""
        lines = self._read(lambda: sorted({number for answer in answers for number in self._words.find(answer)}))
        wanted = set(answers)
        return [(line, number) for line, number in lines if _about(line) in wanted]

    def same(self, question: str, *, judged: bool = False, scoped: bool = False) -> list[tuple[bytes, int]]:
        """The lines of all answers to a question; or of those that people said something about, which are few.

        With `scoped`, only of those about which something was said that is not for everyone.
        """
        plain, mark = plain_question(question), _SCOPED if scoped else _JUDGED if judged else 0
        lines = self._read(lambda: [n for n in self._questions.find(plain) if not mark or self._marks[n - 1] & mark])
        return [(line, number) for line, number in lines if plain_question(_question(line)) == plain]

    def follow(self) -> None:
        """Go through what was appended since the last look."""
        with self._lock:
            try:
                file = open_regular(self._path, os.O_RDONLY)
            except FileNotFoundError:
                self._forget()
                return
            try:
                status = os.fstat(file)
                if (status.st_dev, status.st_ino) != self._file or status.st_size < self._end:
                    self._forget()
                    self._file = (status.st_dev, status.st_ino)
                if status.st_size > LINES_BYTES:
                    raise RunUnusable(f"{self._path}: too large for a history; move it aside")
                with os.fdopen(os.dup(file), "rb") as stream:
                    stream.seek(self._end)
                    for line in stream:
                        if not line.endswith(b"\n"):
                            break  # it is being written, or never was finished: its rest is no line of its own
                        self._take_in(line)
            finally:
                os.close(file)

    def _take_in(self, line: bytes) -> None:
        self._starts.append(self._end)
        self._marks.append(0)
        self._end += len(line)
        with suppress(*_UNREADABLE):
            if (found := _parts_of(line)).question is not None:
                self._note_answer(found.answer, found.question)
            else:
                self._note_word(found.answer, line)

    def _note_word(self, answer: str, line: bytes) -> None:
        self._words.add(answer, len(self._starts))
        mark = _JUDGED | (_SCOPED if _SCOPE.search(line) else 0)
        for number in self._answers.find(answer):
            self._marks[number - 1] |= mark
        if not self._answers.find(answer):
            self._early[answer] = self._early.get(answer, 0) | mark

    def _note_answer(self, identity: str, question: str) -> None:
        if "\n" in identity:
            raise ValueError("no id has a line break")
        stored = identity.encode("utf-8", "surrogatepass") + b"\n"
        if not self._answers.find(identity) or b"\n" + stored not in self._ids:
            self._ids += stored
        self._answers.add(identity, len(self._starts))
        self._questions.add(plain_question(question), len(self._starts))
        self._marks[-1] = self._early.pop(identity, 0)

    def _ids_now(self) -> bytes:
        with self._lock:
            return bytes(self._ids)

    def _read(self, wanted: Callable[[], list[int]]) -> list[tuple[bytes, int]]:
        """Lines by their numbers; where the file was replaced after they were found, they are looked for again."""
        while True:
            self.follow()
            with self._lock:
                file_then = self._file
                places = [(number, *self._place(number)) for number in wanted()]
            if not places:
                return []
            with suppress(FileNotFoundError), os.fdopen(open_regular(self._path, os.O_RDONLY), "rb") as file:
                status = os.fstat(file.fileno())
                if (status.st_dev, status.st_ino) == file_then:
                    return [(self._line(file, start, length), number) for number, start, length in places]

    def _place(self, number: int) -> tuple[int, int]:
        """Where a line begins, and how long it is."""
        start = self._starts[number - 1]
        return start, (self._starts[number] if number < len(self._starts) else self._end) - start

    @staticmethod
    def _line(file: BinaryIO, start: int, length: int) -> bytes:
        file.seek(start)
        return file.read(length).removesuffix(b"\n")

    def _forget(self) -> None:
        self._file, self._end = (0, 0), 0
        self._starts = array("q")  # of each line
        self._marks = bytearray()  # of each line
        self._ids = bytearray(b"\n")  # of answers, each followed by a line break
        self._answers, self._questions, self._words = TextNumbers(), TextNumbers(), TextNumbers()  # numbers of lines
        self._early: dict[str, int] = {}  # marks of answers that were not there yet: only others write it so


class _Parts(NamedTuple):
    """The answer that a line is about, and its question where it is the answer's own line."""

    answer: str
    question: str | None


def _parts_of(line: bytes) -> _Parts:
    if found := _ASKED.match(line):
        return _Parts(_decoded(found[1]), _decoded(found[2]))
    if found := _SAID.match(line):
        return _Parts(_decoded(found[1]), None)
    record = json.loads(line)  # a line that merit did not write as it is
    if record["kind"] == "asked":
        return _Parts(str(record["id"]), str(record["question"]))
    return _Parts(str(record["answer"]), None)


def _about(line: bytes) -> str:
    return _parts_of(line).answer


def _question(line: bytes) -> str:
    return _parts_of(line).question or ""


def _decoded(text: bytes) -> str:
    """A text of JSON; most have nothing escaped."""
    return text[1:-1].decode() if b"\\" not in text else str(json.loads(text))


def plain_question(question: str) -> str:
    """A question without what does not matter: case, spaces and the last punctuation."""
    return " ".join(question.casefold().split()).rstrip(" .?!")
