"""Processes that run statements, kept for later tests: starting one takes longer than most tests ask of it.

They are the real ones. One that has read a file which has changed since is ended instead, since a frozen sandbox would not notice.
Tests of the processes themselves (tests/sql, tests/oracle) start their own.
"""

import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from merit.files import file_state
from merit.sql import SQLiteSandbox
from merit.sql.process import Child
from merit.sql.sqlite.trial import Task
from merit.sql.sqlite.worker import Worker
from merit.types import Result

_MOST = 4  # processes that are kept
_MOST_FILES = 100  # that one may have read


@dataclass
class _Kept:
    """What a worker gives up: its process, and what belongs to that."""

    child: Child
    progress: mmap.mmap
    scratch: str
    files: dict[bytes, tuple[int, ...]]  # what it has read, as it was then
    folder: Path  # where it was started: it reads relative paths from there

    def is_fresh(self) -> bool:
        """Whether a new sandbox may have it."""
        unchanged = all(file_state(path) == was for path, was in self.files.items())
        return unchanged and self.folder == Path.cwd() and self.child.process.poll() is None

    def given_to(self, worker: Worker) -> Worker:
        """The worker that has it now."""
        worker._child, worker._progress, worker._scratch = self.child, self.progress, self.scratch
        return worker


@dataclass
class KeptWorkers:
    """Idle processes of sandboxes that were closed."""

    kept: list[_Kept] = field(default_factory=list)
    files: dict[Child, dict[bytes, tuple[int, ...]]] = field(default_factory=dict)  # what each has read
    folders: dict[Child, Path] = field(default_factory=dict)  # where each was started
    process: int = field(default_factory=os.getpid)  # a fork of this process may not use them

    @contextmanager
    def used(self) -> Iterator[None]:
        """Sandboxes take their processes from here, and leave them here when they are closed."""
        start, run = Worker._started, Worker.run

        def started(worker: Worker) -> Child:
            while worker._child is None and (kept := self._taken()) is not None:
                if kept.is_fresh():
                    kept.given_to(worker)
                    self.files[kept.child], self.folders[kept.child] = kept.files, kept.folder
                else:
                    kept.given_to(Worker(frozen=True)).end()
            is_new = worker._child is None
            child = start(worker)
            if is_new:
                self.folders[child] = Path.cwd()
            return child

        def running(worker: Worker, tasks: Sequence[Task], sql: str, **options: Any) -> list[tuple[int, Result]]:
            states = {database: file_state(database) for database, _, _ in tasks}
            results = run(worker, tasks, sql, **options)
            if worker._child is not None:
                files = self.files.setdefault(worker._child, {})
                files |= {database: state for database, state in states.items() if database not in files}
            return results

        def close(sandbox: SQLiteSandbox) -> None:
            with sandbox._lock:
                sandbox._closed = True
                idle, busy = sandbox._idle, [*sandbox._busy]
                sandbox._idle = []
            for worker in idle:
                self._keep(worker)
            for worker in [*idle, *busy]:
                worker.end()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Worker, "_started", started)
            patch.setattr(Worker, "run", running)
            patch.setattr(SQLiteSandbox, "close", close)
            yield

    def _taken(self) -> _Kept | None:
        """One that is kept, if there is any; several threads may ask."""
        try:
            return self.kept.pop() if os.getpid() == self.process else None
        except IndexError:
            return None

    def _keep(self, worker: Worker) -> None:
        child, progress, scratch = worker._child, worker._progress, worker._scratch
        if child is None or progress is None or scratch is None or os.getpid() != self.process:
            return
        files, folder = self.files.pop(child, {}), self.folders.pop(child, None)
        if folder is not None and len(self.kept) < _MOST and len(files) <= _MOST_FILES:
            self.kept.append(_Kept(child, progress, scratch, files, folder))
            worker._child = worker._progress = worker._scratch = None

    def close(self) -> None:
        """End them."""
        for kept in self.kept:
            kept.given_to(Worker(frozen=True)).end()
        self.kept = []
