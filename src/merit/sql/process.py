"""A child process that answers requests over a socket, can be killed, and ends with its parent.

`Child` is the parent's end; `merit.sql.sqlite.worker` and `merit.sql.duckdb.worker` are what runs in such processes.
"""

import fcntl
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import merit
from merit.errors import DatabaseUnusable

_START_S = 60.0
_HEADER = struct.Struct("<Q")
# All that Python and a database engine need from the environment: the child must not see a key for an endpoint.
_ENVIRONMENT = frozenset(
    {"HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH", "PYTHONHOME", "SQLITE_TMPDIR", "TMPDIR"}
)


class Child:
    """The parent's end of one child process, which runs `python -m MODULE SOCKET LIFELINE ...`."""

    def __init__(self, module: str, arguments: Sequence[str] = (), descriptors: Sequence[int] = ()) -> None:
        """Start it and wait until it is ready; it inherits `descriptors` besides."""
        self.channel, child_socket = socket.socketpair()
        child_end, parent_end = os.pipe()
        # A pipe's end that nothing is written to: closed, it ends the child.
        self._lifeline: BinaryIO = os.fdopen(parent_end, "wb", buffering=0)
        with child_socket, os.fdopen(child_end, "rb", buffering=0):
            own = [child_socket.fileno(), child_end]
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", module, *map(str, own), *arguments],
                env={**{name: os.environ[name] for name in _ENVIRONMENT & os.environ.keys()}, **_import_path()},
                pass_fds=[*own, *descriptors],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        self.channel.settimeout(_START_S)
        ready = False
        try:
            self.greeting = receive(self.channel)  # what the child says when it is ready
            ready = True
        except (EOFError, OSError):
            raise DatabaseUnusable(
                "the process that runs statements did not start; is there enough memory, and is merit installed?"
            ) from None
        finally:
            if not ready:  # Ctrl-C comes here, too
                self.close()

    def ask(self, message: bytes, timeout_s: float) -> bytes:
        """Send a request and wait for its answer; EOFError, ConnectionError or TimeoutError where none comes."""
        self.channel.settimeout(timeout_s)
        send(self.channel, message)
        return receive(self.channel)

    def close(self) -> None:
        """Kill the child."""
        self.process.kill()
        self.process.wait()
        with suppress(OSError):  # the thread that reads from it may be closing it, too
            self.channel.close()
        self._lifeline.close()


def _import_path() -> dict[str, str]:
    """The environment in which the child finds the same merit, and the same packages, as its parent."""
    here = str(Path(merit.__file__).parent.parent)
    return {"PYTHONPATH": os.pathsep.join(dict.fromkeys([here, *filter(None, sys.path)]))}


def send(channel: socket.socket, message: bytes) -> None:
    """Send one message."""
    channel.sendall(_HEADER.pack(len(message)) + message)


def receive(channel: socket.socket) -> bytes:
    """Wait for one message; EOFError where the other side is gone."""
    received = bytearray(channel.recv(65536))
    if not received:
        raise EOFError
    while len(received) < _HEADER.size or len(received) < _HEADER.size + _HEADER.unpack_from(received)[0]:
        more = channel.recv(1 << 20)
        if not more:
            raise EOFError
        received += more
    return bytes(received[_HEADER.size :])


def end_with_parent(lifeline: int) -> None:
    """Have the kernel end this process when the other end of a pipe is closed, even in the middle of a statement.

    PR_SET_PDEATHSIG would not do: it ends a child with the thread that started it, and a worker outlives that.
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)  # which ends the process
    with suppress(OSError):  # a kernel that cannot do it: the statement's own deadline remains
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def cap_this_process(file_bytes: int) -> None:
    """Bound what this process writes for good, and leave its end to its deadline and its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit_this_process(resource.RLIMIT_FSIZE, file_bytes)
    limit_this_process(resource.RLIMIT_CORE, 0)


def limit_this_process(kind: int, most: int, *, for_good: bool = True) -> None:
    """Set a limit of the kernel's; one that was set before merit was started is lowered, never raised."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(kind, (most, most if for_good else hard))
