"""What SQLite itself says about a database's tables, and the same in the format of Spider's tables.json."""

import sqlite3
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Link:
    """A foreign key: which columns point to which columns of which table."""

    columns: tuple[str, ...]
    parent: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table's columns with their declared types, and its keys."""

    name: str
    types: dict[str, str]
    required: frozenset[str]
    primary: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...]  # the primary key among them
    links: tuple[Link, ...]


def read_shapes(db: sqlite3.Connection) -> tuple[TableShape, ...]:
    """Every table, in the order of its creation."""
    names = db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    )
    primaries = {name: _primary(db, name) for (name,) in names.fetchall()}
    return tuple(_shape(db, name, primaries) for name in primaries)


def parents_first(shapes: tuple[TableShape, ...]) -> list[TableShape]:
    """The tables with each after those it refers to; in a cycle, in the order of creation."""
    ordered: list[TableShape] = []
    waiting = list(shapes)
    while waiting:
        done = {shape.name for shape in ordered}
        ready = (s for s in waiting if all(link.parent in done | {s.name} for link in s.links))
        chosen = next(ready, waiting[0])
        ordered.append(chosen)
        waiting.remove(chosen)
    return ordered


def spider_record(db_id: str, db: sqlite3.Connection) -> dict[str, Any]:
    """A database's entry of tables.json."""
    shapes = read_shapes(db)
    columns = [(t, name) for t, shape in enumerate(shapes) for name in shape.types]
    number = {(shapes[t].name, name): c for c, (t, name) in enumerate(columns, 1)}  # column 0 is `*`
    links = [
        [number[shape.name, column], number[link.parent, target]]
        for shape in shapes
        for link in shape.links
        for column, target in zip(link.columns, link.targets, strict=True)
    ]
    return {
        "db_id": db_id,
        "table_names_original": [shape.name for shape in shapes],
        "table_names": [_words(shape.name) for shape in shapes],
        "column_names_original": [[-1, "*"], *([t, name] for t, name in columns)],
        "column_names": [[-1, "*"], *([t, _words(name)] for t, name in columns)],
        "column_types": ["text", *(_kind(declared) for shape in shapes for declared in shape.types.values())],
        "primary_keys": [number[shape.name, column] for shape in shapes for column in shape.primary],
        "foreign_keys": links,
    }


def _shape(db: sqlite3.Connection, name: str, primaries: dict[str, tuple[str, ...]]) -> TableShape:
    columns = db.execute('SELECT name, type, "notnull" FROM pragma_table_info(?)', (name,)).fetchall()
    primary = primaries[name]
    indexes = db.execute('SELECT name FROM pragma_index_list(?) WHERE "unique" AND NOT partial ORDER BY seq', (name,))
    unique = [
        tuple(column for (column,) in db.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", index))
        for index in indexes.fetchall()
    ]
    keys: dict[int, list[tuple[str, str, str | None]]] = {}
    for number, parent, column, target in db.execute(
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq', (name,)
    ):
        keys.setdefault(number, []).append((parent, column, target))
    links = []
    for parts in keys.values():
        parent = next(known for known in primaries if known.lower() == parts[0][0].lower())
        targets = tuple(t for _, _, t in parts if t is not None) or primaries[parent]
        links.append(Link(tuple(column for _, column, _ in parts), parent, targets))
    return TableShape(
        name,
        {column: declared.upper() for column, declared, _ in columns},
        frozenset(column for column, _, required in columns if required) | {*primary},
        primary,
        tuple(dict.fromkeys([primary, *unique] if primary else unique)),
        tuple(links),
    )


def _primary(db: sqlite3.Connection, name: str) -> tuple[str, ...]:
    names = db.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (name,))
    return tuple(column for (column,) in names)


def _kind(declared: str) -> str:
    if any(word in declared for word in ("DATE", "TIME")):
        return "time"
    if "BOOL" in declared:
        return "boolean"
    return "number" if any(word in declared for word in ("INT", "REAL", "NUM", "FLOA", "DOUB", "DEC")) else "text"


def _words(name: str) -> str:
    return name.replace("_", " ").lower()
