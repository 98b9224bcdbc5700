"""Answers as JSON lines, to be handed on: every line one answer under its hash; compressed where the name says .xz."""

import json
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from merit.errors import InputError
from merit.models.answers import AnswerStore
from merit.models.completer import Completion, ModelIdentity
from merit.reading import check_fields, read_json_lines

_FIELDS: dict[str, type] = {
    "key": str,
    "model": str,
    "revision": str,
    "text": str,
    "prompt_tokens": int,
    "output_tokens": int,
}
_KEY_BYTES = 16
_MOST_TOKENS = 2**40
Answer = tuple[bytes, ModelIdentity, Completion]


def is_exported(path: Path) -> bool:
    """Whether a file is one of JSON lines, by its name."""
    return path.name.endswith((".jsonl", ".jsonl.xz"))


def write_exported(path: Path, answers: Iterable[Answer]) -> int:
    """Write answers in the order in which they come, whole or not at all; returns how many."""
    count = 0
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with _create(unfinished, packed=path.suffix == ".xz") as file:
            for answer in answers:
                file.write(_line(answer) + "\n")
                count += 1
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another --out") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return count


def open_exported(path: Path) -> AnswerStore:
    """The answers of such a file, in memory."""
    store = AnswerStore(None)
    try:
        store.take(_answer(record, f"{path}, line {number}") for number, record in read_json_lines(_text(path), path))
    except BaseException:
        store.close()
        raise
    store.path = path
    return store


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
    check_fields(record, _FIELDS, where)
    try:
        key = bytes.fromhex(record["key"])
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise InputError(f"{where}: the field 'key' should be {2 * _KEY_BYTES} hexadecimal digits")
    cost = (record["prompt_tokens"], record["output_tokens"])
    if not all(0 <= tokens < _MOST_TOKENS for tokens in cost):
        raise InputError(f"{where}: the tokens cannot be {cost[0]} and {cost[1]}"[:300])
    return key, ModelIdentity(record["model"], record["revision"]), Completion(record["text"], *cost)


def _create(path: Path, *, packed: bool) -> IO[str]:
    if not packed:
        return path.open("w", encoding="utf-8", newline="\n")
    lzma = _lzma(path)
    opened: IO[str] = lzma.open(path, "wt", preset=9 | lzma.PRESET_EXTREME, encoding="utf-8", newline="\n")
    return opened


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; give a file of recorded answers") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if path.suffix == ".xz":
        lzma = _lzma(path)
        try:
            content = lzma.decompress(content)
        except lzma.LZMAError as error:
            raise InputError(f"{path}: damaged, or not compressed with xz ({error})") from None
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None


def _lzma(path: Path) -> ModuleType:
    """Python's own, which some builds of Python lack: they can do everything but this."""
    try:
        return import_module("lzma")
    except ImportError:
        raise InputError(f"{path}: this Python was built without lzma; use one that has it") from None
