"""The SQLite sandbox: a quick lane inside this process, and a process that can be killed for whatever outgrows it.

Nearly every statement ends within milliseconds and is run here, on a pooled connection with tight caps. One that
meets such a cap has not failed: it is run again from the start in an isolated process, under the caller's own limits,
and only that answer counts. This process is held for a fraction of a second at most, and answers do not depend on the
lane.
"""

import os
import resource
import sqlite3
import threading
import time
import weakref
from collections import OrderedDict
from pathlib import Path

from merit.sql.connection import Caps, Connection
from merit.sql.isolated import Isolated
from merit.sql.limits import Limits
from merit.sql.modest import is_modest
from merit.sql.result import Error, Result, Timeout
from merit.types import Cause

QUICK_S = 0.25
# SQLite's string functions and patterns are quadratic, and cannot be interrupted inside a cell.
QUICK_CAPS = Caps(cell_bytes=32 * 1024, pattern_bytes=500)
MOST_CONNECTIONS = 256

Key = tuple[Path, int]


class SQLiteSandbox:
    """Runs any text against SQLite files: safe from it, bounded in time and memory, usable from many threads."""

    def __init__(self, *, frozen: bool = False) -> None:
        """`frozen` promises that no database changes while it is open, which saves every lock (benchmarks)."""
        self._frozen = frozen
        open_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most_idle = min(MOST_CONNECTIONS, open_files // 3) if open_files > 0 else MOST_CONNECTIONS
        self._closed = False
        self._start_anew()
        _SANDBOXES.add(self)

    def _start_anew(self) -> None:
        """Begin without connections and children: in a new sandbox, and after a fork, which they do not survive."""
        self._lock = threading.Lock()
        self._idle: OrderedDict[Key, list[Connection]] = OrderedDict()
        self._idle_count = 0
        self._children: list[Isolated] = []  # idle ones
        self._busy: set[Isolated] = set()

    def execute(
        self, database: Path, sql: str, limits: Limits, *, distinct: bool = False, lossy: bool = False
    ) -> Result:
        """Run one read-only query (see `Sandbox.execute`)."""
        deadline = time.monotonic() + limits.timeout_s
        try:
            key = _key(database, self._frozen)
            result = self._run_quickly(key, sql, limits, distinct, lossy) if is_modest(sql) else None
        except (OSError, sqlite3.Error) as error:
            return _unopened(database, error)
        if result is not None and not _outgrew(result):
            return result
        if not database.is_file():
            return _unopened(database, None)
        left_s = deadline - time.monotonic()
        if left_s <= 0.0:
            return Timeout(limits.timeout_s)
        return self._isolate(database, sql, limits, left_s, distinct, lossy)

    def _run_quickly(self, key: Key, sql: str, limits: Limits, distinct: bool, lossy: bool) -> Result:
        connection = self._borrow(key)
        try:
            budget_s = min(QUICK_S, limits.timeout_s)
            return connection.run(sql, limits, QUICK_CAPS, budget_s, distinct=distinct, lossy=lossy)
        finally:
            self._give_back(key, connection)

    def close(self) -> None:
        """Close every idle connection and every child; a connection in use is closed when it comes back."""
        with self._lock:
            self._closed = True
            unused: list[Connection | Isolated] = [idle for pool in self._idle.values() for idle in pool]
            unused += [*self._children, *self._busy]
            self._idle.clear()
            self._idle_count = 0
            self._children = []
        for closable in unused:
            closable.close()

    def _isolate(self, database: Path, sql: str, limits: Limits, left_s: float, distinct: bool, lossy: bool) -> Result:
        with self._lock:
            child = self._children.pop() if self._children else Isolated(frozen=self._frozen)
            self._busy.add(child)
        kept = False
        try:
            result = child.run(database, sql, limits, left_s, distinct=distinct, lossy=lossy)
            kept = True
        finally:
            with self._lock:
                self._busy.discard(child)
                kept = kept and not self._closed
                if kept:
                    self._children.append(child)
            if not kept:
                child.close()
        return Timeout(limits.timeout_s) if isinstance(result, Timeout) else result

    def _borrow(self, key: Key) -> Connection:
        with self._lock:
            pool = self._idle.get(key)
            if pool:
                self._idle_count -= 1
                return pool.pop()
        return Connection(key[0], frozen=self._frozen, quick=True)

    def _give_back(self, key: Key, connection: Connection) -> None:
        surplus: list[Connection] = []
        with self._lock:
            if self._closed:
                surplus.append(connection)
            else:
                self._idle.setdefault(key, []).append(connection)
                self._idle.move_to_end(key)
                self._idle_count += 1
                while self._idle_count > self._most_idle:
                    oldest, pool = next(iter(self._idle.items()))
                    if pool:
                        surplus.append(pool.pop())
                        self._idle_count -= 1
                    if not pool:
                        del self._idle[oldest]
        for closable in surplus:
            closable.close()


def _outgrew(result: Result) -> bool:
    """Whether a quick answer only says that the quick lane was too narrow."""
    too_narrow = (Cause.TOO_LARGE, Cause.DATABASE_BUSY)
    return isinstance(result, Timeout) or (isinstance(result, Error) and result.cause in too_narrow)


def _unopened(database: Path, error: Exception | None) -> Error:
    if not database.is_file():
        return Error(Cause.DATABASE_MISSING, "there is no such database file")
    return Error(Cause.DATABASE_UNREADABLE, str(error))


def _key(database: Path, frozen: bool) -> Key:
    """What connections are kept under; a live file that was replaced is another one."""
    return (database, 0) if frozen else (database, database.stat().st_ino)


def _after_fork() -> None:
    for sandbox in _SANDBOXES:
        sandbox._start_anew()


_SANDBOXES: weakref.WeakSet[SQLiteSandbox] = weakref.WeakSet()
os.register_at_fork(after_in_child=_after_fork)
