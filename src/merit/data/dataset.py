"""Benchmarks in their official layouts: questions without their answers, databases, schemas."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from merit.data.schema import Schema, read_schemas
from merit.errors import InputError
from merit.reading import check_inside, check_name, check_regular, hash_file, read_records, sendable, shown
from merit.types import Question

_JOURNALS = ("-journal", "-wal")  # SQLite's own files beside a database; what they say is part of it
_SIDECARS = (*_JOURNALS, "-shm")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where one benchmark keeps its files; several names are tried in order."""

    name: str
    questions: Mapping[str, tuple[str, ...]]  # by split
    tables: Mapping[str, str]
    databases: Mapping[str, str]
    suites: tuple[str, ...]
    reference_field: str  # which field of a question the oracle, and nobody else, reads


SPIDER = Layout(
    name="spider",
    questions={"dev": ("dev.json",), "train": ("train_spider.json", "train.json")},
    tables={"dev": "tables.json", "train": "tables.json"},
    databases={"dev": "database", "train": "database"},
    suites=("test_suite", "test_suite_database"),
    reference_field="query",
)
BIRD = Layout(
    name="bird",
    questions={"dev": ("dev.json",), "train": ("train.json",)},
    tables={"dev": "dev_tables.json", "train": "train_tables.json"},
    databases={"dev": "dev_databases", "train": "train_databases"},
    suites=(),
    reference_field="SQL",
)
BUNDLED = replace(SPIDER, name="bundled")  # the one that comes with merit
PROTOCOLS = ("db", "suite")
LAYOUTS = {layout.name: layout for layout in (SPIDER, BIRD, BUNDLED)}


@dataclass(frozen=True)
class Dataset:
    """One split of a benchmark on disk."""

    layout: Layout
    split: str
    root: Path
    questions: tuple[Question, ...]
    schemas: Mapping[str, Schema]

    @property
    def questions_file(self) -> Path:
        """The file the questions came from."""
        return _questions_file(self.layout, self.root, self.split)

    @property
    def tables_file(self) -> Path:
        """The file the schemas came from."""
        return self.root / self.layout.tables[self.split]

    @cached_property
    def databases(self) -> Mapping[str, tuple[Path, ...]]:
        """The database files of every database a question names and the disk has: the original first."""
        return self._files_under(self.root / self.layout.databases[self.split])

    @cached_property
    def suites(self) -> Mapping[str, tuple[Path, ...]]:
        """The same for the test suite, where there is one."""
        folders = (self.root / name for name in self.layout.suites)
        return next((self._files_under(folder) for folder in folders if folder.is_dir()), {})

    def files(self, protocol: str) -> Mapping[str, tuple[Path, ...]]:
        """The databases that decide a verdict under `db` (the originals) or `suite` (all must agree)."""
        if protocol == "suite" and not self.suites:
            names = " or ".join(self.layout.suites) or "test-suite"
            raise InputError(f"{self.root}: {self.layout.name} has no {names} folder here; use --protocol db")
        return self.suites if protocol == "suite" else self.databases

    def absent(self, protocol: str = "db") -> Mapping[str, int]:
        """Databases that are not there, with the number of questions on them."""
        present = self.files(protocol)
        return Counter(question.db_id for question in self.questions if question.db_id not in present)

    def content_hash(self) -> str:
        """One hash over questions, schemas and every database file."""
        databases = [path for kind in (self.databases, self.suites) for paths in kind.values() for path in paths]
        journals = [Path(f"{path}{suffix}") for path in databases for suffix in _JOURNALS]
        files = [self.questions_file, self.tables_file, *databases, *(path for path in journals if path.is_file())]
        listing = hashlib.sha256()
        for path in sorted(files):
            listing.update(os.fsencode(path.relative_to(self.root)) + f"\0{hash_file(path)}\n".encode())
        return listing.hexdigest()

    def _files_under(self, folder: Path) -> dict[str, tuple[Path, ...]]:
        named = sorted({question.db_id for question in self.questions})
        found = {db_id: _database_files(folder / db_id, self.root) for db_id in named}
        return {db_id: files for db_id, files in found.items() if files}


