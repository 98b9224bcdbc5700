"""Names and texts in the wrong quotes, and names in the wrong case where the engine minds it."""

from sqlglot import exp

from merit.grounding.dialects import EngineDialect
from merit.grounding.graph import SchemaGraph
from merit.grounding.names import nearest
from merit.grounding.nodes import is_ours, seen_outside
from merit.grounding.scopes import View, views
from merit.types.grounding import GroundingChange, GroundingRule

_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.In, exp.Between)


def mend_texts(tree: exp.Query, dialect: EngineDialect, graph: SchemaGraph, refused: str) -> list[GroundingChange]:
    """Names in quotes that no column has, compared with something, become texts."""
    changes: list[GroundingChange] = []
    for view in views(tree, graph):
        for column in list(view.columns()):
            if column.name.lower() not in graph.with_column and _is_text(column, view, dialect, refused):
                column.replace(exp.Literal.string(column.name))
                why = f"{column.name}: no table has such a column; it is a text"
                changes.append(GroundingChange(GroundingRule.QUOTES, why))
    return changes


def _is_text(column: exp.Column, view: View, dialect: EngineDialect, refused: str) -> bool:
    name = column.name.lower()
    if column.table or not column.this.args.get("quoted") or not isinstance(column.parent, _COMPARED):
        return False
    if dialect.text_in_double_quotes and name != refused:
        return False  # the engine reads it as a text already
    if name in view.aliases or seen_outside(view, name):
        return False
    known = [other for source in view.sources.values() for other in (source.columns or {}).values()]
    return nearest(column.name, known) is None


def mend_case(
    tree: exp.Query, dialect: EngineDialect, graph: SchemaGraph, *, ours_alone: bool
) -> list[GroundingChange]:
    """PostgreSQL: names that mean another one, since only quotes keep capital letters.

    `ours_alone` sets only the names right that grounding has put in.
    """
    changes: list[GroundingChange] = []
    if not dialect.folds:
        return changes
    common = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        real = graph.tables.get(table.name.lower())
        if real is not None and table.name.lower() not in common:
            changes += _set_right(table.this, real, ours_alone=ours_alone)
    for view in views(tree, graph):
        for column in view.columns():
            source = view.source(column.table) if column.table else next(iter(view.holders(column.name.lower())), None)
            if source is not None and source.table is not None and source.columns is not None:
                real = source.columns.get(column.name.lower())
                if real is not None and not (column.name.lower() in view.aliases and not column.table):
                    changes += _set_right(column.this, real, ours_alone=ours_alone)
            if source is not None and column.table and not ours_alone:
                changes += _follow_alias(column, view)
    return list(dict.fromkeys(changes))


def _set_right(name: exp.Expr, real: str, *, ours_alone: bool) -> list[GroundingChange]:
    if not isinstance(name, exp.Identifier):
        return []
    written = name.name if name.args.get("quoted") else name.name.lower()
    if written == real or (ours_alone and not is_ours(name)):
        return []
    why = f"{name.name}: the name is {real}, and only quotes keep capital letters"
    noted = [] if is_ours(name) else [GroundingChange(GroundingRule.QUOTES, why)]
    name.set("this", real)
    name.set("quoted", real != real.lower())
    return noted


def _follow_alias(column: exp.Column, view: View) -> list[GroundingChange]:
    """A qualifier in quotes whose alias has none, or the other way round."""
    qualifier = column.args["table"]
    for table in view.select.find_all(exp.Table):
        alias = table.args.get("alias")
        name = alias.this if alias is not None else table.this
        if isinstance(name, exp.Identifier) and name.name.lower() == qualifier.name.lower():
            ends = [n.name if n.args.get("quoted") else n.name.lower() for n in (name, qualifier)]
            if ends[0] == ends[1]:
                return []
            column.set("table", name.copy())
            why = f"{qualifier.name}: the table is called {name.name} in the query, with other quotes"
            return [GroundingChange(GroundingRule.QUOTES, why)]
    return []
