"""A process that runs one statement at a time and can be killed: where everything slow or large is run.

`Isolated` is the parent's end; `python -m merit.sql.isolated FD` is the child.
"""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection as PipeEnd
from pathlib import Path

import merit
from merit.sql.connection import Caps, Connection
from merit.sql.limits import MIB, Limits
from merit.sql.result import Error, Result, Timeout
from merit.types import Cause

HEAP_BYTES = 32 * MIB  # a row of it can take four times as much as Python text
TEMPORARY_FILE_BYTES = 1024 * MIB
GRACE_S = 0.2  # between the child's own deadline and the kill
START_S = 60.0


class Isolated:
    """The parent's end of one child process, started when first needed and again after a kill."""

    def __init__(self, *, frozen: bool) -> None:
        self._frozen = frozen
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: PipeEnd | None = None

    def run(self, database: Path, sql: str, limits: Limits, timeout_s: float, *, distinct: bool, lossy: bool) -> Result:
        """Run one statement in the child; a child that overruns or dies is replaced."""
        deadline = time.monotonic() + timeout_s
        pipe = self._started()
        left_s = max(0.0, deadline - time.monotonic())
        try:
            pipe.send((database, self._frozen, sql, limits, left_s, distinct, lossy))
            if pipe.poll(left_s + GRACE_S):
                result: Result = pipe.recv()
                return result
            self.close()
            return Timeout(timeout_s)
        except (EOFError, OSError):
            self.close()
            return Error(Cause.CRASHED, "the database engine stopped while running this statement")

    def close(self) -> None:
        """Kill the child, if there is one."""
        process, pipe = self._process, self._pipe
        self._process = self._pipe = None
        if process is not None:
            process.kill()
            process.wait()
        if pipe is not None:
            with suppress(OSError):  # the thread that reads from it may be closing it, too
                pipe.close()

    def _started(self) -> PipeEnd:
        if self._pipe is None:
            ours, theirs = Pipe()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
                env={**os.environ, "PYTHONPATH": _import_path()},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            theirs.close()
            self._pipe = ours
            if not ours.poll(START_S):
                self.close()
                raise OSError("the process for long statements did not start")
            ours.recv()
        return self._pipe


def _import_path() -> str:
    """PYTHONPATH with which the child finds the same merit as its parent."""
    here = str(Path(merit.__file__).parent.parent)
    return os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))


def _serve(pipe: PipeEnd) -> None:
    """Answer requests until the parent goes away."""
    pipe.send("ready")
    opened: tuple[Path, bool, Connection] | None = None
    while True:
        try:
            database, frozen, sql, limits, timeout_s, distinct, lossy = pipe.recv()
        except EOFError:
            return
        started = time.monotonic()
        # Should the parent be gone when the deadline passes, the kernel does its duty: SIGALRM ends the process.
        signal.setitimer(signal.ITIMER_REAL, timeout_s + 2 * GRACE_S)
        try:
            if opened is None or opened[:2] != (database, frozen):
                if opened is not None:
                    opened[2].close()
                opened = None
                opened = (database, frozen, Connection(database, frozen=frozen, quick=False))
            left_s = timeout_s - (time.monotonic() - started)
            result = opened[2].run(sql, limits, Caps(limits.cell_bytes), left_s, distinct=distinct, lossy=lossy)
        except sqlite3.Error as error:
            result = Error(Cause.DATABASE_UNREADABLE, str(error))
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        if isinstance(result, Timeout):
            result = Timeout(timeout_s)
        pipe.send(result)


def _cap_this_process() -> None:
    """Bound memory and temporary files for good; possible here because the process serves nothing else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (TEMPORARY_FILE_BYTES, TEMPORARY_FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sqlite3.connect(":memory:").execute(f"PRAGMA hard_heap_limit={HEAP_BYTES}").close()


if __name__ == "__main__":
    _cap_this_process()
    _serve(PipeEnd(int(sys.argv[1])))
    os._exit(0)
