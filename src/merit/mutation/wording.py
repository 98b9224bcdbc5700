"""Mistakes that leave out what a question says in words: spaces, unknown values, ties, whole days, fractions."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta

from sqlglot import exp

from merit.mutation.repeats import is_single

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


def omissions(node: exp.Expr) -> Iterator[Callable[[exp.Expr], exp.Expr | None]]:
    """Changes of one node."""
    if isinstance(node, exp.Trim):  # spaces of one side only
        for name in ("LTRIM", "RTRIM"):
            yield lambda target, name=name: exp.Anonymous(this=name, expressions=[target.this])  # type: ignore[misc]
    if isinstance(node, exp.Date):  # a moment compared where days are meant
        yield lambda target: target.this
    if isinstance(node, _COMPARISONS) and not isinstance(node.left, exp.Count):
        yield from _unknown(node)
    if isinstance(node, exp.LT) and _is_day(node.right):  # the last day, without what happened in its course
        yield lambda target: exp.LTE(this=target.this, expression=_day_before(target.expression))
    if isinstance(node, exp.Between):
        yield lambda target: exp.paren(
            exp.and_(
                exp.GT(this=target.this.copy(), expression=target.args["low"].copy()),
                exp.LT(this=target.this.copy(), expression=target.args["high"].copy()),
            )
        )
    if isinstance(node, exp.Avg):
        # the first rounds down where all values are whole numbers, the second counts unknown values
        yield lambda target: _quotient(target.this, exp.Count(this=target.this.copy()))
        yield lambda target: _quotient(exp.Mul(this=_number("1.0"), expression=target.this.copy()), _all_rows())
        yield lambda target: exp.Round(this=target.copy())
    if isinstance(node, exp.Query) and node.parent is None and not node.args.get("limit") and not is_single(node):
        # one where several share the top
        yield lambda target: target.set("limit", exp.Limit(expression=_number("1")))


def _unknown(node: exp.Binary) -> Iterator[Callable[[exp.Expr], exp.Expr | None]]:
    """Unknown values counted in; a NULL otherwise compares with nothing."""
    if isinstance(node, exp.EQ | exp.NEQ):
        both = isinstance(node.left, exp.Column) and isinstance(node.right, exp.Column)
        if not isinstance(node.right, exp.Literal) and not (both and isinstance(node, exp.EQ)):
            yield lambda target: _null_safe(target)
        return
    for side in ("this", "expression"):
        if not isinstance(node.args[side], exp.Literal):
            yield lambda target, side=side: exp.paren(  # type: ignore[misc]
                exp.or_(target.copy(), exp.Is(this=target.args[side].copy(), expression=exp.Null()))
            )


def _null_safe(target: exp.Expr) -> exp.Expr:
    """IS in place of =, IS NOT in place of <>."""
    same = exp.Is(this=target.args["this"].copy(), expression=target.args["expression"].copy())
    return same if isinstance(target, exp.EQ) else exp.Not(this=exp.paren(same))


def _is_day(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Literal) or not node.is_string:
        return False
    try:
        date.fromisoformat(node.name)
    except ValueError:
        return False
    return True


def _day_before(literal: exp.Expr) -> exp.Expr:
    return exp.Literal.string((date.fromisoformat(literal.name) - timedelta(days=1)).isoformat())


def _quotient(values: exp.Expr, count: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Div(this=exp.Sum(this=values.copy()), expression=count, typed=True, safe=True))


def _all_rows() -> exp.Expr:
    return exp.Count(this=exp.Star())


def _number(text: str) -> exp.Expr:
    return exp.Literal.number(text)