def load(name: str, root: Path, split: str = "dev") -> Dataset:
    """Read one split of a benchmark."""
    layout = LAYOUTS.get(name)
    if layout is None or split not in layout.questions:
        raise InputError(
            f"{root}: there is no dataset {shown(name)} with a split {shown(split)}; use {', '.join(LAYOUTS)}"
        )
    if not root.is_dir():
        raise InputError(f"{root}: no such folder; give the folder that holds {name}'s {layout.questions[split][0]}")
    path, tables = _questions_file(layout, root, split), root / layout.tables[split]
    for file in (path, tables):
        check_inside(file, root)
    schemas = read_schemas(tables)
    records = read_records(path, {"db_id": str, "question": str})
    questions = tuple(_question(record, number, f"{path}, entry {number}") for number, record in enumerate(records))
    _check(questions, schemas, path)
    return Dataset(layout, split, root, questions, schemas)


def detect(root: Path) -> list[Dataset]:
    """Every split of Spider or BIRD whose questions are in `root`."""
    if not root.is_dir():
        raise InputError(f"{root}: no such folder")
    found = [
        load(layout.name, root, split)
        for layout in (SPIDER, BIRD)  # by its files alone, the bundled one looks like Spider
        for split, names in layout.questions.items()
        if (root / layout.tables[split]).is_file() and any((root / name).is_file() for name in names)
    ]
    if not found:
        raise InputError(
            f"{root}: neither Spider (dev.json, tables.json, database/) nor BIRD (dev.json, dev_tables.json, "
            "dev_databases/) is here"
        )
    return found


def _questions_file(layout: Layout, root: Path, split: str) -> Path:
    paths = [root / name for name in layout.questions[split]]
    return next((path for path in paths if path.is_file()), paths[0])


def _database_files(folder: Path, root: Path) -> tuple[Path, ...]:
    # As the official evaluator does: every file with `.sqlite` in its name takes part.
    if not folder.is_dir():
        return ()
    check_inside(folder, root)
    paths = [path for path in folder.iterdir() if ".sqlite" in path.name]
    for path in paths:  # SQLite's own files beside a database too: it would open them
        check_name(path.name, f"{folder}: the name of a file")
        if path.is_symlink():
            check_inside(path, root)
        check_regular(path)
    databases = [path for path in paths if not path.name.endswith(_SIDECARS)]
    return tuple(sorted(databases, key=lambda path: (path.name != f"{folder.name}.sqlite", path.name)))


def _question(record: dict[str, Any], number: int, where: str) -> Question:
    identity = record.get("question_id", number)
    evidence, difficulty = record.get("evidence"), record.get("difficulty") or ""
    if isinstance(identity, bool) or not isinstance(identity, int | str):
        raise InputError(f"{where}: the field 'question_id' should be a number or a text, not {shown(identity)}")
    for name, value in (("evidence", "" if evidence is None else evidence), ("difficulty", difficulty)):
        if not isinstance(value, str):
            raise InputError(f"{where}: the field {name!r} should be a text, not {shown(value)}")
    check_name(record["db_id"], f"{where}: the field 'db_id'")
    return Question(
        id=identity,
        db_id=record["db_id"],
        text=sendable(record["question"]),
        evidence=None if evidence is None else sendable(evidence),
        difficulty=difficulty,
    )


def _check(questions: Iterable[Question], schemas: Mapping[str, Schema], path: Path) -> None:
    seen = set()
    for number, question in enumerate(questions):
        if question.db_id not in schemas:
            raise InputError(
                f"{path}, entry {number}: unknown db_id {shown(question.db_id)}; the tables file has no such schema"
            )
        if question.id in seen:
            raise InputError(f"{path}, entry {number}: the question id {shown(question.id)} is there twice")
        seen.add(question.id)
