"""Reading files from users; a fault is reported in one sentence that names the file and the line.

Every file that may come from outside is opened by `open_file`, and size limits bound how much of it is read.
"""

import hashlib
import io
import json
import math
import os
import re
import reprlib
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from merit import __version__
from merit.errors import InputError

MIB = 1 << 20
_UNITS = ((1 << 30, "GiB"), (MIB, "MiB"), (1 << 10, "KiB"), (1, "bytes"))
# So that an endless file ends in an error message. The largest ordinary document is Spider's training split (25 MB).
DOCUMENT_BYTES = 64 * MIB  # a JSON document
LINES_BYTES = 512 * MIB  # a file that grows with the answers of a run: turns, stream, predictions, labels
LINE_BYTES = 16 * MIB
WHOLE_BYTES = 16 * 1024 * MIB  # a file that is hashed or copied; all of BIRD's databases together have twice as much
# Of one answer of a model; 512 tokens have a few thousand. An entry with two fits into a line even where JSON needs
# six bytes a character, and a turn of 7 repairs into a document.
ANSWER_CHARACTERS = 1 << 20
_MOST_LINES = 10_000_000  # empty ones, too: each takes memory once they are split
_DEEPEST = 100  # levels of nested lists and objects; Spider's parsed SQL has 20
_LONGEST_NAME = 200  # bytes; with an ending it must be a file's name
_MOST = 2**63  # beyond SQLite's and numpy's integers; nothing we read counts that far

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # JSON's spelling of half a character
_KINDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_KINDS |= {list: "a list", dict: "an object"}


