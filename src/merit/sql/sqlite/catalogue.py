"""The schema of a SQLite file by its own catalogue, read through the sandbox, because a catalogue can be hostile, too.

What SQLite itself cannot prepare is left out, because no query could use it: a view over a table that is gone or that
takes too long to expand, a virtual table whose module is missing, a name that is not text.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from merit.errors import DatabaseUnusable
from merit.sql.sqlite.sandbox import SQLiteSandbox
from merit.types import Cause, Column, Error, Limits, Row, Rows, Schema, Table, Timeout

_READ_S = 60.0  # for the whole catalogue; a few thousand tables take a second
_OBJECT_S = 2.0  # for one table or view: preparing an ordinary one takes milliseconds
_TRIES = 2  # of one that is late: the machine may have stood still
_MOST_ROWS = 2_000  # about one table or view: SQLite allows as many columns, and no honest table has as many keys
_OBJECTS = """
SELECT name, type, coalesce(sql LIKE 'CREATE VIRTUAL TABLE%', 0) FROM sqlite_master
WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
"""
# Tables in which virtual tables (full-text search, R-trees) keep their data: VIRTUALTABLE_suffix.
_SHADOW_SUFFIXES = (
    "config",
    "content",
    "data",
    "docsize",
    "idx",
    "node",
    "parent",
    "rowid",
    "segdir",
    "segments",
    "stat",
)
_HIDDEN = 1  # in table_xinfo: a column of a virtual table that `SELECT *` does not give

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}

Details = dict[str, list[Row]]  # rows of a pragma by table


def read_schema(sandbox: SQLiteSandbox, database: Path) -> Schema:
    """All tables and views of a database; raises DatabaseUnusable where its catalogue cannot be read."""
    catalogue = _Catalogue(sandbox, database)
    objects = catalogue.objects()
    columns: Details = {name: catalogue.details("table_xinfo", name) for name in objects}
    keys: Details = {name: catalogue.details("foreign_key_list", name) for name in objects if columns[name]}
    targets = _targets(columns, keys, catalogue.left_s)
    tables = [_table(name, view, columns[name], targets[name]) for name, view in objects.items() if columns[name]]
    return Schema(database.stem, tuple(tables))


class _Catalogue:
    """Queries on one file's catalogue, with one deadline for all of them."""

    def __init__(self, sandbox: SQLiteSandbox, database: Path) -> None:
        self._sandbox = sandbox
        self._database = database
        self._deadline = time.monotonic() + _READ_S

    def objects(self) -> dict[str, bool]:
        """The names of tables and views in the order of their making, and whether each is a view."""
        result = self._ask(_OBJECTS, _READ_S)
        if not isinstance(result, Rows):
            raise DatabaseUnusable(f"{self._database}: its schema cannot be read: {result.message}")
        virtual = [_folded(name) for name, _, is_virtual in result.rows if is_virtual]
        shadows = {f"{name}_{suffix}" for name in virtual for suffix in _SHADOW_SUFFIXES}
        return {str(name): kind == "view" for name, kind, _ in result.rows if _folded(name) not in shadows}

    def details(self, pragma: str, name: str) -> list[Row]:
        """The rows of a pragma about one table; none where SQLite cannot prepare it."""
        quoted = "'" + name.replace("'", "''") + "'"
        result = self._ask_about_object(f"PRAGMA main.{pragma}({quoted})")
        if (
            isinstance(result, Error) and result.cause is Cause.DBMS
        ):  # only this form can leave out bytes that are not text
            result = self._ask_about_object(f"SELECT * FROM pragma_{pragma}({quoted}, 'main')")
        return result.rows if isinstance(result, Rows) else []

    def _ask_about_object(self, sql: str) -> Rows | Error | Timeout:
        for _ in range(_TRIES):
            result = self._ask(sql, _OBJECT_S, _MOST_ROWS)
            if not isinstance(result, Timeout):
                break
        return result

    def left_s(self) -> float:
        """The seconds until the deadline; raises DatabaseUnusable where there are none."""
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise DatabaseUnusable(f"{self._database}: its schema could not be read within {_READ_S:g} s")
        return left_s

    def _ask(self, sql: str, most_s: float, most_rows: int | None = None) -> Rows | Error | Timeout:
        limits = Limits(timeout_s=min(most_s, self.left_s()))
        if most_rows is not None:
            limits = replace(limits, rows=most_rows)
        result = self._sandbox.execute(self._database, sql, limits, lossy=True)
        if isinstance(result, Error) and result.cause.environmental:
            raise DatabaseUnusable(f"{self._database}: {result.message}; give a SQLite database that can be read")
        return result


def _table(name: str, view: bool, rows: list[Row], targets: Mapping[str, list[str]]) -> Table:
    columns = [
        Column(str(column), str(declared), bool(key), tuple(targets.get(_folded(column), ())))
        for _, column, declared, _, _, key, hidden in rows
        if hidden != _HIDDEN
    ]
    return Table(name, tuple(columns), view)


def _targets(columns: Details, keys: Details, in_time: Callable[[], object]) -> dict[str, dict[str, list[str]]]:
    """For each table, the foreign keys of each column as table.column; a target that is not there is left out.

    `in_time` raises once the time is up: a catalogue may hold many keys.
    """
    parents = {_folded(table): _Parent(table, rows) for table, rows in columns.items()}
    targets: dict[str, dict[str, list[str]]] = {}
    for table, rows in keys.items():
        in_time()
        own_targets = targets.setdefault(table, {})
        for _, position, parent, column, referenced, *_ in sorted(rows, key=_declared_order):
            found = parents.get(_folded(parent))
            target = found.target(referenced, position) if found is not None else None
            if target is not None:
                own_targets.setdefault(_folded(column), []).append(target)
    return targets


class _Parent:
    """A table that keys refer to: its columns by name, and those of its primary key by their place in it."""

    def __init__(self, table: str, rows: list[Row]) -> None:
        self._table = table
        self._by_name: dict[str, str] = {}
        self._by_place: dict[object, str] = {}
        for _, column, _, _, _, place, _ in rows:
            self._by_name.setdefault(_folded(column), str(column))
            self._by_place.setdefault(place, str(column))

    def target(self, referenced: object, position: object) -> str | None:
        """What a key means: the column it names, or else that of the primary key at the same position."""
        if referenced is not None:
            column = self._by_name.get(_folded(referenced))
        else:
            column = self._by_place.get(int(str(position)) + 1)
        return f"{self._table}.{column}" if column is not None else None


def _declared_order(key: Row) -> tuple[int, int]:
    number, position, *_ = key
    return -int(number or 0), int(position or 0)  # SQLite lists the last declared key first


def _folded(name: object) -> str:
    """A name as SQLite compares it: it knows the case of ASCII letters only."""
    return str(name).translate(_LOWER)
