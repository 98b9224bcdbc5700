"""Where the lines of a history are: by the answer they are about, and by the question.

A history grows for years, so a line is looked at by how it begins, and taken apart only when it is needed. The index
follows the file as it grows; a file that was written anew, as by a purge, is gone through anew.
"""

import json
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from merit.errors import RunUnusable
from merit.files import open_regular
from merit.reading import LINES_BYTES

_TEXT = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_ASKED = re.compile(
    rb'\{"format":\d+,"kind":"asked","id":(' + _TEXT + rb'),"time":"[^"]*","question":(' + _TEXT + rb")"
)
_SAID = re.compile(rb'\{"format":\d+,"kind":"[a-z]+","answer":(' + _TEXT + rb")")
_SCOPE = re.compile(rb'"scope":\s*"[^"]')  # of a word; one that is for everyone has an empty scope or none
_UNREADABLE = (ValueError, RecursionError, KeyError, TypeError)  # of a line: told when all events are read
Place = tuple[int, int, int]  # where a line begins, how long it is, and its number


class HistoryLines:
    """An index over a file of events. Usable from many threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._file = (0, 0)  # device and inode
        self._end = self._count = 0  # bytes and lines that were gone through
        self._answers: dict[str, Place] = {}
        self._feedback: dict[str, list[Place]] = {}
        self._scoped: set[str] = set()  # the answers about which something was said that is not for everyone
        self._questions: dict[str, list[str]] = {}  # the ids of their answers

    def ids(self, beginning: str) -> list[str]:
        """The ids of answers that begin so."""
        self.follow()
        return [identity for identity in list(self._answers) if identity.startswith(beginning)]

    def answers(self, ids: list[str]) -> list[tuple[bytes, int]]:
        """The lines of answers by their ids, with their numbers; one that is not there is left out."""
        return self._read(lambda: [self._answers[identity] for identity in ids if identity in self._answers])

    def said(self, answers: list[str]) -> list[tuple[bytes, int]]:
        """The lines of what was said about some answers, oldest first."""
        return self._read(lambda: sorted(place for answer in answers for place in self._feedback.get(answer, [])))

    def same(self, question: str, *, judged: bool, scoped: bool = False) -> list[tuple[bytes, int]]:
        """The lines of all answers to a question; or of those that people said something about, which are few.

        With `scoped`, only of those about which something was said that is not for everyone.
        """

        def places() -> list[Place]:
            ids = self._questions.get(plain_question(question), [])
            among = self._scoped if scoped else self._feedback if judged else self._answers
            return [self._answers[identity] for identity in ids if identity in among]

        return self._read(places)

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
        self._count += 1
        place = (self._end, len(line), self._count)
        self._end += len(line)
        with suppress(*_UNREADABLE):
            if found := _ASKED.match(line):
                self._note_answer(_decoded(found[1]), _decoded(found[2]), place)
            elif found := _SAID.match(line):
                self._note_word(_decoded(found[1]), line, place)
            else:
                self._take_in_other(line, place)

    def _take_in_other(self, line: bytes, place: Place) -> None:
        """A line that merit did not write as it is."""
        record = json.loads(line)
        if record["kind"] == "asked":
            self._note_answer(str(record["id"]), str(record["question"]), place)
        else:
            self._note_word(str(record["answer"]), line, place)

    def _note_word(self, answer: str, line: bytes, place: Place) -> None:
        self._feedback.setdefault(answer, []).append(place)
        if _SCOPE.search(line):
            self._scoped.add(answer)

    def _note_answer(self, identity: str, question: str, place: Place) -> None:
        self._answers[identity] = place
        self._questions.setdefault(plain_question(question), []).append(identity)

    def _read(self, wanted: Callable[[], list[Place]]) -> list[tuple[bytes, int]]:
        """Lines by their places; where the file was replaced after they were found, they are looked for again."""
        while True:
            self.follow()
            places = wanted()
            if not places:
                return []
            with suppress(FileNotFoundError), os.fdopen(open_regular(self._path, os.O_RDONLY), "rb") as file:
                status = os.fstat(file.fileno())
                if (status.st_dev, status.st_ino) == self._file:
                    return [(self._line(file, start, length), number) for start, length, number in places]

    @staticmethod
    def _line(file: BinaryIO, start: int, length: int) -> bytes:
        file.seek(start)
        return file.read(length).removesuffix(b"\n")

    def _forget(self) -> None:
        self._file, self._end, self._count = (0, 0), 0, 0
        self._answers, self._feedback, self._questions = {}, {}, {}
        self._scoped = set()


def _decoded(text: bytes) -> str:
    """A text of JSON; most have nothing escaped."""
    return text[1:-1].decode() if b"\\" not in text else str(json.loads(text))


def plain_question(question: str) -> str:
    """A question without what does not matter: case, spaces and the last punctuation."""
    return " ".join(question.casefold().split()).rstrip(" .?!")
