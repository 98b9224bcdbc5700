"""Answers as JSON lines, to share: every line one answer under its hash; compressed where the name says .xz."""

import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from merit.errors import InputError
from merit.files import atomic_write
from merit.models.answers import FILE, KEY_BYTES, MOST_BYTES, MOST_TOKENS, AnswerStore
from merit.reading import MIB, check_fields, open_file, parse_json, shown, split_lines
from merit.types import Completion, ModelIdentity

_FIELDS: dict[str, type] = {
    "key": str,
    "model": str,
    "revision": str,
    "text": str,
    "prompt_tokens": int,
    "output_tokens": int,
}
_PACKED_PIECE = 1 << 16  # bytes; the rest of a piece is copied for each of the streams in it, which may be thousands
_UNPACKER_BYTES = 256 * MIB  # the strongest setting of xz needs 65
Answer = tuple[bytes, ModelIdentity, Completion]


def is_exported(path: Path) -> bool:
    """Whether a file is one of JSON lines, by its name."""
    return path.name.endswith((".jsonl", ".jsonl.xz"))


def write_exported(path: Path, answers: Iterable[Answer]) -> int:
    """Write answers in the order in which they come, whole or not at all; returns how many."""
    count, left = 0, MOST_BYTES
    with atomic_write(path) as file, _packer(file, path) as packed:
        for answer in answers:
            line = f"{_line(answer)}\n".encode()
            count, left = count + 1, left - len(line)
            if left < 0:
                raise InputError(f"{path}: would have more than {MOST_BYTES // MIB} MiB; share the store itself")
            packed.write(line)
    return count


def open_exported(path: Path) -> AnswerStore:
    """The answers of such a file, in memory."""
    store = AnswerStore(None)
    try:
        store.take(
            _answer(parse_json(line, path, number), f"{path}, line {number}")
            for number, line in split_lines(_content(path), path, MOST_BYTES)
            if line.strip()
        )
    except BaseException:
        store.close()
        raise
    store.path = path
    return store


def open_recording(path: Path) -> AnswerStore:
    """Recorded answers to be read, whatever kind of file they are in."""
    return open_exported(path) if is_exported(path) else AnswerStore.recording(path)


def _line(answer: Answer) -> str:
    key, identity, completion = answer
    record = {
        "key": key.hex(),
        "model": identity.name,
        "revision": identity.revision,
        "text": completion.text,
        "prompt_tokens": completion.prompt_tokens,
        "output_tokens": completion.output_tokens,
    }
    return json.dumps(record, ensure_ascii=False)


def _answer(record: Any, where: str) -> Answer:
    if isinstance(record, dict) and "key" not in record:
        what = "first answers" if "reply" in record else "predictions" if "sql" in record else "something else"
        raise InputError(
            f"{where}: holds {what}, not recorded answers (the field 'key' is missing); give a file that merit keeps "
            f"({FILE}) or that `merit answers export --out FILE.jsonl` wrote"
        )
    check_fields(record, _FIELDS, where)
    try:
        key = bytes.fromhex(record["key"])
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise InputError(f"{where}: the field 'key' should be {2 * KEY_BYTES} hexadecimal digits")
    cost = (record["prompt_tokens"], record["output_tokens"])
    if not all(0 <= tokens <= MOST_TOKENS for tokens in cost):
        raise InputError(f"{where}: the tokens cannot be {shown(cost[0])} and {shown(cost[1])}")
    return key, ModelIdentity(record["model"], record["revision"]), Completion(record["text"], *cost)


def _packer(file: BinaryIO, path: Path) -> AbstractContextManager[BinaryIO]:
    """What to write to, so that the file is packed where its name says so; closing it leaves the file open."""
    if path.suffix != ".xz":
        return nullcontext(file)
    lzma = _lzma(path)
    packer: AbstractContextManager[BinaryIO] = lzma.open(file, "wb", preset=9 | lzma.PRESET_EXTREME)
    return packer


def _content(path: Path) -> Iterator[bytes]:
    """A file's content piece by piece, unpacked where its name says so."""
    packed = path.suffix == ".xz"
    with open_file(path, MOST_BYTES if packed else None) as file:  # a packed file may unpack to nothing, without end
        pieces = iter(lambda: file.read(_PACKED_PIECE if packed else MIB), b"")
        yield from _unpacked(pieces, path) if packed else pieces


def _unpacked(pieces: Iterator[bytes], path: Path) -> Iterator[bytes]:
    """What is packed, a piece at a time: a small file can become endless."""
    lzma = _lzma(path)
    data = next(pieces, b"\0")  # nothing at all is not packed either
    try:
        while data:
            unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_UNPACKER_BYTES)
            while not unpacker.eof:
                yield unpacker.decompress(data, MIB)
                data = b"" if unpacker.eof or not unpacker.needs_input else next(pieces, b"")
                if not data and unpacker.needs_input and not unpacker.eof:
                    raise lzma.LZMAError("it ends too early")
            data = unpacker.unused_data or next(pieces, b"")
    except lzma.LZMAError as error:
        raise InputError(f"{path}: damaged, or not compressed with xz ({error}); get it anew") from None


def _lzma(path: Path) -> ModuleType:
    """Python's module lzma, which some builds of Python lack; they cannot read .xz files."""
    try:
        return import_module("lzma")
    except ImportError:
        raise InputError(f"{path}: this Python was built without lzma; use one that has it") from None
