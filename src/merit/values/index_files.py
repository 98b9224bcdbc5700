"""An index on disk, under the identity of its database's content."""

import hashlib
import json
import logging
from pathlib import Path

from merit.errors import CacheUnusable, InputError
from merit.files import atomic_write
from merit.reading import read_bytes
from merit.types import Engine, Schema, Value
from merit.values.build import ValueCaps, build_values
from merit.values.index import ColumnValues, ValueIndex

_log = logging.getLogger(__name__)
_FORMAT = 2  # counts up with whatever changes what is in an index
_FOLDER = "values"
_LARGEST_FILE = 256 << 20  # bytes; 200,000 texts of 100 characters need half of it at most


def open_values(
    engine: Engine, schema: Schema, content: str, folder: Path | None = None, caps: ValueCaps | None = None
) -> ValueIndex:
    """The index of a database, from the cache `folder` or built anew.

    `content` names what is in the database, for SQLite the hash of the file (`merit.sql.content_hash`). A damaged file
    is built again; where the folder cannot be written, the index is not kept. Nor is it where columns were not read in
    time, or depend on the clock or on chance (a virtual table of SQLite can): they are others the next time.
    """
    caps = caps or ValueCaps()
    path = _path(folder, content, schema, caps) if folder is not None else None
    index = load_values(path) if path is not None else None
    if index is not None:
        return index
    built = build_values(engine, schema, caps)
    if path is not None and not built.unread and not built.unsteady:
        save_values(built.index, path)
    return built.index


def _path(folder: Path, content: str, schema: Schema, caps: ValueCaps) -> Path:
    """Another file for other content, other tables (a schema may hold some only) and other limits."""
    columns = [(table.name, [column.name for column in table.columns]) for table in schema.tables if not table.view]
    limits = (caps.texts_per_column, caps.texts, caps.characters)
    named = json.dumps([_FORMAT, content, limits, columns]).encode()
    return folder / _FOLDER / f"{hashlib.sha256(named).hexdigest()[:32]}.json"


def save_values(index: ValueIndex, path: Path) -> None:
    """Write an index; a full disk is logged, since a cache only saves time."""
    columns = [[c.table, c.column, c.complete, c.examples, c.texts] for c in index.columns]
    body = json.dumps(columns, separators=(",", ":")).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, fault=CacheUnusable) as file:
            file.write(_digest(body) + b"\n" + body)
    except (OSError, CacheUnusable) as error:
        _log.warning("%s: values are not kept (%s)", path, error)


def load_values(path: Path) -> ValueIndex | None:
    """The index in a file; None where there is none, or one that is not as it was written."""
    try:
        digest, _, body = read_bytes(path, _LARGEST_FILE).partition(b"\n")
    except InputError as error:
        if path.exists():
            _log.warning("%s: values are read anew (%s)", path, error)
        return None
    if digest != _digest(body):
        _log.warning("%s is damaged and is made again", path)
        return None
    try:
        return ValueIndex([_column(*fields) for fields in json.loads(body)])
    except (ValueError, TypeError, RecursionError):
        _log.warning("%s is not an index of values and is made again", path)
        return None


def _column(table: str, column: str, complete: bool, examples: list[Value], texts: list[str]) -> ColumnValues:
    named = isinstance(table, str) and isinstance(column, str) and isinstance(complete, bool)
    if not named or not all(isinstance(value, str | int | float) for value in examples):
        raise TypeError
    if not all(isinstance(text, str) for text in texts):
        raise TypeError
    return ColumnValues(table, column, tuple(examples), tuple(texts), complete)


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()
