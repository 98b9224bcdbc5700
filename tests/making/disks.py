"""Disks that go wrong."""

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from making.clock import COMES_S


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Stands in for a full disk: writing beyond the limit fails as on one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


@contextmanager
def no_waiting(seconds: int = COMES_S) -> Iterator[None]:
    """Fails instead of waiting for ever, as opening a pipe without a writer does."""

    def late(*_: object) -> None:
        raise AssertionError(f"still waiting after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def put_in_the_way(path: Path, kind: str, target: Path) -> None:
    """Put a link to `target`, or a pipe, where a file is about to be written."""
    if kind == "link":
        path.symlink_to(target)
    else:
        os.mkfifo(path)
