"""Writing files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from merit.errors import InputError, MeritError

_ELSEWHERE = "choose another --out"


@contextmanager
def whole(path: Path, *, fault: type[MeritError] = InputError, way_out: str = _ELSEWHERE) -> Iterator[BinaryIO]:
    """A file to write; it takes its name once it is on disk, and what a full disk left of it is taken away."""
    unfinished = path.with_name(f"{path.name}.part")
    try:
        unfinished.unlink(missing_ok=True)
        with unfinished.open("xb") as file:  # a file of our own: nothing is written through a link
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        if error.filename not in (None, str(unfinished)):
            raise  # of another file
        raise fault(f"{path}: cannot be written ({error.strerror}); {way_out}") from error
    finally:
        with suppress(OSError):
            unfinished.unlink()
