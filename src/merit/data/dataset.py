"""Benchmarks in their official layouts: questions without their answers, databases, schemas."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from merit.data.layout import BIRD, LAYOUTS, SPIDER, Layout
from merit.data.schema import read_schemas
from merit.errors import DatabaseUnusable, InputError
from merit.files import beside, hash_listing, without_tables
from merit.reading import check_inside, check_name, check_regular, hash_file, read_records, sendable, shown
from merit.types import Question, Schema

_JOURNALS = ("-journal", "-wal")  # SQLite's own files beside a database; they are part of its content
_SIDECARS = (*_JOURNALS, "-shm")
_LONGEST_LABEL = 60


@dataclass(frozen=True)
class Dataset:
    """One split of a benchmark on disk."""

    layout: Layout
    split: str
    root: Path
    questions: tuple[Question, ...]
    schemas: Mapping[str, Schema]
    label: str = ""  # the user's name for it, where it is not the benchmark itself

    @property
    def title(self) -> str:
        """Its name in messages and reports."""
        return self.label or self.layout.name

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
        """The files of every database that a question names and that exists: the original first."""
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
            raise InputError(f"{self.root}: {self.layout.name} has no {names} folder here; use the protocol db")
        return self.suites if protocol == "suite" else self.databases

    def absent(self, protocol: str = "db") -> Mapping[str, int]:
        """Databases that are not there, with the number of questions on them."""
        present = self.files(protocol)
        return Counter(question.db_id for question in self.questions if question.db_id not in present)

    def check_tables(self) -> None:
        """Raise for a database that is there and has no tables: questions about it would be asked for nothing."""
        for database, *_ in self.databases.values():
            if without_tables(database):
                raise DatabaseUnusable(
                    f"{database}: has no tables; fetch it again, or remove it to leave its questions out"
                )

    def content_hash(self) -> str:
        """One hash over questions, schemas and every database file."""
        databases = [path for kind in (self.databases, self.suites) for paths in kind.values() for path in paths]
        texts = [(path, path) for path in (self.questions_file, self.tables_file)]
        files = sorted([*texts, *with_journals(databases)])
        return hash_listing((str(name.relative_to(self.root)), hash_file(file)) for name, file in files)

    def _files_under(self, folder: Path) -> dict[str, tuple[Path, ...]]:
        named = sorted({question.db_id for question in self.questions})
        by_name = {db_id: _database_files(folder / db_id, self.root) for db_id in named}
        return {db_id: files for db_id, files in by_name.items() if files}


def with_journals(databases: Iterable[Path]) -> list[tuple[Path, Path]]:
    """Database files, each with the journals that a killed writer left beside it: they are part of its content.

    First the name that belongs to the database's, then where the file is: beside what a link leads to.
    """
    return [
        (Path(f"{path}{suffix}"), file)
        for path in databases
        for suffix, file in (("", path), *((suffix, beside(path, suffix)) for suffix in _JOURNALS))
        if file is path or file.is_file()
    ]


def load(name: str, root: Path, split: str = "dev") -> Dataset:
    """Read one split of a benchmark."""
    layout = _layout(name, root, split)
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
    datasets = [
        load(layout.name, root, split)
        for layout in (SPIDER, BIRD)  # by its files alone, the bundled one looks like Spider
        for split in layout.questions
        if _is_here(layout, root, split)
    ]
    if not datasets:
        raise InputError(
            _elsewhere(root)
            or _half_there(root)
            or f"{root}: neither spider ({_files(SPIDER, 'dev')}) nor bird ({_files(BIRD, 'dev')}) is here"
        )
    return datasets


def check_label(label: str, where: str) -> None:
    """Raise for a dataset's name that could be mistaken for another dataset, or that could not be a folder's name."""
    plain = label.isprintable() and label == label.strip() and not set(label) & {"/", "\\"} and label[:1] != "."
    if not plain or not 0 < len(label) <= _LONGEST_LABEL:
        raise InputError(
            f"{where}: {label[:80]!r} cannot be a dataset's name; use up to {_LONGEST_LABEL} letters, digits, - or _"
        )
    if label.lower() in LAYOUTS:
        raise InputError(f"{where}: {label!r} is the name of a benchmark that merit knows; choose another, or none")


def _layout(name: str, root: Path, split: str) -> Layout:
    """The layout of that name; raises with advice if `root` does not have it."""
    if name not in LAYOUTS:
        near = get_close_matches(name.lower(), LAYOUTS, 1)
        way_out = "use bundled, spider or bird; a folder of your own is spider or bird, by its layout"
        raise InputError(f"unknown dataset {shown(name)}; {f'did you mean {near[0]!r}?' if near else way_out}")
    layout = LAYOUTS[name]
    if split not in layout.questions:
        raise InputError(f"{name} has no split {shown(split)}; use {' or '.join(layout.questions)}")
    if root.exists() and not _is_here(layout, root, split):
        raise InputError(_elsewhere(root, layout) or _instead(layout, root, split))
    return layout


def _is_here(layout: Layout, root: Path, split: str) -> bool:
    return (root / layout.tables[split]).exists() and _questions_file(layout, root, split).exists()


def splits_in(root: Path) -> list[tuple[str, str]]:
    """Which splits of Spider or BIRD are in a folder, by its files alone: name and split of each."""
    return [
        (layout.name, split) for layout in (SPIDER, BIRD) for split in layout.questions if _is_here(layout, root, split)
    ]


def _half_there(root: Path) -> str | None:
    """Which file is missing where a layout's questions are there."""
    for layout in (SPIDER, BIRD):
        questions, tables = _questions_file(layout, root, "dev"), root / layout.tables["dev"]
        if questions.exists() and not tables.exists() and (root / layout.databases["dev"]).is_dir():
            return f"{tables}: no such file; {layout.name} needs it beside {questions.name}"
    return None


