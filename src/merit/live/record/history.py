"""The history of a database's questions: one line an event, on the disk before it is acknowledged.

Several processes may append. What a crash left of a line was never acknowledged; the next writer cuts it off. A purge
replaces the file as a whole, so a writer makes sure that it writes to the one that is there.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from merit.errors import Conflict, InputError, NotFound, RunUnusable, check_type
from merit.files import atomic_write, open_regular, take_lock, what_to_do, write_all
from merit.live.record.day_usage import DayUsage
from merit.live.record.events import Asked, Event, Feedback, Withdrawn, event_in, event_record, kind_of
from merit.live.record.lines import HistoryLines, plain_question
from merit.models import Usage
from merit.reading import LINES_BYTES
from merit.runs.text import decode_line, read_lines, to_json

HISTORY = "history.jsonl"
_WAIT_S = 15.0  # for another process: an append takes milliseconds, on a disk that stands still seconds
_AGAIN_S = 0.001
_PART = 200  # answers that are read at a time


class History:
    """The file history.jsonl in a folder. Usable from many threads."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / HISTORY
        self._day = DayUsage(self.path)
        self._lines = HistoryLines(self.path)
        self._turn = threading.Lock()  # of the thread that writes, or waits for another process to have written

    def append(self, event: Event) -> None:
        """Write an event down; it survives a crash once this returns."""
        with self._open() as file:
            self._append(file, event)

    @contextmanager
    def judging(self, identity: str) -> Iterator[tuple[Asked, Callable[[Feedback], None]]]:
        """An answer without feedback, and a function that writes its feedback down; other writers wait meanwhile."""
        with self._open() as file:
            asked, feedback = self.find(identity)
            if feedback is not None:
                what, by = kind_of(feedback), f" by {feedback.author}" if feedback.author else ""
                raise Conflict(
                    f"{asked.id}: was {what} already, on {feedback.time}{by}; `merit withdraw {asked.id}` takes that "
                    "back"
                )
            yield asked, lambda feedback: self._append(file, feedback)

    @contextmanager
    def withdrawing(self, identity: str) -> Iterator[tuple[Asked, Feedback, Callable[[Withdrawn], None]]]:
        """An answer, its feedback, and a function that writes down that it is taken back; other writers wait."""
        with self._open() as file:
            asked, feedback = self.find(identity)
            if feedback is None:
                raise Conflict(f"{asked.id}: nothing was said about it, so there is nothing to withdraw")
            yield asked, feedback, lambda withdrawn: self._append(file, withdrawn)

    @contextmanager
    def rewriting(self) -> Iterator[Callable[[Callable[[Event], bool]], int]]:
        """A function that writes the file again with the events to keep; other writers wait meanwhile."""
        with self._open():
            yield self._rewrite

    def events(self) -> list[Event]:
        """Everything that happened, in order."""
        if not self.path.exists():
            return []
        lines = read_lines(self.path, torn=True)
        return [event_in(line, self.path, number) for number, line in enumerate(lines, 1)]

    def answers(self) -> dict[str, Asked]:
        """The questions that were asked, by the ids of their answers."""
        return {event.id: event for event in self.events() if isinstance(event, Asked)}

    def feedback(self) -> dict[str, Feedback]:
        """What was said about answers and not taken back, by their ids."""
        return valid_feedback(self.events())

    def find(self, identity: str) -> tuple[Asked, Feedback | None]:
        """An answer by its id, or by an unambiguous beginning of it, and what was said about it last."""
        check_type("answer", identity, str, "the id of an answer, such as answer.id")
        found = self._lines.ids(identity) if identity else []
        if len(found) != 1:
            why = "there is no answer" if not found else "several answers begin with"
            raise NotFound(f"{self.path}: {why} {identity!r}; `merit history` lists them")
        (asked,) = self._asked(self._lines.answers(found))
        feedback = self.judged([asked])
        return asked, feedback[-1][1] if feedback else None

    def newest_first(self, before: str = "") -> Iterator[tuple[Asked, Feedback | None]]:
        """Every answer that was asked before one (or all), with what was said about it; read in parts, as needed."""
        ids = self._lines.newest(before)
        while part := list(islice(ids, _PART)):
            answers = self._asked(self._lines.answers(part))
            feedback = {asked.id: word for asked, word in self.judged(answers)}
            yield from ((asked, feedback.get(asked.id)) for asked in answers)

    def judged(self, answers: Iterable[Asked]) -> list[tuple[Asked, Feedback]]:
        """Those answers that people said something about, with what stands of it, in the order in which it was said."""
        by_id = {asked.id: asked for asked in answers}
        feedback = valid_feedback(self._event(*line) for line in self._lines.feedback_on(list(by_id)))
        return [(by_id[answer], word) for answer, word in feedback.items()]

    def stood(self, answers: Iterable[Asked], since: str, until: str) -> list[tuple[Asked, Feedback]]:
        """What was said about some answers and stood at a moment between two times, also if it was taken back later."""
        words: list[tuple[Asked, Feedback]] = []
        for asked, event in self.said(answers):
            if isinstance(event, Withdrawn):
                if event.time < since:
                    words = [(other, word) for other, word in words if other.id != asked.id]
            elif event.time <= until:
                words.append((asked, event))
        return words

    def said(self, answers: Iterable[Asked]) -> list[tuple[Asked, Feedback | Withdrawn]]:
        """All that was ever said about some answers, and that it was taken back, in order."""
        by_id = {asked.id: asked for asked in answers}
        events = (self._event(*line) for line in self._lines.feedback_on(list(by_id)))
        return [(by_id[event.answer], event) for event in events if isinstance(event, Feedback | Withdrawn)]

    def scoped(self, question: str) -> list[Asked]:
        """The answers to a question, whatever was asked before it, of which something was said not for everyone."""
        return self._asked(self._lines.same(question, scoped=True))

    def same_question(
        self, database: str, before: Sequence[str], question: str, *, judged: bool = False
    ) -> list[Asked]:
        """Every answer to this very question, apart from case, spaces and the last punctuation.

        `before` are the questions of the conversation that it was asked in: behind others it is another question. With
        `judged`, only those that people said something about.
        """
        whole = plain_question(standing_question(before, question))
        same = self._asked(self._lines.same(question, judged=judged))
        return [
            asked
            for asked in same
            if asked.database == database and plain_question(self.whole_question(asked)) == whole
        ]

    def before(self, asked: Asked) -> list[str]:
        """The questions before one of a conversation, as far as they were not purged."""
        return [turn.question for turn in self.turns(asked)]

    def turns(self, asked: Asked) -> list[Asked]:
        """The answers before one of a conversation, as far as they were not purged."""
        return self._asked(self._lines.answers(list(asked.earlier)))

    def whole_question(self, asked: Asked) -> str:
        """A question as it stands by itself: one of a conversation together with those before it."""
        return standing_question(self.before(asked), asked.question)

    def sent_on(self, day: str) -> Usage:
        """What all questions of a day, such as 2026-11-16, have taken."""
        return self._day.sent(day)

    def _event(self, line: bytes, number: int) -> Event:
        return event_in(decode_line(line, self.path, number), self.path, number)

    def _asked(self, lines: list[tuple[bytes, int]]) -> list[Asked]:
        events = [self._event(*line) for line in lines]
        return [event for event in events if isinstance(event, Asked)]

    def _append(self, file: int, event: Event) -> None:
        line, end = _line(event), _whole_lines(file)
        if end + len(line) > LINES_BYTES:
            raise RunUnusable(f"{self.path}: the history is full; move the file aside and go on with a new one")
        os.ftruncate(file, end)
        os.lseek(file, end, os.SEEK_SET)
        try:
            write_all(file, line)
            os.fsync(file)
        except OSError as error:
            os.ftruncate(file, end)
            raise InputError(f"{self.path}: cannot be written ({error.strerror}); {what_to_do(error)}") from error

    def _rewrite(self, keep: Callable[[Event], bool]) -> int:
        """How many events went."""
        events = self.events()
        kept = [event for event in events if keep(event)]
        with atomic_write(self.path) as file:
            file.writelines(_line(event) for event in kept)
        return len(events) - len(kept)

    @contextmanager
    def _open(self) -> Iterator[int]:
        """The file, with other writers kept out; one that a purge replaced meanwhile is left for the new one."""
        with self._turn:
            yield from self._opened()

    def _opened(self) -> Iterator[int]:
        until = time.monotonic() + _WAIT_S
        while True:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                file = open_regular(self.path, os.O_RDWR | os.O_CREAT)
            except OSError as error:
                raise InputError(f"{self.path}: cannot be written ({error.strerror}); {what_to_do(error)}") from None
            try:
                while not take_lock(file):
                    if time.monotonic() > until:
                        raise RunUnusable(
                            f"{self.path}: another process is writing the history; wait for it or stop it"
                        )
                    time.sleep(_AGAIN_S)
                if _is_at(file, self.path):
                    yield file
                    return
            finally:
                os.close(file)


def valid_feedback(events: Iterable[Event]) -> dict[str, Feedback]:
    """What was said about answers and not taken back, by their ids."""
    feedback: dict[str, Feedback] = {}
    for event in events:
        if isinstance(event, Feedback):
            feedback[event.answer] = event
        elif isinstance(event, Withdrawn):
            feedback.pop(event.answer, None)
    return feedback


def standing_question(before: Sequence[str], question: str) -> str:
    """A question of a conversation, with those before it: `How many orders? | and in May?`."""
    return " | ".join([*before, question])


def _line(event: Event) -> bytes:
    return (to_json(event_record(event)) + "\n").encode()


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
