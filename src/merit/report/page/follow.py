"""Runs that may still be going on, read up to their last complete line."""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from merit.errors import RunUnusable
from merit.files import is_file
from merit.reading import LINES_BYTES, open_file, parse_json
from merit.report.page.pack import PackedRun, run_record
from merit.report.page.progress import RunPace, RunProgress, progress_of
from merit.runs import Manifest, Turn, is_drawn, is_finished, read_manifest
from merit.runs.paths import MANIFEST, RETRIEVALS, REVIEWS, STREAM, TRAJECTORIES
from merit.runs.questions import read_stream
from merit.runs.reviews import read_review
from merit.runs.text import decode_line
from merit.runs.turn import read_turn

DEEPEST = 3  # levels of folders that are searched for runs


class FileShrunk(Exception):
    """A file is shorter than what was read of it: the run was cut or restarted."""


@dataclass(slots=True)
class FileTail:
    """A file that is appended to; an unfinished last line is read later."""

    path: Path
    offset: int = 0
    number: int = 0

    def records(self) -> Iterator[tuple[int, Any]]:
        """Whole lines that are new, with their numbers."""
        if not self.path.exists():
            if self.offset:
                raise FileShrunk
            return
        with open_file(self.path) as file:
            size = file.seek(0, 2)
            if size < self.offset:
                raise FileShrunk
            if size > LINES_BYTES:
                raise RunUnusable(f"{self.path}: far longer than any run's")
            file.seek(self.offset)
            data = file.read(size - self.offset)
        for line in data.split(b"\n")[:-1]:
            self.offset += len(line) + 1
            self.number += 1
            yield self.number, parse_json(decode_line(line, self.path, self.number), self.path, self.number)


@dataclass(slots=True)
class FollowedRun:
    """One run and what was read of it."""

    path: Path
    manifest: Manifest
    packed: PackedRun
    turns: FileTail
    recalls: FileTail
    reviews: FileTail
    waiting_recalls: deque[tuple[int, Any]] = field(default_factory=deque)  # recalls whose turn is not read yet
    unpacked: deque[Turn] = field(default_factory=deque)  # turns whose review is not read yet
    waiting_reviews: deque[tuple[int, Any]] = field(default_factory=deque)  # reviews whose turn is not packed yet
    pace: RunPace = field(default_factory=RunPace)

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end."""
        return is_finished(self.path)

    def look(self) -> bool:
        """Read new turns; returns whether there were any."""
        before = len(self.packed.turns)
        for number, record in self.turns.records():
            self.unpacked.append(read_turn(record, self.packed.questions, f"{self.turns.path}, line {number}"))
        while self.unpacked and (turn := self._reviewed(self.unpacked[0])) is not None:
            self.unpacked.popleft()
            if len(self.waiting_recalls) < turn.recalls:  # recalls are written before their turn, so the file has them
                self.waiting_recalls.extend(self.recalls.records())
            records = [self.waiting_recalls.popleft() for _ in range(min(turn.recalls, len(self.waiting_recalls)))]
            self.packed.add(turn, [(f"{self.recalls.path}, line {line}", recall) for line, recall in records])
        self.pace.note(len(self.packed.turns), time.monotonic())
        return len(self.packed.turns) > before

    def _reviewed(self, turn: Turn) -> Turn | None:
        """The turn with what was said of its answer; None while that is still to come, which takes a moment."""
        identity = self.manifest.identity
        if not is_drawn(identity.review, identity.seed, turn.episode.task.question.id):
            return turn
        if not self.waiting_reviews:
            self.waiting_reviews.extend(self.reviews.records())
        if not self.waiting_reviews:
            return None
        number, record = self.waiting_reviews.popleft()
        _, review = read_review(record, f"{self.reviews.path}, line {number}")
        return replace(turn, review=review)

    @property
    def progress(self) -> RunProgress:
        """The progress of the run at this moment."""
        passes = 1 if self.manifest.identity.method.online else 2
        done, answered = len(self.packed.turns), len(self.packed.index["q"])
        return progress_of(self.path, self.pace, done, answered, passes)

    def record(self, identity: str) -> dict[str, Any]:
        """What the page says about the run as a whole."""
        return run_record(self.manifest, self.path, identity, len(self.packed.questions))


def follow(path: Path) -> FollowedRun:
    """Begin to follow the run of a folder."""
    manifest = read_manifest(path)
    packed = PackedRun(read_stream(path), manifest.identity)
    turns, recalls, reviews = (FileTail(path / name) for name in (TRAJECTORIES, RETRIEVALS, REVIEWS))
    return FollowedRun(path, manifest, packed, turns, recalls, reviews)


def size_of(path: Path) -> tuple[int, ...]:
    """How large a run's files are, by which a change is noticed."""
    files = (path / name for name in (MANIFEST, STREAM, TRAJECTORIES, RETRIEVALS, REVIEWS))
    return tuple(file.stat().st_size if is_file(file) else 0 for file in files)
