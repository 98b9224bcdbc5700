"""Whether a query's columns are found where they stand."""

from sqlglot import exp

from merit.grounding.aggregates import has_aggregate, is_aggregate
from merit.grounding.dialects import EngineDialect
from merit.grounding.graph import SchemaGraph
from merit.grounding.nodes import is_alias_there, is_merged, is_text, seen_outside
from merit.grounding.scopes import Source, View
from merit.types.grounding import GroundingRule

# Names held against each other. A query of ten tables and fifty columns needs a few thousand; this many take a second.
_MOST_LOOKUPS = 20_000


class TooManyNames(Exception):
    """A query that would take too long to go through."""


class NameCheck:
    """Says of a column whether the engine would find it."""

    def __init__(
        self, graph: SchemaGraph, rules: frozenset[GroundingRule], dialect: EngineDialect, refused: str
    ) -> None:
        self._graph = graph
        self._rules = rules
        self._dialect = dialect
        self._refused = refused  # the lower-case name that the database did not know, as it wrote it
        self._lookups = 0

    def look(self, names: int) -> None:
        """Count names that are about to be gone through; raises where they are too many."""
        self._lookups += names
        if self._lookups > _MOST_LOOKUPS:
            raise TooManyNames

    def is_found(self, column: exp.Column, view: View) -> bool:
        """Whether a column means exactly one thing."""
        name, qualifier = column.name.lower(), column.table
        self.look(len(view.sources))
        if qualifier:
            source = view.source(qualifier)
            if source is None or not source.has(name):
                return False
            is_outer = qualifier.lower() not in view.sources and len(view.holders(name)) == 1
            return not (is_outer and self._is_aggregated_outside(column, view))
        here = view.holders(name)
        if len(here) > 1:
            return is_merged(view.select, name) or is_alias_there(column, view)
        if here or view.is_open():
            return True
        if name in view.aliases:
            return GroundingRule.ALIAS not in self._rules or self._knows_alias(column, view)
        if name == self._refused or any(self.key(source, name) for source in view.sources.values()):
            return False  # not even where a query around it has the name: a subquery means its own key
        if self._is_aggregated_outside(column, view):
            return False
        if view.outer is not None and len(view.outer.holders(name)) > 1:
            return False
        return is_text(column) or (view.outer is not None and seen_outside(view.outer, name))

    def _knows_alias(self, column: exp.Column, view: View) -> bool:
        """Whether the engine knows the name of a result where it stands."""
        name, engine = column.name.lower(), self._dialect.engine
        clause = column.find_ancestor(exp.Where, exp.Having, exp.Group, exp.Order, exp.Select)
        if isinstance(clause, exp.Where):
            return engine in ("sqlite", "duckdb") and not has_aggregate(view.aliases[name])
        if isinstance(column.parent, exp.Ordered | exp.Group):
            return True  # alone: every engine knows it there
        if engine == "postgresql" and isinstance(clause, exp.Having | exp.Order | exp.Group):
            return False
        return name != self._refused

    def _is_aggregated_outside(self, column: exp.Column, view: View) -> bool:
        """Whether an aggregate in a subquery of WHERE takes a column of the query around it: no engine allows it."""
        call = column.find_ancestor(exp.Anonymous, exp.Select)
        clause = view.select.find_ancestor(exp.Where, exp.Select)
        return (
            isinstance(call, exp.Anonymous)
            and is_aggregate(call)
            and isinstance(clause, exp.Where)
            and bool(view.sources)
        )

    def key(self, source: Source, name: str) -> str | None:
        """The key of a source to a column of this lower-case name."""
        return self._graph.key_to(source.table, name) if source.table else None
