"""Reading the files people give us; whatever is wrong with one is said in a sentence with its name and line."""

import hashlib
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from merit.errors import InputError

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # JSON's spelling of half a character


def hash_file(path: Path) -> str:
    """The SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_text(path: Path) -> str:
    """A UTF-8 file's text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def sendable(text: str) -> str:
    """A text with question marks for lone surrogates, which JSON can spell but nothing can write or send."""
    return text.encode("utf-8", "replace").decode()


def parse_json(text: str, path: Path, line: int = 1) -> Any:
    """The value of a JSON text that starts at `line` of `path`; all its texts can be written and sent.

    NaN and Infinity are no JSON, and nothing can be compared with them, so they are refused here.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_finite, parse_float=_finite)
        return _sendable(value) if _SURROGATE.search(text) else value
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {line + error.lineno - 1}: not valid JSON ({error.msg})") from None
    except RecursionError:
        raise InputError(f"{path}, line {line}: JSON nested too deeply") from None
    except ValueError as error:  # numbers of thousands of digits, or beyond all numbers, keys that are there twice
        raise InputError(f"{path}, line {line}: {error}") from None


def _sendable(value: Any) -> Any:
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, list):
        return [_sendable(item) for item in value]
    if isinstance(value, dict):
        return {sendable(name): _sendable(item) for name, item in value.items()}
    return value


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no finite number")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i]))
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def read_records(path: Path, fields: dict[str, type]) -> list[dict[str, Any]]:
    """A JSON list of objects, each of which has `fields` with values of those types."""
    records = parse_json(read_text(path), path)
    if not isinstance(records, list):
        raise InputError(f"{path}: expected a JSON list of objects")
    for number, record in enumerate(records):
        check_fields(record, fields, f"{path}, entry {number}")
    return records


def read_json_lines(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    """Line number and value of every line of `path`'s text that is not blank."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, parse_json(line, path, number)


def check_fields(record: object, fields: dict[str, type], where: str) -> None:
    """Complain unless `record` is an object that has `fields`."""
    if not isinstance(record, dict):
        raise InputError(f"{where}: expected a JSON object")
    for name, kind in fields.items():
        if name not in record:
            raise InputError(f"{where}: the field {name!r} is missing")
        if not isinstance(record[name], kind) or (kind is int and isinstance(record[name], bool)):
            raise InputError(f"{where}: the field {name!r} should be {kind.__name__}, not {record[name]!r}")
