"""A process that runs statements and can be killed: where every statement is run.

`Worker` is the parent's end; `python -m merit.sql.sqlite.worker FD` is the child. The kernel ends the child when a
statement is not done at its deadline, whatever SQLite is busy with, and a crash of SQLite takes nothing else down.
It also ends the child as soon as the parent is gone, however that ended.
"""

import marshal
import mmap
import os
import resource
import shutil
import signal
import socket
import struct
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

from merit.errors import DatabaseUnusable
from merit.files import file_state
from merit.sql.encoding import decode, digest, encode
from merit.sql.process import Child, cap_this_process, end_with_parent, limit_this_process, receive, send
from merit.sql.sqlite.connection import GuardedConnection, OutOfMemory
from merit.sql.sqlite.opening import Unopened
from merit.sql.sqlite.temporary import TemporarySpace
from merit.sql.sqlite.trial import Task
from merit.types import Cause, Error, Limits, Result, Rows, Timeout
from merit.types.engine import MIB

# What a statement may take from SQLite's heap, and a little less beside other open databases: one that meets the
# smaller limit is run again alone, so what is open already decides nothing.
HEAP_BYTES = 32 * MIB
SHARED_HEAP_BYTES = 24 * MIB
PROCESS_BYTES = 256 * MIB  # what a child may take beside the rows it holds
MOST_HELD_BYTES = 64 * MIB  # by connections that are kept open
MOST_CONNECTIONS = 256
TEMPORARY_BYTES = 1024 * MIB  # of all temporary files of a statement together
_SPARE_S = 60.0  # for a machine that is busy elsewhere; the child's own deadline is exact
_TASK_NUMBER = struct.Struct("<I")


class Worker:
    """The parent's end of one child, started when first needed and again after a kill."""

    def __init__(self, *, frozen: bool) -> None:
        self._frozen = frozen
        self._child: Child | None = None
        self._progress: mmap.mmap | None = None  # shared memory: the number of the task the child is at
        self._over = False  # ended for good, perhaps while its child was being started
        self._scratch: str | None = None  # the child's folder for copies, removed here because the child is killed

    @property
    def pid(self) -> int | None:
        """The child's process id while there is one."""
        return self._child.process.pid if self._child is not None else None

    def run(
        self, tasks: Sequence[Task], sql: str, *, distinct: bool, lossy: bool, every: bool = False
    ) -> list[tuple[int, Result]]:
        """Run `sql` on one database after the other: the first result that is not the expected one, or every one."""
        child = self._started()
        if self._over:
            self.close()
            return [self._ended(tasks, late=False)]
        try:
            text = sql.encode("utf-8", "surrogatepass")
            request = marshal.dumps((list(tasks), text, self._frozen, distinct, lossy, every), 2)
            answers = marshal.loads(child.ask(request, sum(limits[0] for _, limits, _ in tasks) + _SPARE_S))
        except (EOFError, ConnectionError, TimeoutError) as error:
            return [self._ended(tasks, late=isinstance(error, TimeoutError))]
        return [(number, _decoded(answer)) for number, answer in answers]

    def end(self) -> None:
        """Kill the child, also one that another thread is just starting, and start no other."""
        self._over = True
        self.close()

    def close(self) -> None:
        """Kill the child, if there is one."""
        child, progress, scratch = self._child, self._progress, self._scratch
        self._child = self._progress = self._scratch = None
        if child is not None:
            child.close()
        if progress is not None:
            progress.close()
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)

    def _ended(self, tasks: Sequence[Task], late: bool) -> tuple[int, Result]:
        """What the end of the child says about the statement it ran, and on which database that was."""
        child, progress = self._child, self._progress
        if child is None or progress is None:  # the sandbox was closed meanwhile
            return 0, Error(Cause.CRASHED, "the database engine was stopped while running this statement")
        late = late or child.process.wait() == -signal.SIGALRM
        (number,) = _TASK_NUMBER.unpack(progress[: _TASK_NUMBER.size])
        self.close()
        if late:
            return number, Timeout(tasks[number][1][0])
        return number, Error(Cause.CRASHED, "the database engine stopped while running this statement")

    def _started(self) -> Child:
        if self._child is None:
            self._scratch = tempfile.mkdtemp(prefix="merit-")
            with tempfile.TemporaryFile() as shared:
                shared.truncate(mmap.PAGESIZE)
                self._progress = mmap.mmap(shared.fileno(), mmap.PAGESIZE)
                try:
                    self._child = Child(__name__, [str(shared.fileno()), self._scratch], [shared.fileno()])
                except DatabaseUnusable:
                    self.close()
                    raise
        return self._child


def _decoded(answer: tuple[Any, ...]) -> Result:
    """A result as `_encoded` wrote it."""
    if answer[0] == "rows":
        _, columns, encoded, truncated, steady = answer
        return Rows(tuple(columns), decode(encoded), truncated, steady)
    _, cause, message, code = answer
    return Error(Cause(cause), message, code)


