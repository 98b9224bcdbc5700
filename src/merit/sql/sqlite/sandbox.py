"""The SQLite sandbox: a pool of processes that run statements and can be killed (`worker` has the limits)."""

import os
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path

from merit.files import without_tables
from merit.sql.sqlite.trial import Task, Trial
from merit.sql.sqlite.worker import Worker
from merit.types import Limits, Result, Rows

MOST_WORKERS = max(4, os.cpu_count() or 1)
_CHECK_LIMITS = Limits(timeout_s=120.0)  # checking a whole file; a gigabyte takes a few seconds


class SQLiteSandbox:
    """Runs any text against SQLite files: safe from it, bounded in time and memory, usable from many threads."""

    def __init__(self, *, frozen: bool = False) -> None:
        """`frozen` promises that no database changes while it is open, which saves every lock (benchmarks)."""
        self._frozen = frozen
        self._closed = False
        self._reset()
        _SANDBOXES.add(self)

    def _reset(self) -> None:
        """Begin without workers: in a new sandbox, and after a fork, which they do not survive."""
        self._lock = threading.Lock()
        self._free_workers = threading.Semaphore(MOST_WORKERS)
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()

    def execute(
        self, database: Path, sql: str, limits: Limits, *, distinct: bool = False, lossy: bool = False
    ) -> Result:
        """Run one read-only query. `distinct` keeps each row once; `lossy` drops bytes that are not UTF-8."""
        (result,) = self.execute_each([database], sql, limits, distinct=distinct, lossy=lossy)
        return result

    def execute_each(
        self, databases: Sequence[Path], sql: str, limits: Limits, *, distinct: bool = False, lossy: bool = False
    ) -> list[Result]:
        """Run one query on database after database; a timeout or a crash is the last result."""
        tasks = [Trial(database, limits).task for database in databases]
        return [result for _, result in self._run(tasks, sql, distinct, lossy, every=True)]

    def first_difference(
        self, trials: Sequence[Trial], sql: str, *, distinct: bool = False, lossy: bool = False
    ) -> tuple[int, Result] | None:
        """Run one query on database after database until the rows are not the expected ones: which, and its result."""
        differences = self._run([trial.task for trial in trials], sql, distinct, lossy, every=False)
        return differences[0] if differences else None

    def is_sound(self, database: Path) -> bool:
        """Whether SQLite finds nothing wrong with a file; one without tables is a failed download, not a database."""
        try:
            if without_tables(database):
                return False
        except OSError:
            return False
        check = self.execute(database, "PRAGMA quick_check(1)", _CHECK_LIMITS)
        return isinstance(check, Rows) and check.rows == [("ok",)]

    def close(self) -> None:
        """End every worker; one in use ends when its statement does."""
        with self._lock:
            self._closed = True
            workers = [*self._idle, *self._busy]
            self._idle = []
        for worker in workers:
            worker.end()

    def _run(
        self, tasks: Sequence[Task], sql: str, distinct: bool, lossy: bool, every: bool
    ) -> list[tuple[int, Result]]:
        with self._free_workers:
            with self._lock:
                worker = self._idle.pop() if self._idle else Worker(frozen=self._frozen)
                self._busy.add(worker)
                if self._closed:
                    worker.end()
            usable = False
            try:
                results = worker.run(tasks, sql, distinct=distinct, lossy=lossy, every=every)
                usable = True
                return results
            finally:
                with self._lock:
                    self._busy.discard(worker)
                    usable = usable and not self._closed
                    if usable:
                        self._idle.append(worker)
                if not usable:
                    worker.close()


def _after_fork() -> None:
    for sandbox in _SANDBOXES:
        sandbox._reset()


_SANDBOXES: weakref.WeakSet[SQLiteSandbox] = weakref.WeakSet()
os.register_at_fork(after_in_child=_after_fork)
