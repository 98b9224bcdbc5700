"""A run on disk. Every file is appended to line by line or appears whole, and says its format.

manifest.json        what the run is                        stream.json          questions, schemas, first answers
trajectories.jsonl   one line a turn: the episode           retrievals.jsonl     one line a recall: pools and scores
predictions.jsonl    one line a question: the final SQL     memory/              the memory files
metrics.json         the paper's accounting, at the end     timings.json         what it took, which differs each time

A turn is committed when its trajectory line is whole: it is written last. Whatever a crash left of an unfinished turn
is cut off when the run goes on.
"""

import fcntl
import hashlib
import json
import logging
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merit.agent import Method
from merit.errors import RunUnusable, counted
from merit.reading import LINES_BYTES, check_regular, parse_json, read_bytes, read_text
from merit.stream.manifest import MANIFEST, difference, method_of, read_manifest, refuse_file
from merit.stream.setup import read_stream, stream_text
from merit.stream.turn import Phase, StreamQuestion, Turn, prediction_line, read_turn, recall_lines, turn_line
from merit.types import Polarity, QuestionId
from merit.writing import whole

STREAM, METRICS, TIMINGS = "stream.json", "metrics.json", "timings.json"
TRAJECTORIES, RETRIEVALS, PREDICTIONS = "trajectories.jsonl", "retrievals.jsonl", "predictions.jsonl"
MEMORY, LOCK = "memory", "run.lock"
_APPENDED = (RETRIEVALS, PREDICTIONS, TRAJECTORIES)  # in the order in which a turn is written
_log = logging.getLogger(__name__)


def memory_file(polarity: Polarity) -> str:
    """Where a run keeps the entries of a polarity."""
    return f"{MEMORY}/memory_{polarity}.jsonl"


@dataclass(frozen=True)
class RunView:
    """A run as its files have it."""

    path: Path
    manifest: dict[str, Any]
    method: Method
    questions: dict[QuestionId, StreamQuestion]
    turns: list[Turn]

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the run's content."""
        found: dict[str, Any] = self.manifest["identity"]
        return found


class RunFolder:
    """The folder of one run, open for going on. One process at a time."""

    def __init__(self, path: Path, manifest: dict[str, Any], questions: dict[QuestionId, StreamQuestion]) -> None:
        self.path = path
        self.turns: list[Turn] = []
        self._run = manifest["run"]
        self._files: dict[str, int] = {}
        try:
            path.mkdir(parents=True, exist_ok=True)
            _check_own(path)
            self._lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise RunUnusable(f"{path}: no run can be kept here ({error.strerror}); choose another --out") from error
        try:
            _take(self._lock)
            self._begin(manifest, questions)
            for name in _APPENDED:
                self._files[name] = os.open(path / name, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
        except BlockingIOError:
            self.close()
            raise RunUnusable(f"{path}: another process is at this run; wait for it or stop it") from None
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
            TRAJECTORIES: [turn_line(turn, self._run)],
        }
        for name in _APPENDED:
            data = "".join(line + "\n" for line in lines[name]).encode()
            try:
                while data:
                    data = data[os.write(self._files[name], data) :]
            except OSError as error:
                raise RunUnusable(
                    f"{self.path / name}: cannot be written ({error.strerror}); everything before this turn is kept: "
                    "run the same command again"
                ) from error
        self.turns.append(turn)

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

    def _begin(self, manifest: dict[str, Any], questions: dict[QuestionId, StreamQuestion]) -> None:
        ours = {LOCK, STREAM, *(f"{name}.part" for name in (STREAM, MANIFEST))}
        if (self.path / MANIFEST).is_file():
            there = read_manifest(self.path)["identity"]
            if differs := difference(there, manifest["identity"]):
                raise RunUnusable(f"{self.path}: holds another run: {differs}; choose another --out")
            self.turns = _cut_to_whole_turns(read_run(self.path, torn=True))
        elif strangers := sorted({p.name for p in self.path.iterdir()} - ours):
            raise RunUnusable(f"{self.path}: holds {strangers[0]} and no run; choose a new or empty folder for --out")
        else:
            write_text(self.path / STREAM, stream_text(questions))
            self.write_whole(MANIFEST, manifest)
        for unfinished in self.path.glob("*.json.part"):
            unfinished.unlink()


