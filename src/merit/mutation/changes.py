"""Small changes of meaning to one node of a query: the mistakes that models and people make."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, timedelta

from sqlglot import exp

from merit.bundled import TableShape
from merit.bundled.values import is_numeric
from merit.mutation.repeats import as_join, counted_distinct, is_single, is_test, only_tests_rows, toggle_distinct
from merit.mutation.wording import omissions

Change = Callable[[exp.Expr], exp.Expr | None]  # returns a node's replacement, or None if it changed the node itself

_SWAPS: Mapping[type[exp.Expr], tuple[type[exp.Expr], ...]] = {
    exp.GT: (exp.GTE, exp.LT, exp.EQ),
    exp.GTE: (exp.GT, exp.LTE, exp.EQ),
    exp.LT: (exp.LTE, exp.GT, exp.EQ),
    exp.LTE: (exp.LT, exp.GTE, exp.EQ),
    exp.EQ: (exp.NEQ, exp.GTE, exp.LTE),
    exp.NEQ: (exp.EQ, exp.GT, exp.LT),
    exp.And: (exp.Or,),
    exp.Or: (exp.And,),
    exp.Add: (exp.Sub,),
    exp.Sub: (exp.Add,),
    exp.Mul: (exp.Add,),
    exp.Div: (exp.Mul,),
    exp.Sum: (exp.Avg, exp.Max, exp.Min, exp.Count),
    exp.Avg: (exp.Sum, exp.Max, exp.Min, exp.Count),
    exp.Max: (exp.Min, exp.Avg, exp.Sum),
    exp.Min: (exp.Max, exp.Avg, exp.Sum),
    exp.Union: (exp.Intersect, exp.Except),
    exp.Intersect: (exp.Union, exp.Except),
    exp.Except: (exp.Union, exp.Intersect),
}
_PREDICATES = (exp.In, exp.Exists, exp.Is, exp.Like, exp.Between)


class Tables:
    """The tables of a database, and which of them each name in a query stands for."""

    def __init__(self, shapes: Iterable[TableShape], tree: exp.Expr) -> None:
        self.shapes = {shape.name.lower(): shape for shape in shapes}
        self.named = {table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)}

    def columns(self, table: str) -> list[str]:
        """A table's columns; none for a name that only the query defines."""
        return list(self.shapes[table].types) if table in self.shapes else []

    def others(self, column: exp.Column) -> list[str]:
        """Columns of the same table and kind, the nearest first."""
        name, prefix = column.name.lower(), column.table.lower()
        owners = [self.named.get(prefix, "")] if prefix else list(dict.fromkeys(self.named.values()))
        for owner in owners:
            positions = {other.lower(): position for position, other in enumerate(self.columns(owner))}
            if name in positions:
                kinds = {other: is_numeric(declared) for other, declared in self.shapes[owner].types.items()}
                kind = list(kinds.values())[positions[name]]
                same = [other for other in kinds if kinds[other] is kind and other.lower() != name]
                return sorted(same, key=lambda other: abs(positions[other.lower()] - positions[name]))
        return []

    def optional(self, table: str) -> list[str]:
        """A table's columns that may be NULL."""
        return [column for column in self.columns(table) if column not in self.shapes[table].required]


def changes(node: exp.Expr, tables: Tables) -> Iterator[Change]:
    """Every change of one node."""
    for kind in _SWAPS.get(type(node), ()):
        if not _joins(node):
            yield _replaced_by(kind)
    yield from _logic(node)
    yield from _values(node, tables)
    yield from _clauses(node)
    yield from _repeats(node)
    yield from omissions(node)
    table = _first_table(node)
    if table is not None:
        for name in tables.optional(table.name.lower())[:4]:
            yield _filter(table.alias_or_name, name, known=True)


def padding(tree: exp.Expr, tables: Tables) -> Iterator[Change]:
    """Cruder changes of a whole query, for a query too simple to have many mutants."""
    select = tree.find(exp.Select)
    table = _first_table(select) if select is not None else None
    if select is None or table is None or select is not tree:
        return
    for count in (1, 5, 2, 10):
        yield lambda target, count=count: target.set("limit", exp.Limit(expression=exp.Literal.number(count)))  # type: ignore[misc]
    for other in tables.shapes:
        if other != table.name.lower():
            yield lambda target, other=other: _from(target, other)  # type: ignore[misc]
    for name in tables.columns(table.name.lower()):
        for kind, end in ((exp.GT, exp.Min), (exp.LT, exp.Max)):
            yield _without_end(table, name, kind, end)
    for name in tables.columns(table.name.lower()):
        yield _filter(table.alias_or_name, name, known=False)
    for name in tables.columns(table.name.lower()):
        yield _filter(table.alias_or_name, name, known=True)