def open_file(path: Path, most: int | None = None) -> io.BufferedReader:
    """A regular file, open for reading, of at most so many bytes; pipes and devices may block or never end."""
    try:
        _check_kind(path, path.stat().st_mode)  # before it is opened: opening some devices has effects
        nonblocking = 0 if _from_shell(path) else os.O_NONBLOCK
        number = os.open(path, os.O_RDONLY | nonblocking | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            state = os.fstat(number)
            _check_kind(path, state.st_mode)  # it may have been replaced meanwhile
            if most is not None and state.st_size > most:
                raise _too_large(path, most)
            return os.fdopen(number, "rb")
        except InputError:
            os.close(number)
            raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def _too_large(path: Path, most: int) -> InputError:
    size, unit = next((size, unit) for size, unit in _UNITS if most >= size)
    return InputError(f"{path}: more than {most // size} {unit}; is it the right file?")


def check_regular(path: Path) -> None:
    """Raise for a path that is missing or not a regular file."""
    try:
        _check_kind(path, path.stat().st_mode)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def _check_kind(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise InputError(f"{path}: is a folder, where a file is expected")
    if not stat.S_ISREG(mode) and not (stat.S_ISFIFO(mode) and _from_shell(path)):
        raise InputError(f"{path}: is a pipe, a socket or a device; only regular files are read")


def _from_shell(path: Path) -> bool:
    """Whether a path is a stream that the user's own shell opened: `... | merit ... /dev/stdin`, or `<(...)`."""
    return str(path) == "/dev/stdin" or str(path.parent) in ("/dev/fd", "/proc/self/fd")


def check_inside(path: Path, root: Path) -> None:
    """Raise for a path below `root` that a symbolic link leads out of it; `root` itself may be a link."""
    real, home = os.path.realpath(path), os.path.realpath(root)
    if os.path.commonpath([real, home]) != home:
        raise InputError(f"{path}: is a link that leads out of {root}; put the file itself there")


def check_name(name: str, where: str) -> None:
    """Raise unless a name found in a file is a plain one, which cannot lead to another folder."""
    plain = name not in ("", ".", "..") and not {"/", "\\"} & set(name) and name.isprintable()
    if not plain or len(name.encode()) > _LONGEST_NAME:
        raise InputError(f"{where} cannot be {shown(name)}; it should be a plain name, without / and \\")
    check_path(name, where)


def check_path(text: str, where: str) -> None:
    """Raise unless a text found in a file can be a path, or a part of one, on this system."""
    try:
        unusable = b"\0" in os.fsencode(text)
    except UnicodeEncodeError:  # Python calls such a path missing, which would look like missing data
        raise InputError(
            f"{where} cannot be {shown(text)} here, where names of files are {sys.getfilesystemencoding()}; set "
            "PYTHONUTF8=1 in the environment"
        ) from None
    if unusable:
        raise InputError(f"{where} cannot be {shown(text)}; it holds a NUL character")


def hash_file(path: Path) -> str:
    """The SHA-256 of a file's content."""
    with open_file(path, WHOLE_BYTES) as file:  # a file of terabytes that are all holes takes no room
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_bytes(path: Path, most: int = DOCUMENT_BYTES) -> bytes:
    """A file's content, of at most so many bytes and lines."""
    with open_file(path, most) as file:
        try:
            content = file.read(most + 1 if _from_shell(path) else os.fstat(file.fileno()).st_size)
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
        if len(content) > most:
            raise _too_large(path, most)
        if max(content.count(b"\n"), content.count(b"\r")) > _MOST_LINES:
            raise InputError(f"{path}: more than {_MOST_LINES} lines; is it the right file?")
        return content


def read_text(path: Path, most: int = DOCUMENT_BYTES) -> str:
    """A UTF-8 file's text, of at most so many bytes."""
    content = read_bytes(path, most)
    if content.startswith((b"\x1f\x8b", b"\xfd7zXZ", b"PK\x03\x04")):
        raise InputError(f"{path}: is a packed file; unpack it first")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def split_lines(chunks: Iterable[bytes], path: Path, most: int) -> Iterator[tuple[int, str]]:
    """Number and text of every line of a stream of bytes, up to `most` bytes; `path` is their file."""
    rest, number, size = b"", 0, 0
    for chunk in chunks:
        size += len(chunk)
        *whole, rest = (rest + chunk).split(b"\n")
        if size > most or number + len(whole) > _MOST_LINES:
            raise InputError(f"{path}: more than {most // MIB} MiB or {_MOST_LINES} lines; is it the right file?")
        if len(rest) > LINE_BYTES:
            raise InputError(f"{path}, line {number + len(whole) + 1}: more than {LINE_BYTES // MIB} MiB long")
        start = size - len(rest) - sum(map(len, whole)) - len(whole)
        for line in whole:
            number += 1
            yield number, _decoded(line, path, start)
            start += len(line) + 1
    if rest:
        yield number + 1, _decoded(rest, path, size - len(rest))


def _decoded(line: bytes, path: Path, start: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {start + error.start})") from None


def sendable(text: str) -> str:
    """A text with question marks for lone surrogates, which JSON can express but UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()


def parse_json(text: str, path: Path, line: int = 1, most: int = DOCUMENT_BYTES) -> Any:
    """The value of a JSON text that starts at `line` of `path`; all its texts can be written and sent.

    NaN and Infinity are not JSON and cannot be compared, so they are refused here, and so are integers beyond 64 bits
    and values nested too deeply.
    """
    if len(text) > most:
        raise InputError(f"{path}, line {line}: more than {most // MIB} MiB of JSON")
    try:
        value = STRICT_JSON.decode(text)
        if text.count("[") + text.count("{") > _DEEPEST:
            _check_depth(value)
        return _sendable(value) if _SURROGATE.search(text) else value
    except json.JSONDecodeError as error:
        last = text.rstrip().count("\n") + 1  # a text that ends too early is at fault where it ends
        raise InputError(f"{path}, line {line + min(error.lineno, last) - 1}: not valid JSON ({error.msg})") from None
    except RecursionError:
        raise InputError(f"{path}, line {line}: JSON nested too deeply") from None
    except ValueError as error:  # numbers that are too large, keys that are there twice
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
        raise ValueError(f"{text[:40]} is not a finite number")
    return value


def _whole(text: str) -> int:
    if len(text) > 20 or not -_MOST <= (value := int(text)) < _MOST:
        raise ValueError(f"{text[:40]} is too large; integers have at most 64 bits")
    return value


def _check_depth(value: Any) -> None:
    level, depth = [value], 0
    while level := [
        item
        for nested in level
        if isinstance(nested, dict | list)
        for item in (nested.values() if type(nested) is dict else nested)
    ]:
        depth += 1
        if depth > _DEEPEST:
            raise RecursionError


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError(f"the key {shown(Counter(name for name, _ in pairs).most_common(1)[0][0])} is there twice")
    return unique


STRICT_JSON = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_finite, parse_float=_finite, parse_int=_whole)


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
    """Raise unless `record` is an object that has `fields`."""
    if not isinstance(record, dict):
        raise InputError(f"{where}: expected a JSON object")
    for name, kind in fields.items():
        if name not in record:
            raise InputError(f"{where}: the field {name!r} is missing")
        if not isinstance(record[name], kind) or (kind is int and isinstance(record[name], bool)):
            raise InputError(f"{where}: the field {name!r} should be {_KINDS[kind]}, not {shown(record[name])}")


def check_format(given: object, known: int, what: str, where: str) -> None:
    """Raise unless a file is of the format that this merit reads."""
    if type(given) is not int or given != known:
        newer = isinstance(given, int) and given > known
        advice = "update merit" if newer else "use the merit that made it, or make it anew"
        raise InputError(
            f"{where}: {what} of format {shown(given)}, and this merit ({__version__}) reads format {known}; {advice}"
        )


def check_count(value: int, most: int, where: str) -> None:
    """Raise for a count below 0 or above `most`."""
    if not 0 <= value <= most:
        raise InputError(f"{where} should be a number from 0 to {most}, not {shown(value)}")


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_NAMES = {None: "null", True: "true", False: "false"}


def shown(value: object) -> str:
    """A value from a file for a sentence: as JSON spells it, and never long."""
    return _NAMES[value] if value is None or isinstance(value, bool) else _SHORT.repr(value)
