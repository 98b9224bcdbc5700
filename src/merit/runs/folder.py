"""The folder of a run, open for going on. Every file is appended to line by line or appears whole, and says its format.

A turn is committed when its trajectory line is whole: it is written last. Whatever a crash left of an unfinished turn
is cut off when the run goes on. What a reviewer says of an answer follows its turn: its entries, then its line. A turn
that lacks it is kept, and the review is made again.
"""

import logging
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from merit.errors import RunUnusable, counted
from merit.files import is_locked, open_regular, take_lock, write_all
from merit.memory import format3
from merit.reading import DOCUMENT_BYTES, LINES_BYTES, MIB, check_regular, read_bytes
from merit.runs.manifest import Identity, Manifest
from merit.runs.manifest_reading import read_manifest
from merit.runs.paths import (
    ENTRIES,
    LOCK,
    MANIFEST,
    MEMORY,
    METRICS,
    PREDICTIONS,
    RETRIEVALS,
    REVIEWS,
    STREAM,
    TIMINGS,
    TRAJECTORIES,
)
from merit.runs.questions import Questions, stream_text
from merit.runs.retrievals import recall_lines
from merit.runs.reviews import AnswerReview, is_drawn, review_line
from merit.runs.run_mismatch import holds_another, run_mismatch
from merit.runs.text import json_text, write_text
from merit.runs.turn import Phase, Turn, prediction_line, turn_line
from merit.runs.view import RunView, read_run

_APPENDED = (RETRIEVALS, PREDICTIONS, TRAJECTORIES)  # in the order in which a turn is written
_log = logging.getLogger(__name__)


def in_use(run: Path) -> bool | None:
    """Whether a process is making the run of a folder; None where that cannot be found out."""
    return is_locked(run / LOCK)


