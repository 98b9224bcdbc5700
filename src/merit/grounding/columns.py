"""Names that the schema does not have where they stand: qualifiers, columns, joins."""

from sqlglot import exp

from merit.grounding.dialects import EngineDialect
from merit.grounding.finding import NameCheck
from merit.grounding.graph import SchemaGraph
from merit.grounding.joins import Joiner, in_reach
from merit.grounding.names import nearest, plain
from merit.grounding.nodes import (
    called,
    named,
    other_side,
    point,
    qualify,
)
from merit.grounding.scopes import Source, View, views
from merit.grounding.tables import TableMender
from merit.types.grounding import GroundingChange, GroundingRule

_MOST_ROUNDS = 40  # a round mends one column of each SELECT; few queries need as many


class Mender:
    """Goes through a parsed query and sets names right, one round after the other."""

    def __init__(
        self, tree: exp.Query, graph: SchemaGraph, rules: frozenset[GroundingRule], dialect: EngineDialect, refused: str
    ) -> None:
        self._tree = tree
        self._graph = graph
        self._rules = rules
        self._dialect = dialect
        self._check = NameCheck(graph, rules, dialect, refused)
        self._joiner = Joiner(tree, graph, rules)
        self._changes: list[GroundingChange] = []
        self._moves: dict[tuple[int, str, str], str] = {}  # where a column of a SELECT went: the same goes there too

    def mend(self) -> list[GroundingChange] | None:
        """The changes that were made in the tree; None where something is left that cannot be mended."""
        if not TableMender(self._tree, self._graph, self._rules, self._note).mend():
            return None
        for _ in range(_MOST_ROUNDS):
            mended = [self._mend_view(view) for view in views(self._tree, self._graph)]
            if None in mended:
                return None
            if not any(mended):
                if self._changes and self._dialect.engine != "sqlite":
                    for select in self._tree.find_all(exp.Select):
                        in_reach(select)
                return self._changes
        return None

    def _note(self, rule: GroundingRule, why: str) -> bool:
        change = GroundingChange(rule, why)
        if change not in self._changes:
            self._changes.append(change)
        return True

    def _mend_view(self, view: View) -> bool | None:
        """Mend one thing in one SELECT: whether there was one; None where nothing of what is wrong can be mended."""
        wrong = False
        for column in list(view.columns()):
            if not self._check.is_found(column, view):
                wrong = True
                if self._mend_column(column, view):
                    return True  # the view may be another one now
        return None if wrong else False

    # Columns

    def _mend_column(self, column: exp.Column, view: View) -> bool:
        name = column.name.lower()
        if self._follow(column, view):
            return True
        if column.table and view.source(column.table) is None:
            return self._mend_qualifier(column, view)
        if not column.table and len(view.holders(name)) > 1:
            return self._mend_ambiguous(column, view)
        return (
            self._mend_alias(column, view)
            or self._move(column, view)
            or self._rename(column, view)
            or self._mend_join(column, view)
            or self._join(column, view)
            or self._drop_join(column, view)
        )

    def _follow(self, column: exp.Column, view: View) -> bool:
        """To where the same column of the same SELECT went before."""
        target = self._moves.get(_place(column, view)) if other_side(column) is None else None
        source = view.sources.get(target.lower()) if target else None
        if source is None or not source.has(column.name.lower()):
            return False
        qualify(column, source)
        return True

    def _put(self, column: exp.Column, view: View, source: Source) -> None:
        self._moves[_place(column, view)] = source.name
        qualify(column, source)

    def _mend_qualifier(self, column: exp.Column, view: View) -> bool:
        wanted, name = column.table, column.name.lower()
        needed = {c.name.lower() for c in view.columns() if c.table.lower() == wanted.lower()}
        if GroundingRule.QUALIFIER in self._rules:
            sources = list(view.sources.values())
            meant = nearest(wanted, sorted({name for s in sources for name in (s.name, s.table) if name}))
            by_name = [s for s in sources if meant in (s.name, s.table) and s.has(name)] if meant else []
            by_all = [s for s in sources if s.columns is not None and all(s.has(other) for other in needed)]
            if not by_name and self._join_named(column, view):
                return True
            for found in (by_name, view.holders(name), by_all):
                if len(found) == 1:
                    qualify(column, found[0])
                    why = f"{wanted}.{column.name}: there is no {wanted}; {called(found[0])} has it"
                    return self._note(GroundingRule.QUALIFIER, why)
        if self._join_named(column, view):
            return True
        tables = [t for t, columns in self._graph.columns.items() if needed <= columns.keys()]
        alike = [table for table in tables if _is_short_for(wanted.lower(), self._graph.tables[table])]
        return self._join_table(column, view, alike or tables)

    def _join_named(self, column: exp.Column, view: View) -> bool:
        """Join the table of the schema that a column is asked of by its own name."""
        table = column.table.lower()
        named_so = column.name.lower() in self._graph.columns.get(table, {})
        return named_so and self._join_table(column, view, [table])

    def _mend_ambiguous(self, column: exp.Column, view: View) -> bool:
        if GroundingRule.AMBIGUOUS not in self._rules:
            return False
        first, *others = view.holders(column.name.lower())
        qualify(column, first)
        also = ", ".join(called(source) for source in others)
        return self._note(
            GroundingRule.AMBIGUOUS, f"{column.name}: {called(first)} and {also} have it; the first is taken"
        )

    def _mend_alias(self, column: exp.Column, view: View) -> bool:
        """The name of a result where the engine knows none, or with a table before it: what it stands for."""
        value = view.aliases.get(column.name.lower())
        if GroundingRule.ALIAS not in self._rules or value is None or view.holders(column.name.lower()):
            return False
        if any(node is column for node in value.walk()) or column.name.lower() in _names_in(value):
            return False
        why = f"{column.sql()}: this is the name of a result; {self._dialect.write(value)} stands for it"
        column.replace(value.copy())
        return self._note(GroundingRule.ALIAS, why)

    def _move(self, column: exp.Column, view: View) -> bool:
        """To the one other source that has the column; not to the other side of its own join."""
        if GroundingRule.QUALIFIER not in self._rules or not column.table:
            return False
        holders = [s for s in view.holders(column.name.lower()) if s.name in self._reachable(column, view)]
        wrong = view.source(column.table)
        if len(holders) > 1 and wrong is not None and wrong.table is not None:
            holders = self._nearest_along_keys(wrong.table, holders)
        if len(holders) != 1:
            return False
        lacks = (
            "is outside of the aggregate's query"
            if wrong and wrong.has(column.name.lower())
            else f"has no {column.name}"
        )
        why = f"{column.table}.{column.name}: {wrong and called(wrong)} {lacks}; {called(holders[0])} has"
        self._put(column, view, holders[0])
        return self._note(GroundingRule.QUALIFIER, why)

    def _reachable(self, column: exp.Column, view: View) -> set[str]:
        """The sources that a column may move to.

        In a join's condition that is not its other side, and with outer joins none that is joined later.
        """
        names = [source.name for source in view.sources.values()]
        beside = other_side(column)
        join = column.find_ancestor(exp.Join, exp.Select, exp.Where)
        if isinstance(join, exp.Join) and any(other.side for other in view.select.args.get("joins") or []):
            own = join.this.alias_or_name.lower()
            at = next((i for i, name in enumerate(names) if name.lower() == own), len(names))
            names = names[: at + 1]
        return {name for name in names if beside is None or name.lower() != beside.table.lower()}

    def _nearest_along_keys(self, table: str, holders: list[Source]) -> list[Source]:
        """Those of some sources that are the fewest keys away from a table."""
        lengths = [
            min((len(path) for path in self._graph.paths(table, source.table)), default=99) if source.table else 99
            for source in holders
        ]
        return [source for source, length in zip(holders, lengths, strict=True) if length == min(lengths) < 99]

    def _rename(self, column: exp.Column, view: View) -> bool:
        """To the one column whose name is nearly the same, of its own source before all others."""
        if GroundingRule.COLUMN_NAME not in self._rules:
            return False
        own = view.source(column.table) if column.table else None
        others = [s for s in view.sources.values() if s.name in self._reachable(column, view)]
        for group in ([own] if own else [], others):
            found = [(source, near) for source in group if (near := self._near(column, source))]
            if len(found) == 1:
                source, near = found[0]
                why = f"{column.sql()}: there is no such column; {called(source)} has {near}"
                column.set("this", named(near))
                if column.table or len(view.sources) > 1:
                    qualify(column, source)
                return self._note(GroundingRule.COLUMN_NAME, why)
        return False

    def _near(self, column: exp.Column, source: Source) -> str | None:
        """The column of a source that a name must mean: its key to a column of that name, or nearly that name."""
        if source.columns is None or column.name.lower() in source.columns:
            return None
        self._check.look(len(source.columns))
        key = self._check.key(source, column.name.lower())
        near = nearest(column.name, list(source.columns.values()))
        if key is not None or (near is not None and plain(near) == plain(column.name)):
            return key or near
        return (self._graph.with_own_name(source.table, column.name) if source.table else None) or near

    # Joins

    def _mend_join(self, column: exp.Column, view: View) -> bool:
        """A join on a column that one side lacks: along the only path between the two tables instead."""
        other = other_side(column)
        if other is None or not column.table:
            return False
        here, there = view.source(column.table), view.source(other.table)
        if here is None or there is None or here.table is None or there.table is None:
            return False
        paths, declared = self._joiner.between(here.table, there.table)
        rule = GroundingRule.JOIN_CONDITION if declared else GroundingRule.NAMED_JOIN
        if rule not in self._rules or len(paths) != 1 or not paths[0]:
            return False
        why = f"{column.sql()}: {called(here)} has no {column.name}"
        *between, last = paths[0]
        start = self._joiner.insert(view, column, here, between) if between else here
        if start is None:
            return False
        point(column, start.name, last.column)
        point(other, there.name, last.to_column)
        return self._note(rule, f"{why}; joined by {column.sql()} = {other.sql()}")

    def _join(self, column: exp.Column, view: View) -> bool:
        name = column.name.lower()
        tables = self._graph.with_column.get(name, [])
        if tables:
            return self._join_table(column, view, tables)
        named_so = self._graph.tables_with_own_name(name)
        if len(named_so) != 1 or GroundingRule.COLUMN_NAME not in self._rules:
            return False
        meant = self._graph.with_own_name(named_so[0], name)
        if not self._join_table(column, view, named_so):
            return False
        column.set("this", named(str(meant)))
        return True

    def _join_table(self, column: exp.Column, view: View, tables: list[str]) -> bool:
        """Add the one table nearest along keys that has the column."""
        if other_side(column) is not None:
            return False
        ways = self._joiner.ways(view, tables)
        if tables == [column.table.lower()] and min((len(way.path) for way in ways), default=9) > 1:
            ways = self._joiner.by_shared_column(view, tables[0]) or ways
        if len(ways) > 1 and column.table:
            ways = [way for way in ways if way.start.name.lower() == column.table.lower()] or ways
        if len(ways) != 1:
            return False
        why = f"{column.sql()}: no table in the query has {column.name}"
        wanted = column.table.lower()
        is_unknown = bool(wanted) and view.source(wanted) is None
        source, condition = self._joiner.append(view, ways[0])
        for other in [c for c in view.columns() if c.table.lower() == wanted] if is_unknown else []:
            if source.has(other.name.lower()):
                qualify(other, source)
        self._put(column, view, source)
        return self._note(ways[0].rule, f"{why}; {called(source)} has, joined by {condition.sql()}")

    def _drop_join(self, column: exp.Column, view: View) -> bool:
        if GroundingRule.SUPERFLUOUS_JOIN not in self._rules:
            return False
        why = f"{column.sql()}: there is no such column to join by"
        name = self._joiner.drop(column, view)
        return name is not None and self._note(
            GroundingRule.SUPERFLUOUS_JOIN, f"{why}, and the query needs nothing else of {name}"
        )


def _place(column: exp.Column, view: View) -> tuple[int, str, str]:
    return id(view.select), column.table.lower(), column.name.lower()


def _names_in(value: exp.Expr) -> set[str]:
    return {inner.name.lower() for inner in value.find_all(exp.Column)}


def _is_short_for(alias: str, table: str) -> bool:
    """Whether an alias is the beginning of a table's name, or the first letters of its words."""
    parts = [part for part in table.lower().split("_") if part]
    capitals = "".join(letter for letter in table if letter.isupper()).lower()
    return table.lower().startswith(alias) or alias in ("".join(part[0] for part in parts), capitals)
