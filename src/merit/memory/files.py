"""Opening the files of a memory: regular files only, and never through a link when they are written."""

import json
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from merit.errors import InputError


def open_file(path: Path, *, through_link: bool = True) -> BufferedReader:
    """A regular file, open for reading: a pipe under its name would be waited for, and a device never end."""
    if not through_link:
        refuse_link(path)
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | (0 if through_link else os.O_NOFOLLOW)
    try:
        return os.fdopen(_regular(os.open(path, flags), path), "rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def open_to_append(path: Path) -> int:
    """A file to append to. A link is refused: in a folder from elsewhere it could lead to any file of the user's."""
    refuse_link(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
    return _regular(os.open(path, flags, 0o644), path)


def open_to_change(path: Path) -> BinaryIO:
    """A file that is there, open for writing over parts of it; a link is refused."""
    refuse_link(path)
    flags = os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.fdopen(_regular(os.open(path, flags), path), "r+b")


def refuse_link(path: Path) -> None:
    """Complain about a link: in a folder from elsewhere it could lead to any file or folder of the user's."""
    if path.is_symlink():
        raise InputError(f"{path}: a link; put the file or folder itself in its place, or remove it")


def numbered_lines(file: BinaryIO, path: Path, most_bytes: int, first: int = 1) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers; one that is too long to be an entry is refused."""
    number = first
    while data := file.readline(most_bytes + 1):
        if len(data) > most_bytes:
            raise InputError(
                f"{path}, line {number}: longer than {most_bytes >> 20} MiB, so not an entry; remove that line"
            )
        yield number, data
        number += 1


def write_all(file: int, data: bytes) -> None:
    """Write all of `data`."""
    while data:
        data = data[os.write(file, data) :]


def sync_folder(folder: Path) -> None:
    """Make new and renamed files of a folder survive a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def last_line(file: int, start: int, end: int) -> bytes:
    """What follows the last newline between two places of a file."""
    data = os.pread(file, end - start, start)
    return data[data.rfind(b"\n") + 1 :]


def is_json(data: bytes) -> bool:
    """Whether a line has its end: an object that was cut short is not JSON."""
    try:
        json.loads(data.decode())
    except (ValueError, RecursionError):
        return False
    return True


def _regular(file: int, path: Path) -> int:
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise InputError(f"{path}: not a regular file; put one in its place or remove it")
    return file
