"""Literals that no row has: the stored text that is meant instead."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import walk_in_scope

from merit.grounding.graph import SchemaGraph, graph_of
from merit.grounding.nodes import is_text, seen_outside
from merit.grounding.parsing import parse_query
from merit.grounding.scopes import Source, View, views
from merit.sql.parser import UNREADABLE
from merit.types import SQLGLOT_DIALECTS, Schema
from merit.types.grounding import Grounded, GroundingChange, GroundingRule
from merit.values import ValueIndex

_OPERATORS: dict[type[exp.Expression], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.In: "IN",
    exp.Like: "LIKE",
    exp.ILike: "ILIKE",
}
_WILDCARDS = frozenset("%_\\")
_LIKE_IGNORES_CASE = frozenset({"sqlite", "mysql", "mariadb"})


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A literal that a query compares with a column of a table."""

    table: str
    column: str
    operator: type[exp.Expression]
    node: exp.Expression  # the literal, or a name in double quotes that SQLite reads as one

    @property
    def text(self) -> str:
        return self.node.name


def ground_values(sql: str, schema: Schema, dialect: str, values: ValueIndex) -> Grounded | None:
    """The query with stored texts for literals that no row has; None where there is nothing to change.

    For a query that ran and gave no rows. The result is a candidate beside the query, not a replacement: that no rows
    are there may be the right answer.
    """
    tree = parse_query(sql, dialect)
    if tree is None:
        return None
    try:
        changes = [
            change
            for comparison in list(_comparisons(tree, graph_of(schema), dialect))
            if (change := _mend(comparison, values, dialect)) is not None
        ]
        return Grounded(tree.sql(dialect=SQLGLOT_DIALECTS[dialect]), tuple(changes)) if changes else None
    except UNREADABLE:
        return None


def _mend(comparison: _Comparison, values: ValueIndex, dialect: str) -> GroundingChange | None:
    """Put the stored text where the literal is."""
    literal = comparison.text
    stored = values.nearest(comparison.table, comparison.column, literal)
    if stored is None:
        return None
    if comparison.operator in (exp.Like, exp.ILike):
        ignores_case = comparison.operator is exp.ILike or dialect in _LIKE_IGNORES_CASE
        if _WILDCARDS & set(stored) or (ignores_case and literal.lower() == stored.lower()):
            return None
    comparison.node.replace(exp.Literal.string(stored))
    name, operator = f"{comparison.table}.{comparison.column}", _OPERATORS[comparison.operator]
    return GroundingChange(
        GroundingRule.VALUE, f"{name} {operator} {_quoted(literal)}: no row has it; {_quoted(stored)} is stored"
    )


def _comparisons(tree: exp.Query, graph: SchemaGraph, dialect: str) -> Iterator[_Comparison]:
    """The literals that are compared with a column of the schema, in every SELECT of a query."""
    for view in views(tree, graph):
        for node in walk_in_scope(view.select):
            if not isinstance(node, exp.Expression) or type(node) not in _OPERATORS:
                continue
            sides = [(node.this, other) for other in _compared(node)]
            if type(node) in (exp.EQ, exp.NEQ):
                sides.append((node.expression, node.this))
            for column, literal in sides:
                place = _place(column, view, graph) if _is_literal(literal, view, dialect) else None
                is_pattern = type(node) in (exp.Like, exp.ILike) and _WILDCARDS & set(literal.name)
                if place is not None and not is_pattern:
                    yield _Comparison(*place, type(node), literal)


def _compared(node: exp.Expression) -> list[exp.Expression]:
    """What stands on the right of a comparison."""
    return list(node.expressions) if isinstance(node, exp.In) else [node.expression]


def _is_literal(node: exp.Expression, view: View, dialect: str) -> bool:
    if isinstance(node, exp.Column):
        return dialect == "sqlite" and is_text(node) and not seen_outside(view, node.name.lower())
    return isinstance(node, exp.Literal) and node.is_string


def _place(node: exp.Expression, view: View, graph: SchemaGraph) -> tuple[str, str] | None:
    """The table and the column of the schema that a column means, as the schema writes them."""
    if not isinstance(node, exp.Column):
        return None
    name = node.name.lower()
    source = view.source(node.table) if node.table else _only_holder(view, name)
    if source is None or source.table is None or source.columns is None or name not in source.columns:
        return None
    return graph.tables[source.table], source.columns[name]


def _only_holder(view: View, name: str) -> Source | None:
    """The one source that an unqualified column can be of, here or else around."""
    holders = view.holders(name)
    if holders or view.is_open():
        return holders[0] if len(holders) == 1 and not view.is_open() else None
    return _only_holder(view.outer, name) if view.outer is not None else None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