class RunFolder:
    """The folder of one run, open for going on. One process at a time."""

    def __init__(self, path: Path, manifest: Manifest, questions: Questions) -> None:
        self.path = path
        self.turns: list[Turn] = []
        self.run = manifest.run
        self._identity = manifest.identity
        self._files: dict[str, int] = {}
        try:
            path.mkdir(parents=True, exist_ok=True)
            _check_own(path)
            _check_free(path)  # before anything is written there
            self._lock = open_regular(path / LOCK, os.O_RDWR | os.O_CREAT)
        except FileExistsError as error:
            raise RunUnusable(f"{path}: is a file, and a run is kept in a folder; choose another place") from error
        except OSError as error:
            raise RunUnusable(f"{path}: no run can be kept here ({error.strerror}); choose another folder") from error
        try:
            if not take_lock(self._lock):
                raise RunUnusable(f"{path}: another process is at this run; wait for it or stop it")
            self._begin(manifest, questions)
            for name in (*_APPENDED, *([REVIEWS] if manifest.identity.review else [])):
                self._files[name] = open_regular(path / name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            self.close()
            raise RunUnusable(f"{error.filename or path}: cannot be written ({error.strerror})") from error
        except BaseException:
            self.close()
            raise

    def append(self, turn: Turn) -> None:
        """Write a turn, its trajectory last; its entry must be in the memory already."""
        lines = {
            RETRIEVALS: recall_lines(turn),
            PREDICTIONS: [prediction_line(turn)] if turn.phase is Phase.ANSWER else [],
            TRAJECTORIES: [turn_line(turn, self.run)],
        }
        written = {name: "".join(line + "\n" for line in lines[name]).encode() for name in _APPENDED}
        for name in _APPENDED:
            self._check_readable(name, lines[name], len(written[name]))
        for name in _APPENDED:
            self._write(name, written[name])
        self.turns.append(turn)

    @property
    def unreviewed(self) -> Turn | None:
        """The last turn, if its answer is drawn for review and nothing was said of it yet."""
        last = self.turns[-1] if self.turns else None
        return last if last is not None and _is_due(self._identity, last) else None

    def keep_answers(self) -> None:
        """Have every turn on disk: only then may anything be said of its answer that the agent does not know."""
        for name in _APPENDED:
            os.fsync(self._files[name])

    def append_review(self, review: AnswerReview) -> None:
        """Write what was said of the last turn's answer; its entries must be in the memory already."""
        line = review_line(self.turns[-1].episode.task, review, self.run)
        self._check_readable(REVIEWS, [line], len(line.encode()) + 1)
        self._write(REVIEWS, line.encode() + b"\n")
        self.turns[-1] = replace(self.turns[-1], review=review)

    def _write(self, name: str, data: bytes) -> None:
        try:
            write_all(self._files[name], data)
        except OSError as error:
            raise RunUnusable(
                f"{self.path / name}: cannot be written ({error.strerror}); everything before this turn is kept: "
                "run the same again"
            ) from error

    def _check_readable(self, name: str, lines: list[str], size: int) -> None:
        """Raise before anything of a turn is written that could not be read again."""
        longest = max(map(len, lines), default=0)
        if longest > DOCUMENT_BYTES or os.fstat(self._files[name]).st_size + size > LINES_BYTES:
            raise RunUnusable(
                f"{self.path / name}: this turn would make it longer than merit reads again ({DOCUMENT_BYTES // MIB} "
                f"MiB a line, {LINES_BYTES // MIB} MiB in all); everything before it is kept and can be read: begin "
                "another run with a smaller budget or limit, or a model that answers more briefly"
            )

    def write_whole(self, name: str, record: dict[str, Any]) -> None:
        """Write a file that appears whole or not at all."""
        write_text(self.path / name, json_text(record))

    def forget_metrics(self) -> None:
        """Take away metrics that are about to be out of date."""
        try:
            (self.path / METRICS).unlink(missing_ok=True)
        except OSError as error:
            raise RunUnusable(f"{self.path / METRICS}: cannot be removed ({error.strerror})") from error

    def close(self) -> None:
        """Give back files and lock."""
        for file in (*self._files.values(), self._lock):
            with suppress(OSError):
                os.close(file)
        self._files = {}

    def _begin(self, manifest: Manifest, questions: Questions) -> None:
        _check_free(self.path)  # again, now that it is locked
        if (self.path / MANIFEST).is_file():
            there = read_manifest(self.path)
            differs = run_mismatch(there.identity.record(), manifest.identity.record())
            if differs is None:
                self.run = there.run  # an earlier merit may have written the same identity with fewer fields
                self.turns = _cut_to_whole_turns(read_run(self.path, torn=True))
            else:
                self._replace(*differs)
                self._write_new(manifest, questions)
        else:
            self._write_new(manifest, questions)
        for unfinished in self.path.glob("*.json.part"):
            unfinished.unlink()

    def _write_new(self, manifest: Manifest, questions: Questions) -> None:
        write_text(self.path / STREAM, stream_text(questions))
        self.write_whole(MANIFEST, manifest.record())

    def _replace(self, differs: str, way_out: str) -> None:
        """Clear the folder of another run, if no turn of it was finished: a mistyped option must not cost a folder."""
        if _raw_lines(self.path / TRAJECTORIES):
            raise holds_another(self.path, differs, way_out)
        _log.warning("merit: %s: replacing a run without a finished turn (%s)", self.path, differs)
        for name in (*_APPENDED, REVIEWS, ENTRIES, METRICS, TIMINGS):
            (self.path / name).unlink(missing_ok=True)


def _check_free(path: Path) -> None:
    """Complain about a folder that is not a run's and holds what is not merit's."""
    ours = {LOCK, STREAM, *(f"{name}.part" for name in (STREAM, MANIFEST))}
    if not (path / MANIFEST).is_file() and (strangers := sorted({inside.name for inside in path.iterdir()} - ours)):
        if runs := [name for name in strangers if (path / name / MANIFEST).is_file()]:
            raise RunUnusable(f"{path}: holds runs ({runs[0]}); name a new folder in it, such as {path / 'NAME'}")
        raise RunUnusable(f"{path}: holds {strangers[0]} and no run; choose a new or empty folder")


def _cut_to_whole_turns(view: RunView) -> list[Turn]:
    """Find how many turns are whole in every file, and cut off what follows them."""
    if older := format3.files_in(view.path / MEMORY):
        raise RunUnusable(f"{older[0]}: is of an earlier merit, which alone can go on with it; choose another place")
    files = {name: _raw_lines(view.path / name) for name in (*_APPENDED, REVIEWS, ENTRIES)}
    used = dict.fromkeys(files, 0)
    whole: list[Turn] = []
    for turn in view.turns:
        needs = {RETRIEVALS: turn.recalls, PREDICTIONS: int(turn.phase is Phase.ANSWER), TRAJECTORIES: 1}
        needs[ENTRIES] = int(turn.entry is not None)
        if any(used[name] + count > len(files[name]) for name, count in needs.items()):
            break
        if needs[PREDICTIONS] and files[PREDICTIONS][used[PREDICTIONS]] != prediction_line(turn).encode() + b"\n":
            where = f"{view.path / PREDICTIONS}, line {used[PREDICTIONS] + 1}"
            raise RunUnusable(f"{where}: is not the final SQL of its turn; the file was edited or damaged")
        for name, count in needs.items():
            used[name] += count
        if turn.review is not None:
            of_review = {REVIEWS: 1, ENTRIES: len(turn.review.learned)}
            if any(used[name] + count > len(files[name]) for name, count in of_review.items()):
                turn = replace(turn, review=None)
            else:
                for name, count in of_review.items():
                    used[name] += count
        whole.append(turn)
        if _is_due(view.identity, turn):  # whatever follows was made without it
            break
    if len(whole) < len(view.turns):
        lost = len(view.turns) - len(whole)
        what, are = counted(lost, "turn"), "is" if lost == 1 else "are"
        _log.warning("%s: %s %s not whole in every file and %s run again", view.path, what, are, are)
    own = f'"run":"{view.manifest.run}"'.encode()
    left = files[ENTRIES][used[ENTRIES] :]
    if any(b'"kind":"deletion"' in line for line in left):
        raise RunUnusable(
            f"{view.path / ENTRIES}: entries of this run were deleted or confirmed by a person, and going on would "
            "undo that; choose another place"
        )
    if any(own not in line for line in left):
        raise RunUnusable(
            f"{view.path / ENTRIES}: holds entries that this run did not leave, and going on would remove them; choose "
            "another place"
        )
    for name, lines in files.items():
        _cut(view.path / name, sum(map(len, lines[: used[name]])))
    return whole


def _is_due(identity: Identity, turn: Turn) -> bool:
    """Whether a turn's answer is drawn for review, and nothing was said of it yet."""
    return turn.review is None and is_drawn(identity.review, identity.seed, turn.episode.task.question.id)


def _raw_lines(path: Path) -> list[bytes]:
    if not os.path.lexists(path):
        return []
    return [line + b"\n" for line in read_bytes(path, LINES_BYTES).split(b"\n")[:-1]]


def _check_own(run: Path) -> None:
    """Complain about a run to go on with whose files are links: what they lead to would be written, and cut."""
    for name in (LOCK, MANIFEST, STREAM, METRICS, TIMINGS, *_APPENDED, REVIEWS, MEMORY, ENTRIES):
        path = run / name
        if path.is_symlink():
            raise RunUnusable(f"{path}: is a link; a run that goes on has its files in its own folder")
        if path.exists() and name != MEMORY:
            check_regular(path)


def _cut(path: Path, size: int) -> None:
    if path.is_file() and path.stat().st_size > size:
        os.truncate(path, size)
