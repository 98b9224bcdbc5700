"""A schema put together from the rows of an engine's own catalogue, without what the user leaves out."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from merit.errors import InputError, MeritError
from merit.files import atomic_write
from merit.reading import check_fields, parse_json, read_text
from merit.types import Column, Schema, Table

_CACHE_FORMAT = 1
_MOST_BYTES = 256 * 1024 * 1024
Key = tuple[str, str, str]  # schema, table, column


@dataclass(frozen=True, slots=True)
class SchemaFilter:
    """Which schemas, tables and columns are shown: patterns such as `sales`, `sales.order*` and `*.*.password`.

    A pattern with no dot names schemas, with one dot tables, with two dots columns; `*` and `?` stand for any
    characters, and case makes no difference. It says what is shown, not what may be read: that is the role's to say.
    """

    include: tuple[str, ...] = ()  # where given, nothing else is shown
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for pattern in (*self.include, *self.exclude):
            if not pattern.strip() or pattern.count(".") > 2:
                raise InputError(f"{pattern!r} is not a pattern; write SCHEMA, SCHEMA.TABLE or SCHEMA.TABLE.COLUMN")

    def shows_table(self, schema: str, table: str) -> bool:
        """Whether a table is shown."""
        named = [p for p in self.include if p.count(".") < 2] or (
            [p.rpartition(".")[0] for p in self.include]  # a pattern of columns means their tables, too
        )
        wanted = not named or _any(named, schema, table) or _any(_tables_of(self.include), schema, table)
        return wanted and not _any([p for p in self.exclude if p.count(".") < 2], schema, table)

    def shows_column(self, schema: str, table: str, column: str) -> bool:
        """Whether a column of a table that is shown is shown, too."""
        chosen = [p for p in self.include if p.count(".") == 2 and _any(_tables_of([p]), schema, table)]
        wanted = not chosen or _any(chosen, schema, table, column)
        return wanted and not _any([p for p in self.exclude if p.count(".") == 2], schema, table, column)


def _tables_of(patterns: Iterable[str]) -> list[str]:
    return [pattern.rpartition(".")[0] for pattern in patterns if pattern.count(".") == 2]


def _any(patterns: Iterable[str], *names: str) -> bool:
    """Whether a pattern matches, part by part; one with fewer parts than names means everything below."""
    folded = [name.casefold() for name in names]
    return any(
        all(fnmatchcase(name, part) for name, part in zip(folded, pattern.casefold().split("."), strict=False))
        for pattern in patterns
    )


EVERYTHING = SchemaFilter()


@dataclass(frozen=True, slots=True)
class CatalogueTable:
    """A table or view as a catalogue lists it."""

    schema: str
    name: str
    view: bool = False
    comment: str = ""
    rows: int | None = None
    searched: bool = True  # whether a query finds it without its schema's name


@dataclass(frozen=True, slots=True)
class CatalogueRows:
    """What an engine's catalogue says, in its order."""

    tables: Sequence[CatalogueTable]
    columns: Sequence[tuple[str, str, str, str, str]]  # schema, table, column, type, comment
    primary: frozenset[Key] = field(default_factory=frozenset)
    foreign: Sequence[tuple[Key, Key]] = ()  # from, to

    def schema(self, db_id: str, shown: SchemaFilter = EVERYTHING) -> Schema:
        """The schema of what is shown; a key to something that is not shown is left out."""
        names = {
            (table.schema, table.name): table.name if table.searched else f"{table.schema}.{table.name}"
            for table in self.tables
            if shown.shows_table(table.schema, table.name)
        }
        kept = {key[:3]: key for key in self.columns if key[:2] in names and shown.shows_column(*key[:3])}
        targets: dict[Key, list[str]] = {}
        for start, end in self.foreign:
            if end in kept:
                targets.setdefault(start, []).append(f"{names[end[:2]]}.{end[2]}")
        columns: dict[tuple[str, str], list[Column]] = {}
        for key, (*_, kind, comment) in kept.items():
            column = Column(key[2], kind, key in self.primary, tuple(dict.fromkeys(targets.get(key, ()))), comment)
            columns.setdefault(key[:2], []).append(column)
        tables = [
            Table(names[place], tuple(columns[place]), table.view, table.comment, table.rows)
            for table in self.tables
            if (place := (table.schema, table.name)) in columns
        ]
        return Schema(db_id, tuple(tables))


def cached_schema(folder: Path | None, fingerprint: Callable[[], str], read: Callable[[], Schema]) -> Schema:
    """A schema from the cache folder, where it is the same as when it was read last; else read, and kept."""
    if folder is None:
        return read()
    name = hashlib.sha256(f"{_CACHE_FORMAT} {fingerprint()}".encode()).hexdigest()[:32]
    path = folder / "schemas" / f"{name}.json"
    try:
        return _decoded(parse_json(read_text(path, _MOST_BYTES), path, most=_MOST_BYTES))
    except (MeritError, OSError, KeyError, TypeError):  # not there, or damaged: it is made again
        schema = read()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(json.dumps(asdict(schema), ensure_ascii=False).encode("utf-8", "surrogatepass"))
    except (MeritError, OSError):  # a cache only saves time
        pass
    return schema


def _decoded(record: dict[str, Any]) -> Schema:
    def column(item: dict[str, Any]) -> Column:
        check_fields(item, {"name": str, "type": str, "comment": str, "primary_key": bool, "foreign_keys": list}, "")
        keys = [key for key in item["foreign_keys"] if isinstance(key, str)]
        return Column(**{**item, "foreign_keys": tuple(keys)})

    def table(item: dict[str, Any]) -> Table:
        check_fields(item, {"name": str, "view": bool, "comment": str, "columns": list}, "")
        if not isinstance(item["rows"], int | None):
            raise TypeError
        return Table(**{**item, "columns": tuple(map(column, item["columns"]))})

    check_fields(record, {"db_id": str, "tables": list}, "")
    return Schema(record["db_id"], tuple(map(table, record["tables"])))
