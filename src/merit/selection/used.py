"""Which tables and columns of a schema a query uses."""

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from merit.selection.index import SchemaIndex
from merit.sql.parser import UNREADABLE, ParsingTooLong, bounded_scopes, parse_bounded
from merit.types import SQLGLOT_DIALECTS

_LONGEST_SQL = 20_000  # characters; longer queries are not looked at
_DIALECTS = ("mysql", "postgres", "sqlite", "duckdb", "oracle")  # tried in this order after the index's own


def names_used(sql: str, index: SchemaIndex, prefer: Mapping[str, str] | None = None) -> dict[int, set[int]]:
    """The columns that a query uses of each table, by number; nothing where it cannot be parsed, or only at length.

    A table without its database's name is looked up in `prefer`, else it is the only one of that name. A column that
    several tables of a query may have counts for all of them.
    """
    if len(sql) > _LONGEST_SQL:
        return {}
    resolver = _Resolver(index, prefer or {})
    for dialect in dict.fromkeys((index.dialect, *_DIALECTS)):
        try:
            tree = parse_bounded(sql.strip().rstrip(";"), SQLGLOT_DIALECTS.get(dialect, dialect))
            for scope in bounded_scopes(tree):
                resolver.read(scope)
        except ParsingTooLong:
            return {}
        except UNREADABLE:
            resolver.used.clear()
            continue
        return resolver.used
    return {}


class _Resolver:
    """Collects what the scopes of a query use."""

    def __init__(self, index: SchemaIndex, prefer: Mapping[str, str]) -> None:
        self._index = index
        self._prefer = {name.lower(): full.lower() for name, full in prefer.items()}
        self._by_own_name: dict[str, list[int]] = {}
        for full, number in index.number_of.items():
            self._by_own_name.setdefault(full.rpartition(".")[2], []).append(number)
        self.used: dict[int, set[int]] = {}

    def read(self, scope: Scope) -> None:
        """Note the tables of a scope and the columns that it takes from them."""
        sources: dict[str, int] = {}
        for alias, source in scope.sources.items():
            if isinstance(source, exp.Table) and (table := self._table(source)) is not None:
                sources[alias.lower()] = table
                self.used.setdefault(table, set())
        for column in scope.columns:
            named = sources.get(column.table.lower())
            owners = ([] if named is None else [named]) if column.table else list(sources.values())
            for table in owners:
                number = self._index.column(table, column.name)
                if number is not None:
                    self.used[table].add(number)
        if isinstance(scope.expression, exp.Select):
            self._read_stars(scope.expression, sources)

    def _read_stars(self, select: exp.Select, sources: Mapping[str, int]) -> None:
        for item in select.expressions:
            if not item.is_star or isinstance(item, exp.AggFunc):
                continue
            wanted = item.table.lower() if isinstance(item, exp.Column) else ""
            for alias, table in sources.items():
                if not wanted or alias == wanted:
                    self.used[table].update(self._index.columns_of[table])

    def _table(self, source: exp.Table) -> int | None:
        own, space = source.name.lower(), source.db.lower()
        if space and (number := self._index.number_of.get(f"{space}.{own}")) is not None:
            return number
        if own in self._prefer:
            return self._index.number_of.get(self._prefer[own])
        alike = self._by_own_name.get(own, [])
        return alike[0] if len(alike) == 1 else self._index.number_of.get(own)