def _replaced_by(kind: type[exp.Expr]) -> Change:
    return lambda node: kind(**node.args)


def _joins(node: exp.Expr) -> bool:
    """Whether a comparison is what joins two tables; there, a wrong column is the likelier mistake."""
    return isinstance(node, exp.EQ) and isinstance(node.left, exp.Column) and isinstance(node.right, exp.Column)


def _logic(node: exp.Expr) -> Iterator[Change]:
    if isinstance(node, exp.And | exp.Or):
        yield lambda target: target.args["this"]
        yield lambda target: target.args["expression"]
    if isinstance(node, _PREDICATES) and not isinstance(node.parent, exp.Not):
        yield lambda target: exp.Not(this=target.copy())
    if isinstance(node, exp.Not):
        yield lambda target: target.this
    if isinstance(node, exp.NEQ):  # NULL is not different from anything
        yield lambda target: exp.paren(exp.or_(target.copy(), exp.Is(this=target.this.copy(), expression=exp.Null())))
    if isinstance(node, exp.Between):
        for low, high in ((exp.GT, exp.LTE), (exp.GTE, exp.LT)):
            yield lambda target, low=low, high=high: exp.paren(  # type: ignore[misc]
                exp.and_(
                    low(this=target.this.copy(), expression=target.args["low"].copy()),
                    high(this=target.this.copy(), expression=target.args["high"].copy()),
                )
            )
    if isinstance(node, exp.In) and len(node.expressions) > 1:
        for index in range(len(node.expressions)):
            yield lambda target, index=index: _without(target, "expressions", index)  # type: ignore[misc]
    if isinstance(node, exp.SetOperation):
        yield lambda target: target.this
        yield lambda target: target.expression
        if isinstance(node, exp.Union):
            yield lambda target: target.set("distinct", not target.args.get("distinct"))
        else:
            yield lambda target: type(target)(**{**target.args, "this": target.expression, "expression": target.this})


def _values(node: exp.Expr, tables: Tables) -> Iterator[Change]:
    if isinstance(node, exp.Literal) and not isinstance(node.parent, exp.Select):  # EXISTS (SELECT 1 ...)
        for text in _near(node):
            yield lambda _, text=text, quoted=node.is_string: exp.Literal(this=text, is_string=quoted)  # type: ignore[misc]
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        for name in tables.others(node)[:3]:
            yield lambda target, name=name: exp.column(name, target.table or None)  # type: ignore[misc]
    if isinstance(node, exp.Count):
        if isinstance(node.this, exp.Column) and not isinstance(node.this.this, exp.Star):
            yield lambda _: exp.Count(this=exp.Star())
            yield lambda target: exp.Sum(this=target.this)
            yield lambda target: exp.Max(this=target.this)
        elif isinstance(node.this, exp.Star):
            for table in _sources(node.parent_select):
                for name in [*tables.optional(table.name.lower()), *tables.columns(table.name.lower())][:3]:
                    column = exp.column(name, table.alias_or_name)
                    yield lambda _, column=column: exp.Count(this=column)  # type: ignore[misc]
                    yield lambda _, column=column: counted_distinct(column)  # type: ignore[misc]
    if isinstance(node, exp.Sum | exp.Avg):  # NULL counted as 0
        zero = exp.Literal.number(0)
        yield lambda target: type(target)(this=exp.Coalesce(this=target.this, expressions=[zero]))
        yield lambda target: exp.Coalesce(this=target.copy(), expressions=[zero])
    if isinstance(node, exp.Coalesce | exp.Round | exp.Lower | exp.Upper | exp.Trim | exp.Abs | exp.Cast):
        yield lambda target: target.this
    if isinstance(node, exp.Case) and node.args.get("default") is not None:
        yield lambda target: target.set("default", None)


