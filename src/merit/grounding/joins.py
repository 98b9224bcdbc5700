"""Tables joined along keys, and joins taken away."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from merit.grounding.graph import KeyLink, SchemaGraph
from merit.grounding.nodes import is_alias_there, named, point, qualify
from merit.grounding.scopes import Source, View
from merit.types.grounding import GroundingRule

Path = list[KeyLink]


@dataclass(frozen=True, slots=True)
class JoinRoute:
    """How a table can be joined to one that a query has, and the rule that allows it."""

    start: Source
    path: Path
    rule: GroundingRule


class Joiner:
    """Finds ways between tables, and puts joins into a SELECT."""

    def __init__(self, tree: exp.Query, graph: SchemaGraph, rules: frozenset[GroundingRule]) -> None:
        self._tree = tree
        self._graph = graph
        self._rules = rules

    def between(self, here: str, there: str) -> tuple[list[Path], bool]:
        """All shortest paths between two tables, and whether their keys are declared."""
        declared = self._graph.paths(here, there)
        if declared or GroundingRule.NAMED_JOIN not in self._rules:
            return declared, True
        return self._graph.named_paths(here, there), False

    def ways(self, view: View, tables: list[str]) -> list[JoinRoute]:
        """The shortest ways to one of some tables; columns of one name count only where no key is declared."""
        starts = [source for source in view.sources.values() if source.table is not None]
        kinds = [(GroundingRule.MISSING_JOIN, self._graph.paths), (GroundingRule.NAMED_JOIN, self._graph.named_paths)]
        for rule, paths in kinds:
            found = [
                JoinRoute(start, path, rule)
                for start in starts
                for table in tables
                for path in paths(str(start.table), table)
                if path
            ]
            shortest = min((len(way.path) for way in found), default=0)
            if found:
                return [way for way in found if len(way.path) == shortest] if rule in self._rules else []
        return []

    def by_shared_column(self, view: View, table: str) -> list[JoinRoute]:
        """The ways to a table along the one column that it shares with another, where no key says how to join it."""
        if GroundingRule.NAMED_JOIN not in self._rules:
            return []
        starts = [source for source in view.sources.values() if source.table is not None]
        links = [(start, self._graph.shared(str(start.table), table)) for start in starts]
        return [JoinRoute(start, [link], GroundingRule.NAMED_JOIN) for start, link in links if link is not None]

    def append(self, view: View, way: JoinRoute) -> tuple[Source, exp.Expr]:
        """Join along a way after all other joins; the new source, and the last condition."""
        self._qualify_all(view)
        joins: list[exp.Join] = view.select.args.get("joins") or []
        source = way.start
        for link in way.path:
            source, new = self._new_join(view, source, link)
            joins.append(new)
        view.select.set("joins", joins)
        return source, joins[-1].args["on"]

    def insert(self, view: View, column: exp.Column, start: Source, links: Iterable[KeyLink]) -> Source | None:
        """Joins along some keys, put before the join that a column is in; None where it is in none of the SELECT's."""
        join = column.find_ancestor(exp.Join)
        joins: list[exp.Join] = view.select.args.get("joins") or []
        at = next((i for i, known in enumerate(joins) if known is join), None)
        if at is None:
            return None
        source = start
        for link in links:
            source, new = self._new_join(view, source, link)
            joins.insert(at, new)
            at += 1
        view.select.set("joins", joins)
        return source

    def _new_join(self, view: View, source: Source, link: KeyLink) -> tuple[Source, exp.Join]:
        table = self._graph.tables[link.to_table]
        taken = {name.lower() for name in view.sources} | {
            t.alias_or_name.lower() for t in self._tree.find_all(exp.Table)
        }
        alias = table
        for i in range(2, 99):
            if alias.lower() not in taken:
                break
            alias = f"{table}_{i}"
        added = Source(alias, link.to_table, self._graph.columns[link.to_table])
        view.sources[alias.lower()] = added
        left, right = exp.column(link.column, source.name), exp.column(link.to_column, alias)
        for column in (left, right):
            point(column, column.table, column.name)
        node = exp.Table(this=named(table))
        if alias != table:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
        return added, exp.Join(this=node, on=exp.EQ(this=left, expression=right))

    def _qualify_all(self, view: View) -> None:
        """Qualify what was unambiguous before another table is joined."""
        for column in view.columns():
            holders = view.holders(column.name.lower())
            if not column.table and len(holders) == 1 and not is_alias_there(column, view):
                qualify(column, holders[0])

    def drop(self, column: exp.Column, view: View) -> str | None:
        """Take away the join that a column stands in, where nothing else needs its table; the table's name."""
        join = column.find_ancestor(exp.Join, exp.Select)
        if not isinstance(join, exp.Join) or join.side or not isinstance(join.this, exp.Table):
            return None
        name = join.this.alias_or_name.lower()
        inside = {id(inner) for inner in join.find_all(exp.Column)}
        for other in view.select.find_all(exp.Column):
            used = other.table.lower() == name or (not other.table and self._is_of(other, name, view))
            if used and id(other) not in inside:
                return None
        if any(value.is_star for value in view.select.selects):
            return None
        join.pop()
        return name

    def _is_of(self, column: exp.Column, name: str, view: View) -> bool:
        holders = view.holders(column.name.lower())
        return [source.name.lower() for source in holders] == [name]


def in_reach(select: exp.Select) -> None:
    """Put inner joins into an order in which each condition names only tables before it."""
    joins: list[exp.Join] = list(select.args.get("joins") or [])
    if any(join.side or join.args.get("using") or join.method or join.args.get("on") is None for join in joins):
        return
    all_names = {join.this.alias_or_name.lower() for join in joins}
    waiting, done, ordered = list(joins), set[str](), list[exp.Join]()
    while waiting:
        for join in waiting:
            own = join.this.alias_or_name.lower()
            needed = {column.table.lower() for column in join.args["on"].find_all(exp.Column)} & all_names
            if needed <= done | {own}:
                ordered.append(join)
                done.add(own)
                waiting.remove(join)
                break
        else:
            return
    select.set("joins", ordered)
