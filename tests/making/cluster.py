"""A PostgreSQL server of a test's own, which may be killed: made by `initdb`, on a port that is free."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from making.clock import COMES_S

_SETTINGS = ("listen_addresses=127.0.0.1", "max_connections=40", "shared_buffers=16MB", "fsync=on")


def _program(name: str) -> Path:
    """A server's program; the test is skipped where there is none, since clients come without them."""
    named = shutil.which(name)
    found = [*sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), *([Path(named)] if named else [])]
    if not found:
        pytest.skip(f"PostgreSQL's {name} is not installed, so that no server can be made and killed")
    return found[0]


def _user() -> str | None:
    """Whom the server runs as: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("PostgreSQL does not run as root, and there is no other user")


@dataclass
class Cluster:
    """A server and how to end it."""

    folder: Path
    port: int
    user: str | None
    kills: int = 0

    @property
    def url(self) -> str:
        """Its address, without the name of a schema."""
        return f"postgresql://merit@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = " ".join(f"-c {setting}" for setting in (*_SETTINGS, f"port={self.port}"))
        options += " -c unix_socket_directories=''"
        self._run(
            "pg_ctl", "start", "-w", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-o", options
        )

    def kill(self) -> None:
        """Kill the server with all its sessions, as a power cut would, and start it again."""
        leader = int((self.folder / "data" / "postmaster.pid").read_text().split("\n")[0])
        os.kill(leader, signal.SIGKILL)
        until = time.monotonic() + COMES_S  # its sessions notice that they are alone
        while any(_runs(process, self.folder) for process in Path("/proc").glob("[0-9]*")):
            assert time.monotonic() < until
            time.sleep(0.02)
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        self.kills += 1
        self.start()

    def stop(self) -> None:
        """End it."""
        self._run("pg_ctl", "stop", "-m", "immediate", "-D", str(self.folder / "data"))

    def make(self) -> None:
        """Make its files."""
        self._run("initdb", "-D", str(self.folder / "data"), "-U", "merit", "-A", "trust", "-E", "UTF8", "--no-sync")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [_program(program), *arguments],
            user=self.user,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=COMES_S,
        )
        assert done.returncode == 0, done.stderr


def _runs(process: Path, folder: Path) -> bool:
    """Whether a process is one of the server's that has not ended: it works in the server's folder."""
    try:
        return (process / "cwd").readlink() == folder / "data"
    except OSError:  # it ended, or is another user's
        return False


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def own_cluster() -> Iterator[Cluster]:
    """A server that is there for one test."""
    user = _user()
    _program("initdb")
    with tempfile.TemporaryDirectory(prefix="merit-pg-") as name:
        folder = Path(name)
        if user is not None:
            shutil.chown(folder, user)
        cluster = Cluster(folder, _free_port(), user)
        cluster.make()
        cluster.start()
        try:
            with psycopg.connect(cluster.url, connect_timeout=COMES_S):
                yield cluster
        finally:
            cluster.stop()
