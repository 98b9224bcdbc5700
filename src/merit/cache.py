"""Where caches live, and how a cache file is opened: shared by processes, recreated when damaged."""

import logging
import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from merit.errors import CacheUnusable
from merit.files import names_super_journal

_log = logging.getLogger(__name__)
_PATIENCE_S = 30.0
_ELSEWHERE = "choose another folder with MERIT_CACHE, or --cache in a command"


def cache_folder() -> Path:
    """MERIT_CACHE, or merit's folder in the user's cache folder."""
    if given := os.environ.get("MERIT_CACHE"):
        return Path(given)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "merit"
    except RuntimeError:
        raise CacheUnusable("there is no home folder to keep a cache in; set MERIT_CACHE to a folder") from None


def open_cache(folder: Path | None, name: str, tables: str, *, precious: bool = False) -> sqlite3.Connection:
    """The cache file `name` in `folder` with its `tables`, or without a folder one in memory.

    A `precious` cache holds answers that cost money: a damaged file is refused, not recreated, and writes are synced.
    """
    if folder is None:
        db = sqlite3.connect(":memory:", check_same_thread=False)
        db.executescript(tables)
        return db
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / name).exists() and not (folder / name).is_file():
            raise CacheUnusable(f"{folder / name}: is not a file; move it away, or {_ELSEWHERE}")
        if names_super_journal(folder / name):
            raise CacheUnusable(f"{folder / name}-journal: names another file, which SQLite would delete; remove it")
        return _open_file(folder / name, tables, precious)
    except (OSError, sqlite3.OperationalError) as error:
        raise CacheUnusable(
            f"{folder}: cannot keep a cache here ({getattr(error, 'strerror', None) or error}); {_ELSEWHERE}"
        ) from error


def read_cache(db: sqlite3.Connection, statement: str, *parameters: object) -> list[Any]:
    """All rows of a query; none if the cache is damaged."""
    try:
        return db.execute(statement, parameters).fetchall()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        _log.warning("a cache could not be read: %s", error)
        return []


def write_cache(db: sqlite3.Connection, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Write rows in one transaction; a full disk or a locked file is logged, since a cache only saves time."""
    if not rows:
        return
    try:
        with db:
            db.executemany(statement, rows)
    except sqlite3.DatabaseError as error:
        _log.warning("a cache was not written: %s", error)


def _open_file(path: Path, tables: str, precious: bool) -> sqlite3.Connection:
    try:
        return _prepare(path, tables, precious)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the message about a damaged file may not be text
        if isinstance(error, sqlite3.OperationalError):
            raise
        if precious:
            raise CacheUnusable(f"{path}: damaged ({error}); restore it from a copy, or move it away") from error
        _log.warning("%s is damaged (%s) and is recreated", path, error)
        path.unlink()
        return _prepare(path, tables, precious)


def _use_wal(db: sqlite3.Connection) -> None:
    """Switch to WAL; while another process does the same, SQLite does not wait by itself."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _prepare(path: Path, tables: str, precious: bool) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_PATIENCE_S, check_same_thread=False)
    try:
        _use_wal(db)
        # Losing a cache to a power cut costs time only, unless its content was paid for.
        db.execute(f"PRAGMA synchronous={'NORMAL' if precious else 'OFF'}")
        db.executescript(tables)
    except (sqlite3.Error, UnicodeDecodeError):
        db.close()
        raise
    return db
