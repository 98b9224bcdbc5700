"""Writing the benchmark in Spider's layout: questions, schemas, databases, test suites, and a small training split."""

import json
import logging
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from merit.bundled import library
from merit.bundled.fuzz import Fuzzer
from merit.bundled.source import HERE, PAGE_BYTES, DatabaseSource, read_sources
from merit.bundled.tables import spider_record
from merit.data import LAYOUTS, Dataset, check_label, load
from merit.errors import CacheUnusable, InputError
from merit.files import hash_listing
from merit.reading import hash_file

_log = logging.getLogger(__name__)
NAME = "bundled"
# From https://sqlite.org/fileformat.html: the bytes with the version of SQLite that wrote a file, the size of a file's
# header, and the size of a b-tree page's header, by the page's type.
_WRITER_VERSION = slice(96, 100)
_HEADER_BYTES = 100
_PAGE_HEADER_BYTES = {2: 12, 5: 12, 10: 8, 13: 8}
_ABANDONED_S = 3600.0  # an unfinished folder older than this; building takes seconds
_QUIET_S = 3.0  # building says nothing of itself for so long
_ELSEWHERE = "choose another folder with MERIT_CACHE, or --cache in a command"


def open_dataset(name: str, root: Path | None, split: str, cache: Path, label: str = "") -> Dataset:
    """A benchmark in its folder, under its own label if it has one; the bundled one has neither and is built on use."""
    if name == NAME:
        if root is not None or label:
            given = "folder" if root is not None else "name"
            raise InputError(f"{NAME} comes with merit, under its own name; leave the {given} out")
        return load(name, built(cache), split)
    if label:
        check_label(label, "the data's name")
    if root is None and name in LAYOUTS:
        raise InputError(f"{name}: give its folder (--data, or root in Python); only {NAME} comes with merit")
    return replace(load(name, root or Path(), split), label=label)


def built(cache: Path) -> Path:
    """The benchmark's folder in `cache`, complete: it is written beside its final path and then renamed."""
    home = cache / NAME / _content_hash()
    if home.is_dir():
        return home
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(home.parent)
        unfinished = Path(tempfile.mkdtemp(suffix=".part", dir=home.parent))
    except OSError as error:
        raise _unbuilt(cache, error) from error
    try:
        with _said_if_slow(home.parent):
            build(unfinished)
        unfinished.chmod(0o755)  # readable like any folder; a temporary one is private
        unfinished.rename(home)
    except (OSError, sqlite3.Error) as error:
        if not home.is_dir():  # else another process was quicker, with the same content
            raise _unbuilt(cache, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return home


@contextmanager
def _said_if_slow(folder: Path) -> Iterator[None]:
    """Say what is being waited for, once it takes a while."""
    told = "merit: building the databases of the bundled benchmark in %s, once; this can take a minute"
    timer = threading.Timer(_QUIET_S, _log.warning, (told, folder))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _unbuilt(cache: Path, error: OSError | sqlite3.Error) -> CacheUnusable:
    why = getattr(error, "strerror", None) or error
    return CacheUnusable(f"{cache}: cannot build the benchmark here ({why}); {_ELSEWHERE}")


def build(folder: Path, sources: Sequence[DatabaseSource] | None = None) -> None:
    """Write the benchmark into `folder`."""
    sources = read_sources() if sources is None else sources
    questions: list[dict[str, Any]] = []
    tables: list[dict[str, Any]] = []
    for source in sources:
        with closing(source.original()) as db:
            tables.append(spider_record(source.db_id, db))
            for subfolder in ("database", "test_suite_database"):
                _save(db, folder / subfolder / source.db_id / f"{source.db_id}.sqlite")
        fuzzer = Fuzzer(source)
        for seed in source.seeds:
            with closing(fuzzer.database(seed)) as other:
                _save(other, folder / "test_suite_database" / source.db_id / f"{source.db_id}_{seed}.sqlite")
        questions += [_record(source, number) for number in range(len(source.questions))]
    _train(folder, tables)
    _write(folder / "dev.json", questions)
    _write(folder / "tables.json", tables)


def _record(source: DatabaseSource, number: int) -> dict[str, Any]:
    written = source.questions[number]
    return {
        "question_id": written.id,
        "db_id": source.db_id,
        "question": written.question,
        "query": written.sql,
        "difficulty": written.difficulty,
        "like": written.like,
    }


def _train(folder: Path, tables: list[dict[str, Any]]) -> None:
    """The small library as the training split, for methods that show solved questions."""
    with tempfile.TemporaryDirectory(dir=folder) as name:  # so that only one disk can be full
        small = Path(name)
        library.build(small)
        shutil.copy(small / "dev.json", folder / "train.json")
        tables += json.loads((small / "tables.json").read_text(encoding="utf-8"))
        for path in sorted(small.rglob("*.sqlite")):
            subfolder = "database" if path.is_relative_to(small / "database") else "test_suite_database"
            with closing(sqlite3.connect(path)) as db:
                _save(db, folder / subfolder / "library" / path.name)


def _save(db: sqlite3.Connection, path: Path) -> None:
    """Write a database whose bytes depend on its content alone, whichever SQLite writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as file:
        for setting in ("journal_mode=OFF", "synchronous=OFF", "secure_delete=ON"):
            file.execute(f"PRAGMA {setting}")
        db.backup(file)
        file.execute("VACUUM")  # removes the free space that statements left behind
    path.write_bytes(_plain(path.read_bytes()))


def _plain(content: bytes) -> bytes:
    """A database file without what its writer left in it: SQLite's version, and old bytes in unallocated space."""
    plain = bytearray(content)
    plain[_WRITER_VERSION] = bytes(4)
    for page in range(0, len(plain), PAGE_BYTES):
        head = page or _HEADER_BYTES
        if plain[head] in _PAGE_HEADER_BYTES:
            cells, start = (int.from_bytes(plain[head + at : head + at + 2], "big") for at in (3, 5))
            end = head + _PAGE_HEADER_BYTES[plain[head]] + 2 * cells
            plain[end : page + start] = bytes(page + start - end)
    return bytes(plain)


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _content_hash() -> str:
    """One hash over everything that decides what is built: the files of data, and the code that builds."""
    paths = (path for path in sorted(HERE.rglob("*")) if path.suffix in (".json", ".jsonl", ".py", ".sql"))
    return hash_listing((path.relative_to(HERE).as_posix(), hash_file(path)) for path in paths)[:16]


def _remove_abandoned(folder: Path) -> None:
    """Remove the unfinished folders of killed processes."""
    for path in folder.glob("*.part"):
        with suppress(FileNotFoundError):  # another process removed it first
            if path.stat().st_mtime < time.time() - _ABANDONED_S:
                shutil.rmtree(path, ignore_errors=True)