class OpenDatabases:
    """The child's open connections, least recently used first."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._open: OrderedDict[bytes, tuple[tuple[int, ...], GuardedConnection]] = OrderedDict()  # with their files
        open_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most = min(MOST_CONNECTIONS, open_files // 3) if open_files > 0 else MOST_CONNECTIONS
        self._allowed_bytes = 0
        self._space = TemporarySpace(TEMPORARY_BYTES)

    def run(
        self, database: bytes, frozen: bool, sql: str, limits: Limits, *, distinct: bool, lossy: bool
    ) -> Rows | Error:
        """Run one statement, if need be again with no other database open."""
        self._allow_memory(limits.result_bytes)
        try:
            for most_open, heap in ((self._most, SHARED_HEAP_BYTES), (0, HEAP_BYTES)):
                self._close_down_to(most_open)
                apsw.hard_heap_limit(apsw.memory_used() + HEAP_BYTES)  # a schema can be hostile, too
                connection = self._connection(database, frozen)
                apsw.hard_heap_limit((apsw.memory_used() if most_open else 0) + heap)
                with suppress(OutOfMemory), self._space.limited(connection.interrupt):
                    return connection.run(sql, limits, distinct=distinct, lossy=lossy)
        except Unopened as unopened:
            return unopened.error
        except MemoryError:  # of this process, outside SQLite
            return Error(Cause.TOO_LARGE, "out of memory")
        return Error(Cause.TOO_LARGE, "out of memory", "SQLITE_NOMEM")

    def _allow_memory(self, result_bytes: int) -> None:
        """Bound what rows take as Python values: up to four times SQLite's text, and again while they are sent."""
        rows_bytes = 6 << (result_bytes - 1).bit_length()  # coarse, so that it seldom changes
        if rows_bytes != self._allowed_bytes and sys.platform == "linux":
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            limit_this_process(resource.RLIMIT_AS, used + PROCESS_BYTES + rows_bytes, for_good=False)
            self._allowed_bytes = rows_bytes

    def _connection(self, database: bytes, frozen: bool) -> GuardedConnection:
        # A live file that was replaced or copied over is another one; SQLite would go on with pages that it has read.
        state = () if frozen else file_state(database)
        known = self._open.pop(database, None)
        if known is not None and known[0] != state:
            known[1].close()
            known = None
        if known is None:
            path = Path(os.fsdecode(database))
            known = state, GuardedConnection(path, frozen=frozen, scratch=self._scratch)
        self._open[database] = known
        return known[1]

    def _close_down_to(self, most: int) -> None:
        while len(self._open) > max(0, most - 1) or (self._open and apsw.memory_used() > MOST_HELD_BYTES):
            _, (_, connection) = self._open.popitem(last=False)
            connection.close()


def _serve(channel: socket.socket, progress: mmap.mmap, scratch: Path) -> None:
    """Answer requests until the parent goes away."""
    databases = OpenDatabases(scratch)
    while True:
        try:
            tasks, text, frozen, distinct, lossy, every = marshal.loads(receive(channel))
        except (EOFError, ConnectionError):
            return
        sql = text.decode("utf-8", "surrogatepass")
        answers: list[tuple[int, tuple[Any, ...]]] = []
        for number, (database, limit_values, expected) in enumerate(tasks):
            limits = Limits(*limit_values)
            _TASK_NUMBER.pack_into(progress, 0, number)
            signal.setitimer(signal.ITIMER_REAL, limits.timeout_s)  # SIGALRM ends this process
            # The rows have no name here: they are freed before their encoded form is copied and sent.
            answer = _encoded(databases.run(database, frozen, sql, limits, distinct=distinct, lossy=lossy), expected)
            if answer is not None:
                answers.append((number, answer))
                if not every:
                    break
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        send(channel, marshal.dumps(answers, 2))


def _encoded(result: Rows | Error, expected: bytes | None) -> tuple[Any, ...] | None:
    """A result as it is sent to the parent; None for the expected one."""
    if isinstance(result, Error):
        return "error", result.cause.value, result.message, result.code
    encoded = encode([] if result.truncated and expected is not None else result.rows)
    if not result.truncated and expected is not None and digest(encoded) == expected:
        return None
    return "rows", result.columns, encoded, result.truncated, result.steady


if __name__ == "__main__":
    cap_this_process(TEMPORARY_BYTES)
    end_with_parent(int(sys.argv[2]))
    with socket.socket(fileno=int(sys.argv[1])) as served, mmap.mmap(int(sys.argv[3]), mmap.PAGESIZE) as shared_page:
        send(served, b"ready")
        _serve(served, shared_page, Path(sys.argv[4]))
    os._exit(0)
