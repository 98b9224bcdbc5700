"""The files of a run's folder by name, and finding such folders.

manifest.json        what the run is                        stream.json          questions, schemas, first answers
trajectories.jsonl   one line a turn: the episode           retrievals.jsonl     one line a recall: pools and scores
predictions.jsonl    one line a question: the final SQL     memory/              the memory's log
metrics.json         the paper's accounting, at the end     timings.json         what it took, which differs each time
reviews.jsonl        one line a reviewed answer (only in the regime reviewed)
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from merit.errors import RunUnusable
from merit.files import is_file
from merit.memory.format4 import LOG_NAME

MANIFEST, STREAM, METRICS, TIMINGS = "manifest.json", "stream.json", "metrics.json", "timings.json"
TRAJECTORIES, RETRIEVALS, PREDICTIONS = "trajectories.jsonl", "retrievals.jsonl", "predictions.jsonl"
REVIEWS, MEMORY, LOCK = "reviews.jsonl", "memory", "run.lock"
_MOST_NAMED = 20  # entries that cannot be looked at
ENTRIES = f"{MEMORY}/{LOG_NAME}"


def is_finished(run: Path) -> bool:
    """Whether a run has come to its end."""
    return is_file(run / METRICS)


def find_runs(folder: Path, *, deepest: int | None = None, faults: list[str] | None = None) -> list[Path]:
    """The folder itself if it is a run's, else all those below it, at most `deepest` folders down; perhaps none.

    With `deepest`, links to folders are followed. What cannot be looked at is left out and gets a sentence in `faults`.
    A manifest that cannot be read makes its folder one of those found: reading it says what is wrong.
    """
    if is_file(folder / MANIFEST):
        return [folder]
    found, to_do = set(), [(folder, 0)]
    named = _Faults(folder, [] if faults is None else faults)
    while to_do:
        here, depth = to_do.pop()
        with named.left_out(here), os.scandir(here) as entries:
            for entry in entries:
                if entry.name == MANIFEST:
                    found.add(here)
                elif deepest is None or depth < deepest:
                    with named.left_out(here / entry.name):
                        if entry.is_dir(follow_symlinks=deepest is not None):
                            to_do.append((here / entry.name, depth + 1))
    return sorted(found)


class _Faults:
    """Sentences about entries that cannot be looked at, the first few of them by name."""

    def __init__(self, folder: Path, sentences: list[str]) -> None:
        self._folder = folder
        self._sentences = sentences
        self._count = 0

    @contextmanager
    def left_out(self, path: Path) -> Iterator[None]:
        """Go on after an error of the file system, and say it; a file that is gone by now is not an error."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            self._count += 1
            if self._count <= _MOST_NAMED:
                self._sentences.append(f"{path}: cannot be looked at ({error.strerror}); it is left out")
            elif self._count == _MOST_NAMED + 1:
                self._sentences.append(f"{self._folder}: more entries below cannot be looked at; they are left out")


def refuse_file(path: Path) -> None:
    """Say what to give where a file was given instead of a run's folder."""
    if not is_file(path):
        return
    parent = path.absolute().parent
    way_out = f"give the folder of a run, such as {parent}" if is_file(parent / MANIFEST) else "give a run's folder"
    if path.suffix == ".html":
        way_out = "a report's page is opened in a browser, and this command takes the folder of a run"
    raise RunUnusable(f"{path}: is a file; {way_out}")


def run_folders(folder: Path, faults: list[str] | None = None) -> list[Path]:
    """A run's folder itself, or all those below a folder; a folder without any is refused.

    What cannot be looked at is left out and gets a sentence in `faults`.
    """
    refuse_file(folder)
    runs = find_runs(folder, faults=faults)
    if not runs:
        raise RunUnusable(f"{folder}: there is no run here, nor in a folder below (no {MANIFEST})")
    return runs
