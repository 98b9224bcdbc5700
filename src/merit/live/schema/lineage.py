"""Lineage: which tables and columns of a database a statement uses, with the columns' types at that time.

A statement that cannot be parsed has no lineage, and only running it again tells whether it still works.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from merit.sql.parser import UNREADABLE, bounded_scopes, parse_bounded
from merit.types import SQLGLOT_DIALECTS, Schema

Uses = Mapping[str, Mapping[str, str]]  # the type of every used column, by table and column, in lower case


@dataclass(frozen=True, slots=True)
class Lineage:
    """What a statement uses of a database."""

    uses: Uses = field(default_factory=dict)
    # Columns that stand without their table's name, and the used tables that had such a column: when others have one,
    # the statement can mean something else, or nothing.
    unqualified: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: bool = True  # False: only running the statement tells whether it works

    def record(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "uses": {table: dict(columns) for table, columns in self.uses.items()},
            "unqualified": {name: list(owners) for name, owners in self.unqualified.items()},
            "known": self.known,
        }


class Columns:
    """The columns of a schema by table, for looking up what a statement names; names count without case."""

    def __init__(self, types: Uses) -> None:
        self.types = types
        self._by_own_name: dict[str, list[str]] = {}
        for name in self.types:
            self._by_own_name.setdefault(name.rpartition(".")[2], []).append(name)

    @classmethod
    def of(cls, schema: Schema) -> Self:
        """The columns of a schema."""
        return cls(
            {
                table.name.lower(): {column.name.lower(): column.type.lower() for column in table.columns}
                for table in schema.tables
            }
        )

    def table(self, source: exp.Table) -> str:
        """The schema's name of a table that a statement names; as it is written where the schema has none."""
        own, space = source.name.lower(), source.db.lower()
        full = f"{space}.{own}" if space else own
        if full in self.types:
            return full
        alike = self._by_own_name.get(own, [])
        return alike[0] if len(alike) == 1 else full

    def owners(self, column: str, tables: Iterable[str]) -> tuple[str, ...]:
        """Those of some tables that have a column."""
        return tuple(sorted({table for table in tables if column in self.types.get(table, {})}))


def lineage(sql: str, columns: Columns, dialect: str, *, as_learned: bool = True) -> Lineage:
    """What a statement uses of a database with these columns.

    Where they are not those of the database as the statement was learned, what is not among them may have been there.
    """
    reader = _Reader(columns)
    try:
        tree = parse_bounded(sql.strip().rstrip(";"), SQLGLOT_DIALECTS.get(dialect, dialect))
        if not isinstance(tree, exp.Query):
            return Lineage(known=False)
        for scope in bounded_scopes(tree):
            reader.read(scope)
    except UNREADABLE:
        return Lineage(known=False)
    uses = {table: dict(sorted(used.items())) for table, used in sorted(reader.uses.items())}
    names = {name: columns.owners(name, uses) for name in sorted(reader.names)}
    return Lineage(uses, names, as_learned or not reader.missing)


class _Reader:
    """Collects what the scopes of a statement use."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.uses: dict[str, dict[str, str]] = {}
        self.names: set[str] = set()  # without a table
        self.missing = False  # a table or column is not in the schema

    def read(self, scope: Scope) -> None:
        """Note the tables of a scope and the columns that it takes from them."""
        types = self._columns.types
        named = {
            alias.lower(): self._columns.table(source)
            for alias, source in scope.sources.items()
            if isinstance(source, exp.Table)
        }
        tables = {alias: table for alias, table in named.items() if table in types}
        self.missing |= len(tables) < len(named)
        for known in tables.values():
            self.uses.setdefault(known, {})
        for column in scope.columns:
            name, table = column.name.lower(), tables.get(column.table.lower())
            if not column.table:
                self.names.add(name)
                owners = self._columns.owners(name, tables.values())
                table = owners[0] if len(owners) == 1 else None
                self.missing |= not owners
            if table is not None and name in types[table]:
                self.uses[table][name] = types[table][name]
            elif table is not None:
                self.missing = True


def read_lineage(record: Any) -> Lineage:
    """A lineage from its record; a ValueError if it is none."""
    uses, unqualified = record["uses"], record["unqualified"]
    texts = [*uses, *unqualified, *(name for used in uses.values() for pair in used.items() for name in pair)]
    texts += [owner for owners in unqualified.values() for owner in owners]
    if not all(isinstance(text, str) for text in texts) or not isinstance(record["known"], bool):
        raise ValueError("not a lineage")
    return Lineage(uses, {name: tuple(owners) for name, owners in unqualified.items()}, record["known"])
