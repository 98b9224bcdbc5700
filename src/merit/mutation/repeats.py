"""Mistakes with repeated rows: DISTINCT missing or too many, a join where a question asks only whether rows exist."""

from collections.abc import Iterator

from sqlglot import exp

Rewrite = exp.Expr | None  # a node's replacement, or None if the node itself was changed


def toggle_distinct(select: exp.Expr) -> Rewrite:
    """SELECT with DISTINCT where it has none, or the other way round."""
    select.set("distinct", None if select.args.get("distinct") else exp.Distinct())
    return None


def is_single(select: exp.Expr) -> bool:
    """Whether a query returns one row whatever there is: an aggregate without groups."""
    return (
        isinstance(select, exp.Select)
        and not select.args.get("group")
        and any(part.find(exp.AggFunc) and not part.find(exp.Select) for part in select.expressions)
    )


def only_tests_rows(select: exp.Expr) -> bool:
    """Whether a query stands in EXISTS or IN, where repeated rows mean nothing."""
    parent = select.parent
    if isinstance(parent, exp.Subquery):
        parent = parent.parent
    return isinstance(parent, exp.Exists | exp.In)


def counted_distinct(column: exp.Expr) -> exp.Expr:
    """COUNT(DISTINCT column)."""
    return exp.Count(this=exp.Distinct(expressions=[column.copy()]))


def is_test(node: exp.Expr) -> bool:
    """Whether a condition asks for the existence of rows, in a place where a join could be written instead."""
    if not isinstance(node, exp.Exists) and not (isinstance(node, exp.In) and node.args.get("query") is not None):
        return False
    inner = node.this if isinstance(node, exp.Exists) else node.args["query"].this
    return (
        isinstance(inner, exp.Select) and isinstance(node.parent, exp.And | exp.Where) and not inner.args.get("group")
    )


def as_join(test: exp.Expr) -> Rewrite:
    """Join the rows that EXISTS or IN asks for, so that a row with several partners is returned several times."""
    outer = test.parent_select
    inner = test.this if isinstance(test, exp.Exists) else test.args["query"].this
    assert outer is not None
    for select in (outer, inner):
        _qualify(select)
    conditions = list(_conditions(inner))
    if isinstance(test, exp.In):
        conditions.append(exp.EQ(this=test.this.copy(), expression=inner.expressions[0].copy()))
    source = inner.args.get("from_") or inner.args["from"]
    first = exp.Join(this=source.this.copy(), on=exp.and_(*conditions) if conditions else None)
    # the joins of the inner query bring the tables that its conditions name, so they come before these
    rest = [join.copy() for join in inner.args.get("joins") or []]
    if rest:
        first.set("on", None)
        rest[-1].set("on", exp.and_(*filter(None, [rest[-1].args.get("on"), *conditions])))
    outer.set("joins", [*(outer.args.get("joins") or []), first, *rest])
    return exp.true()


def _conditions(select: exp.Expr) -> Iterator[exp.Expr]:
    where = select.args.get("where")
    if where is not None:
        yield exp.paren(where.this.copy())


def _qualify(select: exp.Expr) -> None:
    """Name the table of every column, where there is one table only: beside others a bare name may be ambiguous."""
    source = select.args.get("from_") or select.args.get("from")
    if source is None or select.args.get("joins"):
        return
    for column in select.find_all(exp.Column):
        if column.parent_select is select and not column.table and not isinstance(column.this, exp.Star):
            column.set("table", exp.to_identifier(source.this.alias_or_name))
