"""Names that the schema does not have where they stand: tables, qualifiers, columns, joins."""

from collections.abc import Iterable

from sqlglot import exp

from merit.grounding.change import Change, Rule
from merit.grounding.graph import Link, SchemaGraph
from merit.grounding.names import nearest
from merit.grounding.nodes import (
    called,
    is_alias_there,
    is_merged,
    is_text,
    must_quote,
    other_side,
    point,
    qualify,
    seen_outside,
)
from merit.grounding.scopes import Source, View, views

_MOST_ROUNDS = 12  # a round adds at most one join; no query needs as many


class Mender:
    """Goes through a parsed query and sets names right, one round after the other."""

    def __init__(self, tree: exp.Query, graph: SchemaGraph, rules: frozenset[Rule], refused: str) -> None:
        self._tree = tree
        self._graph = graph
        self._rules = rules
        self._refused = refused  # the lower-case name that the database did not know, as it wrote it
        self._changes: list[Change] = []

    def mend(self) -> list[Change]:
        """The changes that were made in the tree; none at all where something is left that cannot be mended."""
        self._mend_tables()
        for _ in range(_MOST_ROUNDS):
            before = len(self._changes)
            settled = [self._mend_view(view) for view in views(self._tree, self._graph)]
            if all(settled):
                return self._changes
            if len(self._changes) == before:
                return []
        return []

    def _note(self, rule: Rule, why: str) -> bool:
        self._changes.append(Change(rule, why))
        return True

    # Tables

    def _mend_tables(self) -> None:
        known = {cte.alias.lower() for cte in self._tree.find_all(exp.CTE)}
        for table in self._tree.find_all(exp.Table):
            name = table.name
            if not name or name.lower() in known or name.lower() in self._graph.tables:
                continue
            near = nearest(name, list(self._graph.tables.values()))
            if near is not None and Rule.TABLE_NAME in self._rules:
                table.set("this", exp.to_identifier(near, quoted=must_quote(near)))
                if not table.alias:
                    self._requalify(name, near)
                self._note(Rule.TABLE_NAME, f"{name}: there is no such table; {near} is")

    def _requalify(self, old: str, new: str) -> None:
        for column in self._tree.find_all(exp.Column):
            if column.table.lower() == old.lower():
                column.set("table", exp.to_identifier(new, quoted=must_quote(new)))

    # Columns

    def _mend_view(self, view: View) -> bool:
        """Mend what is wrong in one SELECT; True where nothing was."""
        settled = True
        for column in list(view.columns()):
            if self._is_found(column, view):
                continue
            settled = False
            if self._mend_column(column, view):
                return False  # the view may be another one now
        return settled

    def _is_found(self, column: exp.Column, view: View) -> bool:
        name, qualifier = column.name.lower(), column.table
        if qualifier:
            source = view.source(qualifier)
            return source is not None and source.has(name)
        here = view.holders(name)
        if len(here) > 1:
            return is_merged(view.select, name) or is_alias_there(column, view)
        if here or view.is_open() or name in view.aliases:
            return True
        if name == self._refused or any(self._key(source, name) for source in view.sources.values()):
            return False  # not even where a query around it has the name: a subquery means its own key
        return is_text(column) or (view.outer is not None and seen_outside(view.outer, name))

    def _mend_column(self, column: exp.Column, view: View) -> bool:
        if column.table and view.source(column.table) is None:
            return self._mend_qualifier(column, view)
        if not column.table and len(view.holders(column.name.lower())) > 1:
            return self._mend_ambiguous(column, view)
        return (
            self._move(column, view)
            or self._rename(column, view)
            or self._mend_join(column, view)
            or self._join(column, view)
        )

    def _mend_qualifier(self, column: exp.Column, view: View) -> bool:
        if Rule.QUALIFIER not in self._rules:
            return False
        wanted, name = column.table, column.name.lower()
        meant = nearest(wanted, sorted({name for s in view.sources.values() for name in (s.name, s.table) if name}))
        by_name = [s for s in view.sources.values() if meant in (s.name, s.table) and s.has(name)] if meant else []
        for found in (by_name, view.holders(name)):
            if len(found) == 1:
                qualify(column, found[0])
                return self._note(
                    Rule.QUALIFIER, f"{wanted}.{column.name}: there is no {wanted}; {called(found[0])} has it"
                )
        if wanted.lower() in self._graph.tables and name in self._graph.columns[wanted.lower()]:
            return self._join_table(column, view, [wanted.lower()])
        return False

    def _mend_ambiguous(self, column: exp.Column, view: View) -> bool:
        if Rule.AMBIGUOUS not in self._rules:
            return False
        first, *others = view.holders(column.name.lower())
        qualify(column, first)
        also = ", ".join(called(source) for source in others)
        return self._note(Rule.AMBIGUOUS, f"{column.name}: {called(first)} and {also} have it; the first is taken")

    def _move(self, column: exp.Column, view: View) -> bool:
        """To the one other source that has the column; not to the other side of its own join."""
        if Rule.QUALIFIER not in self._rules or not column.table:
            return False
        holders = view.holders(column.name.lower())
        beside = other_side(column)
        if beside is not None:
            holders = [source for source in holders if source.name.lower() != beside.table.lower()]
        if len(holders) != 1:
            return False
        wrong = view.source(column.table)
        why = f"{column.table}.{column.name}: {wrong and called(wrong)} has no {column.name}; {called(holders[0])} has"
        qualify(column, holders[0])
        return self._note(Rule.QUALIFIER, why)

    def _rename(self, column: exp.Column, view: View) -> bool:
        """To the one column whose name is nearly the same, of its own source before all others."""
        if Rule.COLUMN_NAME not in self._rules:
            return False
        own = view.source(column.table) if column.table else None
        beside = other_side(column)
        others = [s for s in view.sources.values() if beside is None or s.name.lower() != beside.table.lower()]
        for group in ([own] if own else [], others):
            found = [(source, near) for source in group if (near := self._near(column, source))]
            if len(found) == 1:
                source, near = found[0]
                why = f"{column.sql()}: there is no such column; {called(source)} has {near}"
                column.set("this", exp.to_identifier(near, quoted=must_quote(near)))
                if column.table or len(view.sources) > 1:
                    qualify(column, source)
                return self._note(Rule.COLUMN_NAME, why)
        return False

    def _near(self, column: exp.Column, source: Source) -> str | None:
        """The column of a source that a name must mean: its key to a column of that name, or nearly that name."""
        if source.columns is None or column.name.lower() in source.columns:
            return None
        return self._key(source, column.name.lower()) or nearest(column.name, list(source.columns.values()))

    def _key(self, source: Source, name: str) -> str | None:
        return self._graph.key_to(source.table, name) if source.table else None

    # Joins

    def _mend_join(self, column: exp.Column, view: View) -> bool:
        """A join on a column that one side lacks: along the foreign key between the two tables instead."""
        other = other_side(column)
        if Rule.JOIN_CONDITION not in self._rules or other is None or not column.table:
            return False
        here, there = view.source(column.table), view.source(other.table)
        if here is None or there is None or here.table is None or there.table is None:
            return False
        paths = self._graph.paths(here.table, there.table)
        if len(paths) != 1 or not paths[0]:
            return False
        why = f"{column.sql()}: {called(here)} has no {column.name}"
        *between, last = paths[0]
        start = self._chain(view, column, here, between) if between else here
        point(column, start.name, last.column)
        point(other, there.name, last.to_column)
        return self._note(Rule.JOIN_CONDITION, f"{why}; joined by {column.sql()} = {other.sql()}")

    def _chain(self, view: View, column: exp.Column, start: Source, links: Iterable[Link]) -> Source:
        """Joins along some keys, put before the join that a column is in."""
        join = column.find_ancestor(exp.Join)
        joins: list[exp.Join] = view.select.args["joins"]
        source = start
        for link in links:
            source, new = self._new_join(view, source, link)
            joins.insert(joins.index(join) if join in joins else len(joins), new)
        return source

    def _join(self, column: exp.Column, view: View) -> bool:
        name = column.name.lower()
        return self._join_table(column, view, self._graph.with_column.get(name, []))

    def _join_table(self, column: exp.Column, view: View, tables: list[str]) -> bool:
        """Add the one table nearest along foreign keys that has the column."""
        if Rule.MISSING_JOIN not in self._rules or other_side(column) is not None:
            return False
        starts = [source for source in view.sources.values() if source.table is not None]
        found = [
            (source, path)
            for source in starts
            for table in tables
            for path in self._graph.paths(str(source.table), table)
            if path
        ]
        shortest = min((len(path) for _, path in found), default=0)
        found = [(source, path) for source, path in found if len(path) == shortest]
        if len(found) > 1 and column.table:
            found = [(source, path) for source, path in found if source.name.lower() == column.table.lower()] or found
        if len(found) != 1:
            return False
        source, path = found[0]
        why = f"{column.sql()}: no table in the query has {column.name}"
        self._qualify_all(view)
        joins: list[exp.Join] = view.select.args.get("joins") or []
        for link in path:
            source, new = self._new_join(view, source, link)
            joins.append(new)
        view.select.set("joins", joins)
        qualify(column, source)
        return self._note(Rule.MISSING_JOIN, f"{why}; {called(source)} has, joined by {joins[-1].args['on'].sql()}")

    def _new_join(self, view: View, source: Source, link: Link) -> tuple[Source, exp.Join]:
        table = self._graph.tables[link.to_table]
        taken = {name.lower() for name in view.sources} | {
            t.alias_or_name.lower() for t in self._tree.find_all(exp.Table)
        }
        alias = (
            table
            if table.lower() not in taken
            else next(f"{table}_{i}" for i in range(2, 99) if f"{table}_{i}".lower() not in taken)
        )
        added = Source(alias, link.to_table, self._graph.columns[link.to_table])
        view.sources[alias.lower()] = added
        left, right = exp.column(link.column, source.name), exp.column(link.to_column, alias)
        for column in (left, right):
            point(column, column.table, column.name)
        node = exp.Table(this=exp.to_identifier(table, quoted=must_quote(table)))
        if alias != table:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
        return added, exp.Join(this=node, on=exp.EQ(this=left, expression=right))

    def _qualify_all(self, view: View) -> None:
        """Qualify what was unambiguous before another table is joined."""
        for column in view.columns():
            holders = view.holders(column.name.lower())
            if not column.table and len(holders) == 1 and not is_alias_there(column, view):
                qualify(column, holders[0])