def _layouts_in(root: Path) -> list[Layout]:
    return [LAYOUTS[name] for name in dict.fromkeys(name for name, _ in splits_in(root))]


def _elsewhere(root: Path, wanted: Layout = SPIDER) -> str | None:
    """Advice for a path near a dataset's folder, preferably near one of the wanted layout; None for such a folder."""
    if root.is_file():
        return f"{root}: is a file; give the folder that it is in, {root.absolute().parent}"
    if not root.is_dir():
        return f"{root}: no such folder"
    if _layouts_in(root):
        return None
    below = sorted(path for path in root.iterdir() if path.is_dir())
    folders = [*((path, "down") for path in below), (root.absolute().parent, "up")]
    matches = [(layout, near, way) for near, way in folders for layout in _layouts_in(near)]
    for layout, near, way in sorted(matches, key=lambda match: match[0].tables != wanted.tables):
        return f"{root}: {layout.name} is one level further {way}: give {near}"
    return None


def _instead(wanted: Layout, root: Path, split: str) -> str:
    """Advice for a folder that has another dataset, another split, or only some of the files."""
    if any(_is_here(wanted, root, other) for other in wanted.questions):
        there = next(other for other in wanted.questions if _is_here(wanted, root, other))
        return f"{root}: has no split {split} of {wanted.name}, which is {_files(wanted, split)}; use the split {there}"
    for layout in _layouts_in(root):
        return f"{root}: looks like {layout.name}, not like {wanted.name}; use {layout.name} for it"
    paths = (root / wanted.tables[split], _questions_file(wanted, root, split))
    missing = next(path for path in paths if not path.exists())
    return f"{missing}: no such file; {wanted.name}'s folder holds {_files(wanted, split)}"


def _files(layout: Layout, split: str) -> str:
    return f"{' or '.join(layout.questions[split])}, {layout.tables[split]} and {layout.databases[split]}/"


def _questions_file(layout: Layout, root: Path, split: str) -> Path:
    paths = [root / name for name in layout.questions[split]]
    return next((path for path in paths if path.exists()), paths[0])


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
            for suffix in _SIDECARS:  # SQLite looks beside what a link leads to
                check_inside(beside(path, suffix), root)
        check_regular(path)
    databases = [path for path in paths if not path.name.endswith(_SIDECARS)]
    return tuple(sorted(databases, key=lambda path: (path.name != f"{folder.name}.sqlite", path.name)))


def _question(record: dict[str, Any], number: int, where: str) -> Question:
    identity = record.get("question_id", number)
    evidence, difficulty = record.get("evidence"), record.get("difficulty") or ""
    if isinstance(identity, bool) or not isinstance(identity, int | str) or not str(identity).isprintable():
        # It is named in messages, where a line break in it would begin a line of its own.
        raise InputError(
            f"{where}: the field 'question_id' should be a number or a text that can be printed, not {shown(identity)}"
        )
    for name, value in (("evidence", "" if evidence is None else evidence), ("difficulty", difficulty)):
        if not isinstance(value, str):
            raise InputError(f"{where}: the field {name!r} should be a text, not {shown(value)}")
    check_name(record["db_id"], f"{where}: the field 'db_id'")
    if not record["question"].strip():
        raise InputError(f"{where}: the field 'question' is empty; write the question, or take the entry out")
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