def _repeats(node: exp.Expr) -> Iterator[Change]:
    if isinstance(node, exp.Select) and not only_tests_rows(node) and not is_single(node):
        yield toggle_distinct
    if is_test(node):
        yield as_join
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        column = node.this.expressions[0]
        yield lambda _: exp.Count(this=column.copy())
        yield lambda _: exp.Count(this=exp.Star())
    elif isinstance(node, exp.Count) and isinstance(node.this, exp.Column):
        yield lambda target: counted_distinct(target.this)


def _near(literal: exp.Literal) -> list[str]:
    text = str(literal.this)
    if not literal.is_string:
        try:
            return (
                [f"{int(text) + 1}", f"{int(text) - 1}"]
                if text.isdigit()
                else [f"{float(text) + 1}", f"{float(text) - 1}"]
            )
        except ValueError:
            return []
    try:
        day = date.fromisoformat(text)
        return [(day + timedelta(days=step)).isoformat() for step in (-1, 1)]
    except ValueError:
        pass
    if text.isdigit():
        return [f"{int(text) + 1:0{len(text)}d}", f"{max(0, int(text) - 1):0{len(text)}d}"]
    if "%" in text and isinstance(literal.parent, exp.Like):
        return [text.lstrip("%"), text.rstrip("%"), f"%{text.strip('%')}%", text.strip("%")]
    return [text.upper(), text.lower(), text[:-1], f"{text}s"] if "%" not in text else []


def _clauses(node: exp.Expr) -> Iterator[Change]:
    if isinstance(node, exp.Select):
        for clause in ("where", "having", "limit", "order", "group"):
            if node.args.get(clause) is not None:
                yield lambda target, clause=clause: target.set(clause, None)  # type: ignore[misc]
        for index in range(len(node.args.get("joins") or [])):
            yield lambda target, index=index: _without(target, "joins", index)  # type: ignore[misc]
        if len(node.expressions) > 1:
            for index in range(len(node.expressions)):
                yield lambda target, index=index: _without(target, "expressions", index)  # type: ignore[misc]
    if isinstance(node, exp.Group | exp.Order) and len(node.expressions) > 1:
        for index in range(len(node.expressions)):
            yield lambda target, index=index: _without(target, "expressions", index)  # type: ignore[misc]
    if isinstance(node, exp.Join) and node.args.get("on") is not None:
        yield lambda target: target.set("side", None if target.args.get("side") else "LEFT")
    if isinstance(node, exp.Ordered):
        yield _turned


def _turned(ordered: exp.Expr) -> None:
    """The other direction; SQLite puts NULL at the small end."""
    descending = not ordered.args.get("desc")
    ordered.set("desc", descending)
    ordered.set("nulls_first", not descending)


def _first_table(node: exp.Expr) -> exp.Table | None:
    source = node.args.get("from_") or node.args.get("from") if isinstance(node, exp.Select) else None
    return source.this if source is not None and isinstance(source.this, exp.Table) else None


def _filter(alias: str, name: str, *, known: bool) -> Change:
    """Add a filter that the question does not ask for."""

    def filtered(select: exp.Expr) -> None:
        unknown = exp.Is(this=exp.column(name, alias), expression=exp.Null())
        assert isinstance(select, exp.Select)
        select.where(exp.Not(this=unknown) if known else unknown, copy=False)

    return filtered


def _without_end(table: exp.Table, name: str, kind: type[exp.Expr], end: type[exp.Expr]) -> Change:
    """Add a filter that leaves out the rows with the least or the greatest value of a column."""

    def filtered(select: exp.Expr) -> None:
        least = exp.select(end(this=exp.column(name))).from_(table.name).subquery()
        assert isinstance(select, exp.Select)
        select.where(kind(this=exp.column(name, table.alias_or_name), expression=least), copy=False)

    return filtered


def _sources(select: exp.Expr | None) -> list[exp.Table]:
    """The tables that a query itself reads, without those of queries inside it."""
    return [] if select is None else [table for table in select.find_all(exp.Table) if table.parent_select is select]


def _from(select: exp.Expr, other: str) -> None:
    for table in _sources(select):
        table.set("this", exp.to_identifier(other))


def _without(node: exp.Expr, field: str, index: int) -> None:
    rest = [part for i, part in enumerate(node.args[field]) if i != index]
    node.set(field, rest)
