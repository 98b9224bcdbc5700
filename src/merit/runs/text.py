"""The text of a run's files: JSON that is always the same for the same values, and whole lines."""

import json
import os
from pathlib import Path
from typing import Any

from merit.errors import RunUnusable
from merit.files import atomic_write
from merit.reading import LINES_BYTES, read_bytes

_WAY_OUT = "everything before is kept: run the same again"


def to_json(record: Any) -> str:
    """A record as one line."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def json_text(record: dict[str, Any]) -> str:
    """A file of JSON for people and programs."""
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    with atomic_write(path, fault=RunUnusable, way_out=_WAY_OUT) as file:
        file.write(text.encode())


def read_lines(path: Path, *, torn: bool = False) -> list[str]:
    """The lines of a file that was appended to; `torn` drops a last one that was never finished."""
    if not os.path.lexists(path):
        return []
    *lines, rest = read_bytes(path, LINES_BYTES).split(b"\n")
    if rest and not torn:
        raise RunUnusable(f"{path}: the last line is not finished; run the same again to go on")
    return [decode_line(line, path, number) for number, line in enumerate(lines, 1)]


def decode_line(line: bytes, path: Path, number: int) -> str:
    """The text of a line."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise RunUnusable(f"{path}, line {number}: not UTF-8 text; the file is damaged") from None
