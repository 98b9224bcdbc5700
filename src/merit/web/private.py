"""A small JSON file that only its owner may read, changed as a whole by one process at a time."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from merit.errors import InputError
from merit.files import atomic_write, open_regular, take_lock
from merit.reading import parse_json, read_text

T = TypeVar("T")
_WAIT_S = 15.0  # writing takes milliseconds, on a disk that stands still seconds


class PrivateFile(Generic[T]):
    """A value in a file. A process sees at once what another one writes."""

    def __init__(self, path: Path, read: Callable[[Any, str], T], write: Callable[[T], Any], empty: T) -> None:
        """`read` takes a value out of JSON and checks it, given where it stands; `write` does the opposite."""
        self.path = path
        self._read_record = read
        self._write_record = write
        self._empty = self._value = empty
        self._seen: tuple[int, ...] | None = None  # the file that the value was read from
        self._lock = threading.Lock()

    def value(self) -> T:
        """What the file says now; the empty value where there is none."""
        with self._lock:
            seen = _state(self.path)
            if seen != self._seen:
                self._value = self._read() if seen is not None else self._empty
                self._seen = seen
            return self._value

    def change(self, change: Callable[[T], T]) -> None:
        """Write what `change` makes of the value; nothing is written where it raises."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.path.parent}: cannot be made ({error.strerror}); choose another folder") from None
        with _locked(self.path.with_suffix(".lock")):
            value = change(self._read() if self.path.exists() else self._empty)
            with atomic_write(self.path) as file:
                os.fchmod(file.fileno(), 0o600)  # before anything is in it
                file.write(json.dumps(self._write_record(value), ensure_ascii=False, indent=1).encode())

    def _read(self) -> T:
        return self._read_record(parse_json(read_text(self.path), self.path), str(self.path))


def _state(path: Path) -> tuple[int, ...] | None:
    """What changes whenever a file is replaced; None where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes from changing the file meanwhile."""
    try:
        file = open_regular(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); check its permissions") from None
    try:
        until = time.monotonic() + _WAIT_S
        while not take_lock(file):
            if time.monotonic() > until:
                raise InputError(f"{path}: another process holds it; try again")
        yield
    finally:
        os.close(file)
