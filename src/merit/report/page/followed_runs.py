"""The page over live run folders: what the browser asks for, kept up to date by one thread."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from merit.errors import MeritError
from merit.report.opening import open_runs
from merit.report.page.follow import DEEPEST, FileShrunk, FollowedRun, follow, size_of
from merit.report.page.pack import page_id, stream_key, stream_text
from merit.report.page.progress import summary
from merit.report.page.write import overview, page_order, run_text
from merit.report.report import Report
from merit.runs import RunView, find_runs
from merit.runs.text import to_json

REFRESH_S = 1.0
Build = Callable[[Sequence[RunView], Sequence[str]], Report]


class FollowedRuns:
    """The runs in a folder, followed while they go on, as data for the page."""

    def __init__(self, folder: Path, build: Build) -> None:
        self.folder = folder
        self._build = build
        self._runs: dict[str, FollowedRun] = {}
        self._refused: dict[Path, tuple[str, tuple[int, ...]]] = {}
        self._faults: list[str] = []  # about entries of the folder that cannot be looked at
        self._report = build([], [])
        self._reported: set[tuple[Path, int]] | None = None  # finished runs, with their turns, in the tables
        self._changes = self._reports = 0
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._follow, self._tabulate)]

    def start(self) -> None:
        """Begin to follow the runs."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Tell the threads to end."""
        self._stopped.set()

    def look(self) -> None:
        """Read everything new in the folder."""
        faults: list[str] = []
        paths = find_runs(self.folder, deepest=DEEPEST, faults=faults)
        self._note_faults(sorted(faults))
        for path in paths:
            with self._lock:
                try:
                    if self._refused.get(path, ("", ()))[1] != size_of(path):  # otherwise a refused run has not changed
                        self._look(path)
                except MeritError as error:
                    self._refuse(path, str(error))
                except OSError as error:
                    self._refuse(path, f"{error.filename or path}: cannot be read ({error.strerror})")

    def _note_faults(self, faults: list[str]) -> None:
        with self._lock:
            if faults != self._faults:
                self._faults = faults
                self._reports += 1
                self._changes += 1

    def _look(self, path: Path) -> None:
        identity = self._name(path)
        if identity is None:
            run = follow(path)
            identity = page_id(run.manifest, self._runs)
            self._runs[identity] = run
            self._changes += 1
            self._reports += 1
        try:
            grown = self._runs[identity].look()
        except FileShrunk:  # the run was cut or restarted: read it from its start
            self._runs[identity] = follow(path)
            grown = self._runs[identity].look() or True
        self._changes += grown
        if self._refused.pop(path, None):
            self._reports += 1

    def _name(self, path: Path) -> str | None:
        return next((identity for identity, run in self._runs.items() if run.path == path), None)

    def _refuse(self, path: Path, why: str) -> None:
        """Leave a run out until its files change, and say why."""
        self._runs.pop(self._name(path) or "", None)
        self._refused[path] = (why, size_of(path))
        self._reports += 1
        self._changes += 1

    def tabulate(self) -> None:
        """Rebuild tables and figures if the set of finished runs has changed."""
        with self._lock:
            finished = {(run.path, len(run.packed.turns)) for run in self._runs.values() if run.finished}
        if finished == self._reported:
            return
        report = self._build(*open_runs(path for path, _ in sorted(finished)))
        with self._lock:
            self._report, self._reported = report, finished
            self._reports += 1
            self._changes += 1

    def answer(self, name: str, start: int = 0) -> str | None:
        """A part of the data as JSON; None where there is no such part."""
        kind, _, rest = name.partition("/")
        with self._lock:
            if kind == "run" and rest in self._runs:
                return "".join(run_text(self._runs[rest].packed.turns[start:]))
            if kind == "stream":
                for run in self._runs.values():
                    if stream_key(run.manifest.identity) == rest:
                        return stream_text(run.packed.questions)
            parts = {"overview": self._overview, "index": self._index, "state": self._state}
            return to_json(parts[name]()) if name in parts else None

    def _overview(self) -> dict[str, Any]:
        ordered = sorted(self._runs.items(), key=lambda item: page_order(item[1]))
        content = overview(self._report, [run.record(identity) for identity, run in ordered])
        return {**content, "notes": [*self._faults, *(why for why, _ in self._refused.values()), *content["notes"]]}

    def _index(self) -> dict[str, Any]:
        return {identity: run.packed.index for identity, run in self._runs.items()}

    def _state(self) -> dict[str, Any]:
        progresses = {identity: run.progress for identity, run in self._runs.items()}
        runs = {
            identity: {
                "turns": len(self._runs[identity].packed.turns),
                "state": progress.state,
                "said": progress.sentence,
            }
            for identity, progress in progresses.items()
        }
        return {"overview": self._reports, "index": self._changes, "said": summary(progresses.values()), "runs": runs}

    def _follow(self) -> None:
        while not self._stopped.is_set():
            self.look()
            self._stopped.wait(REFRESH_S)

    def _tabulate(self) -> None:
        while not self._stopped.wait(REFRESH_S):
            self.tabulate()