def in_use(path: Path) -> bool | None:
    """Whether a process is at the run of a folder; None where its lock cannot be asked."""
    try:
        lock = os.open(path / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # given back at once; `_take` waits that out
        return False
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(lock)


def _take(lock: int) -> None:
    """Take a run's lock. Somebody who looks whether it is taken holds it for a moment: that is waited out."""
    for pause_s in (0.02, 0.1):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(pause_s)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def read_run(path: Path, *, torn: bool = False) -> RunView:
    """A run's manifest, stream and turns; `torn` lets a last line that was never finished pass."""
    manifest = read_manifest(path)
    text = read_text(path / STREAM)
    if hashlib.sha256(text.encode()).hexdigest() != manifest["identity"]["stream_sha256"]:
        raise RunUnusable(f"{path / STREAM}: is not the stream that the manifest names; it was edited")
    questions = read_stream(parse_json(text, path / STREAM), str(path / STREAM))
    turns = [
        read_turn(parse_json(line, path / TRAJECTORIES, number), questions, f"{path / TRAJECTORIES}, line {number}")
        for number, line in enumerate(read_lines(path / TRAJECTORIES, torn=torn), 1)
    ]
    return RunView(path, manifest, method_of(manifest["identity"], str(path / MANIFEST)), questions, turns)


def run_folders(path: Path) -> list[Path]:
    """A run's folder itself, or all those below a folder."""
    refuse_file(path)
    found = [path] if (path / MANIFEST).is_file() else sorted(one.parent for one in path.rglob(MANIFEST))
    if not found:
        raise RunUnusable(f"{path}: there is no run here, nor in a folder below (no {MANIFEST})")
    return found


def read_lines(path: Path, *, torn: bool = False) -> list[str]:
    """The lines of a file that was appended to; `torn` drops a last one that was never finished."""
    if not os.path.lexists(path):
        return []
    *lines, rest = read_bytes(path, LINES_BYTES).split(b"\n")
    if rest and not torn:
        raise RunUnusable(f"{path}: the last line is not finished; run the same command again to go on")
    decoded = []
    for number, line in enumerate(lines, 1):
        try:
            decoded.append(line.decode())
        except UnicodeDecodeError:
            raise RunUnusable(f"{path}, line {number}: not UTF-8 text; the file is damaged") from None
    return decoded


def json_text(record: dict[str, Any]) -> str:
    """JSON for people and programs."""
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    with whole(path, fault=RunUnusable, way_out="everything before is kept: run the same command again") as file:
        file.write(text.encode())


def _cut_to_whole_turns(view: RunView) -> list[Turn]:
    """Find how many turns are whole in every file, and cut off what follows them."""
    files = {name: _raw_lines(view.path / name) for name in (*_APPENDED, *map(memory_file, Polarity))}
    used = dict.fromkeys(files, 0)
    whole: list[Turn] = []
    for turn in view.turns:
        needs = {RETRIEVALS: turn.recalls, PREDICTIONS: int(turn.phase is Phase.ANSWER), TRAJECTORIES: 1}
        if turn.entry is not None:
            needs[memory_file(polarity_of(turn.entry))] = 1
        if any(used[name] + count > len(files[name]) for name, count in needs.items()):
            break
        if needs[PREDICTIONS] and files[PREDICTIONS][used[PREDICTIONS]] != prediction_line(turn).encode() + b"\n":
            place = f"{view.path / PREDICTIONS}, line {used[PREDICTIONS] + 1}"
            raise RunUnusable(f"{place}: is not the final SQL of its turn; the file was edited or damaged")
        for name, count in needs.items():
            used[name] += count
        whole.append(turn)
    if len(whole) < len(view.turns):
        lost = len(view.turns) - len(whole)
        what, are = counted(lost, "turn"), "is" if lost == 1 else "are"
        _log.warning("%s: %s %s not whole in every file and %s run again", view.path, what, are, are)
    for name, lines in files.items():
        _cut(view.path / name, sum(map(len, lines[: used[name]])))
    return whole


def polarity_of(entry: str) -> Polarity:
    """What an entry is, by its id."""
    found = (polarity for polarity in Polarity if entry.startswith(f"{polarity[:3]}-"))
    return next(found, Polarity.NEGATIVE)  # a name that is none is found out with its line


def _raw_lines(path: Path) -> list[bytes]:
    if not os.path.lexists(path):
        return []
    return [line + b"\n" for line in read_bytes(path, LINES_BYTES).split(b"\n")[:-1]]


def _check_own(run: Path) -> None:
    """Complain about a run to go on with whose files are links: what they lead to would be written, and cut."""
    for name in (LOCK, MANIFEST, STREAM, METRICS, TIMINGS, *_APPENDED, MEMORY, *map(memory_file, Polarity)):
        path = run / name
        if path.is_symlink():
            raise RunUnusable(f"{path}: is a link; a run that goes on has its files in its own folder")
        if path.exists() and name != MEMORY:
            check_regular(path)


def _cut(path: Path, size: int) -> None:
    if path.is_file() and path.stat().st_size > size:
        os.truncate(path, size)
