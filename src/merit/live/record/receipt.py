"""What a receipt holds: everything that entered the prompts of a question and decided its answer, without any value."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from merit.errors import InputError
from merit.reading import check_fields

Setting = str | int | float | bool | None
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry of the memory that prompts showed, with the scores that brought it up."""

    id: str
    candidates: tuple[int, ...]  # for which it was shown with these scores, from 1
    score: float
    dense: float | None
    lexical: float | None


@dataclass(frozen=True, slots=True)
class CandidateVote:
    """A candidate, in the order in which they were asked for, and what it voted for."""

    prompt: int | None  # which of the receipt's prompts led to it; None for a statement that was given
    statement: int | None  # which of the answer's statements it is; None where it declined
    weight: float  # of its vote
    result: int | None  # candidates with the same rows have the same number, 0 for no rows; None where it has no result


@dataclass(frozen=True, slots=True)
class Receipt:
    """What entered the prompts of a question, and what decided between its candidates."""

    shown: tuple[ShownEntry, ...]
    positions: tuple[int, ...]  # the memory's sequence number that the recall for each candidate knew
    tables: Mapping[str, tuple[str, ...]]  # that were shown, with their columns; those are left out where they are many
    tables_sha256: str  # of the tables' text, without values
    values: tuple[str, ...]  # the columns, as table.column, of stored values that the question mentions
    notes: tuple[str, ...]  # rules, words and metrics that people wrote down, shortened
    notes_sha256: str
    settings: Mapping[str, Setting]
    prompts: tuple[str, ...]  # the sha256 of each, in the order in which they were first sent
    candidates: tuple[CandidateVote, ...]


_FIELDS = tuple(Receipt.__dataclass_fields__)


def read_receipt(record: Any, where: str) -> Receipt:
    """A receipt from its record, every field checked."""
    check_fields(record, {name: dict if name in ("tables", "settings") else object for name in _FIELDS}, where)
    if set(record) != set(_FIELDS):
        raise InputError(f"{where}: not the fields of a receipt")
    lists: dict[str, type] = dict.fromkeys(("shown", "positions", "values", "notes", "prompts", "candidates"), list)
    check_fields(record, {**lists, "tables_sha256": str, "notes_sha256": str}, where)
    for name, hashes in (("prompts", record["prompts"]), ("tables_sha256", [record["tables_sha256"]])):
        if not all(isinstance(digest, str) and _SHA256.fullmatch(digest) for digest in hashes):
            raise InputError(f"{where}: the field {name!r} should hold sha256 hashes")
    for name in ("values", "notes"):
        _check_texts(record[name], name, where)
    for columns in record["tables"].values():
        _check_texts(columns, "tables", where)
    if not all(isinstance(value, Setting) for value in record["settings"].values()):
        raise InputError(f"{where}: the field 'settings' should hold texts and numbers")
    return Receipt(
        shown=tuple(_shown(item, where) for item in record["shown"]),
        positions=tuple(_whole(item, "positions", where) for item in record["positions"]),
        tables={table: tuple(columns) for table, columns in record["tables"].items()},
        tables_sha256=record["tables_sha256"],
        values=tuple(record["values"]),
        notes=tuple(record["notes"]),
        notes_sha256=record["notes_sha256"],
        settings=record["settings"],
        prompts=tuple(record["prompts"]),
        candidates=tuple(_candidate(item, where) for item in record["candidates"]),
    )


def _shown(record: Any, where: str) -> ShownEntry:
    check_fields(record, {"id": str, "candidates": list, "score": float, "dense": object, "lexical": object}, where)
    numbers = tuple(_whole(number, "candidates", where) for number in record["candidates"])
    dense, lexical = (_optional(record[name], (int, float), name, where) for name in ("dense", "lexical"))
    return ShownEntry(record["id"], numbers, record["score"], dense, lexical)


def _candidate(record: Any, where: str) -> CandidateVote:
    check_fields(record, {"prompt": object, "statement": object, "weight": float, "result": object}, where)
    names = ("prompt", "statement", "result")
    prompt, statement, result = (_optional(record[name], (int,), name, where) for name in names)
    if min(prompt or 0, statement or 0, record["weight"], result or 0) < 0:
        raise InputError(f"{where}: a number cannot be below 0; it was edited")
    return CandidateVote(prompt, statement, record["weight"], result)


def _whole(value: Any, name: str, where: str) -> int:
    if type(value) is not int or value < 0:
        raise InputError(f"{where}: the field {name!r} should hold whole numbers")
    return value


def _optional(value: Any, kinds: tuple[type, ...], name: str, where: str) -> Any:
    if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
        raise InputError(f"{where}: the field {name!r} should be a number or null")
    return value


def _check_texts(values: Any, name: str, where: str) -> None:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{where}: the field {name!r} should hold lists of texts")
