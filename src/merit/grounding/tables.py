"""Tables that the schema does not have."""

from collections.abc import Callable

from sqlglot import exp

from merit.grounding.graph import SchemaGraph
from merit.grounding.names import nearest, plain, singular
from merit.grounding.nodes import named
from merit.types.grounding import GroundingRule

Note = Callable[[GroundingRule, str], bool]


class TableMender:
    """Goes through the tables of a query and sets their names right."""

    def __init__(self, tree: exp.Query, graph: SchemaGraph, rules: frozenset[GroundingRule], note: Note) -> None:
        self._tree = tree
        self._graph = graph
        self._rules = rules
        self._note = note

    def mend(self) -> bool:
        """Mend what can be mended; False where a table is left that the schema does not have."""
        self._without_database()
        common = {cte.alias.lower() for cte in self._tree.find_all(exp.CTE)}
        unknown = [
            table
            for table in self._tree.find_all(exp.Table)
            if isinstance(table.this, exp.Identifier) and table.name.lower() not in common
            if table.name.lower() not in self._graph.tables
        ]
        return all(self._by_name(table) or self._by_key(table) or self._left_out(table) for table in unknown)

    def _without_database(self) -> None:
        """A table with the name of its own database before it."""
        for table in self._tree.find_all(exp.Table):
            if table.db and table.db.lower() == self._graph.db_id.lower() and GroundingRule.QUALIFIER in self._rules:
                self._note(GroundingRule.QUALIFIER, f"{table.db}.{table.name}: this is the database's own name")
                table.set("db", None)

    def _by_name(self, table: exp.Table) -> bool:
        if GroundingRule.TABLE_NAME not in self._rules:
            return False
        name = table.name
        near = nearest(name, list(self._graph.tables.values())) or self._containing(table)
        if near is None:
            return False
        self._rename(table, near)
        return self._note(GroundingRule.TABLE_NAME, f"{name}: there is no such table; {near} is")

    def _containing(self, table: exp.Table) -> str | None:
        """The one table whose name begins or ends with this one's, or the other way round, and has its columns."""
        wanted = singular(plain(table.name))
        needed = {column.name.lower() for column in self._columns_of(table)}
        found = []
        for lower, name in self._graph.tables.items():
            form = singular(plain(name))
            short, long = sorted((form, wanted), key=len)
            alike = len(short) >= 3 and (long.startswith(short) or long.endswith(short))
            if alike and needed <= self._graph.columns[lower].keys():
                found.append(name)
        return found[0] if len(found) == 1 and needed else None

    def _by_key(self, table: exp.Table) -> bool:
        """By the foreign key that it is joined to."""
        if GroundingRule.TABLE_KEY not in self._rules:
            return False
        join = table.find_ancestor(exp.Join, exp.Select)
        select = table.find_ancestor(exp.Select)
        if select is None:
            return False
        conditions = [join.args.get("on")] if isinstance(join, exp.Join) else []
        conditions += [other.args.get("on") for other in select.args.get("joins") or [] if other is not join]
        for condition in conditions:
            for own, other in _pairs(condition, table.alias_or_name):
                home = self._table_called(other.table, select)
                link = self._graph.target(home, other.name.lower()) if home else None
                if link is None:
                    continue
                name, near = table.name, self._graph.tables[link.to_table]
                self._rename(table, near)
                if own.name.lower() not in self._graph.columns[link.to_table]:
                    own.set("this", named(link.to_column))
                why = f"{name}: there is no such table; {other.sql()} leads to {near}"
                return self._note(GroundingRule.TABLE_KEY, why)
        return False

    def _left_out(self, table: exp.Table) -> bool:
        """A join that only repeats what the query has already."""
        join = table.find_ancestor(exp.Join, exp.Select)
        select = table.find_ancestor(exp.Select)
        if GroundingRule.SUPERFLUOUS_JOIN not in self._rules or not isinstance(join, exp.Join) or select is None:
            return False
        if join.side or join.args.get("using") or join.this is not table:
            return False
        same = {own.name.lower(): other for own, other in _pairs(join.args.get("on"), table.alias_or_name)}
        inside = {id(column) for column in join.find_all(exp.Column)}
        moves: list[tuple[exp.Column, exp.Column]] = []
        for column in self._columns_of(table):
            if id(column) in inside:
                continue
            new = same.get(column.name.lower()) or self._elsewhere(column, select, table)
            if new is None:
                return False
            moves.append((column, new))
        for column, new in moves:
            column.replace(new.copy())
        join.pop()
        return self._note(
            GroundingRule.SUPERFLUOUS_JOIN, f"{table.name}: there is no such table, and the query does not need it"
        )

    def _elsewhere(self, column: exp.Column, select: exp.Select, gone: exp.Table) -> exp.Column | None:
        """The same column of the only other table in the query that has it."""
        tables = [source for source in _tables_of(select) if source is not gone]
        found = [t for t in tables if column.name.lower() in self._graph.columns.get(t.name.lower(), {})]
        return exp.column(column.name, found[0].alias_or_name) if len(found) == 1 else None

    def _columns_of(self, table: exp.Table) -> list[exp.Column]:
        name = table.alias_or_name.lower()
        return [column for column in self._tree.find_all(exp.Column) if column.table.lower() == name]

    def _table_called(self, qualifier: str, select: exp.Select) -> str | None:
        for table in _tables_of(select):
            if table.alias_or_name.lower() == qualifier.lower() and table.name.lower() in self._graph.tables:
                return table.name.lower()
        return None

    def _rename(self, table: exp.Table, new: str) -> None:
        old = table.name.lower()
        for column in [] if table.alias else list(self._tree.find_all(exp.Column)):
            if column.table.lower() == old:
                column.set("table", named(new))
        table.set("this", named(new))


def _tables_of(select: exp.Select) -> list[exp.Table]:
    parts = [select.args.get("from_"), *(select.args.get("joins") or [])]
    return [part.this for part in parts if part is not None and isinstance(part.this, exp.Table)]


def _pairs(condition: object, name: str) -> list[tuple[exp.Column, exp.Column]]:
    """The equations of a join's condition between a table and others: its own column first."""
    found = []
    for node in condition.find_all(exp.EQ) if isinstance(condition, exp.Expr) else []:
        for own, other in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(own, exp.Column) and isinstance(other, exp.Column) and own.table.lower() == name.lower():
                found.append((own, other))
    return found
