"""The tables that a SELECT can see, and which columns each of them has."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope, walk_in_scope

from merit.grounding.graph import SchemaGraph

_ROW_IDS = {"rowid", "oid", "_rowid_"}  # SQLite's names of a row's own number


@dataclass(frozen=True, slots=True)
class Source:
    """Something in FROM: a table of the schema, or a query of its own."""

    name: str  # as columns are qualified with it
    table: str | None  # its lower-case name in the schema, where it is one
    columns: dict[str, str] | None  # by lower-case name; None where they are not known

    def has(self, column: str) -> bool:
        """Whether it has a column of this lower-case name, as far as is known."""
        return self.columns is None or column in self.columns or (self.table is not None and column in _ROW_IDS)


class View:
    """One SELECT, its sources in the order of FROM, and the SELECT around it."""

    def __init__(self, scope: Scope, graph: SchemaGraph) -> None:
        self.select = cast(exp.Select, scope.expression)
        self.sources: dict[str, Source] = {}
        for name, (node, source) in scope.selected_sources.items():
            self.sources[name.lower()] = _source(name, node, source, graph)
        around = _around(scope)
        self.outer = View(around, graph) if around is not None else None
        self.aliases = {select.alias.lower(): select.unalias() for select in self.select.selects if select.alias}

    def columns(self) -> Iterator[exp.Column]:
        """Its own columns, not those of the queries within."""
        for node in walk_in_scope(self.select):
            if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                yield node

    def holders(self, column: str) -> list[Source]:
        """The sources that certainly have a column of this lower-case name."""
        return [source for source in self.sources.values() if source.columns is not None and source.has(column)]

    def source(self, qualifier: str) -> Source | None:
        """The source that a qualifier names, here or around."""
        found = self.sources.get(qualifier.lower())
        return found or (self.outer.source(qualifier) if self.outer else None)

    def is_open(self) -> bool:
        """Whether a source is among them whose columns are not known."""
        return any(source.columns is None for source in self.sources.values())


def _around(scope: Scope) -> Scope | None:
    """The nearest SELECT that a query stands in and may refer to: not that of a table in FROM."""
    if scope.is_derived_table or scope.is_cte:
        return None
    parent = scope.parent
    while parent is not None and not isinstance(parent.expression, exp.Select):
        parent = parent.parent
    return parent


def _source(name: str, node: object, source: object, graph: SchemaGraph) -> Source:
    if isinstance(source, Scope):
        selects = cast(exp.Query, source.expression).selects
        names = [select.alias_or_name for select in selects]
        known = bool(names) and all(names) and not any(select.is_star for select in selects)
        return Source(name, None, {column.lower(): column for column in names} if known else None)
    table = node.name.lower() if isinstance(node, exp.Table) else ""
    return Source(name, table, graph.columns[table]) if table in graph.columns else Source(name, None, None)


def views(tree: exp.Query, graph: SchemaGraph) -> list[View]:
    """Every SELECT of a query, the inner ones first."""
    return [View(scope, graph) for scope in traverse_scope(tree) if isinstance(scope.expression, exp.Select)]
