"""Aggregates where none may stand, and groups that are missing."""

from collections.abc import Iterator

from sqlglot import exp

from merit.grounding.dialects import EngineDialect
from merit.types.grounding import GroundingChange, GroundingRule

AGGREGATES = frozenset(
    [
        "COUNT",
        "SUM",
        "AVG",
        "MIN",
        "MAX",
        "TOTAL",
        "GROUP_CONCAT",
        "STRING_AGG",
        "ARRAY_AGG",
        "STDDEV",
        "VARIANCE",
        "BOOL_AND",
        "BOOL_OR",
        "MEDIAN",
    ]
)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_UNGROUPED = ("must appear in the group by", "not in group by", "isn't in group by", "must be part of an aggregate")


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is an aggregate over rows: SQLite's MIN and MAX of several values are none."""
    if isinstance(node.parent, exp.Window):
        return False
    if isinstance(node, exp.GroupConcat | exp.AggFunc):
        return True
    name = str(node.this).upper() if isinstance(node, exp.Anonymous) else ""
    return name in AGGREGATES and not (name in ("MIN", "MAX") and len(node.expressions) > 1)


def own_nodes(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """A node and what is within it, without the queries within."""
    if node is not None:
        for inner in node.walk(prune=lambda n: isinstance(n, exp.Query) and n is not node):
            if not isinstance(inner, exp.Query):
                yield inner


def has_aggregate(node: exp.Expr | None) -> bool:
    """Whether an expression has an aggregate of its own query."""
    return any(is_aggregate(inner) for inner in own_nodes(node))


class AggregateMender:
    """Goes through the SELECTs of a query and puts aggregates where they belong."""

    def __init__(self, tree: exp.Query, dialect: EngineDialect, error: str) -> None:
        self._tree = tree
        self._dialect = dialect
        self._is_ungrouped = any(words in error.lower() for words in _UNGROUPED)
        self._changes: list[GroundingChange] = []

    def mend(self) -> list[GroundingChange]:
        """The changes that were made in the tree."""
        for select in reversed(list(self._tree.find_all(exp.Select))):  # the inner ones first
            self._mend_nested(select)
            self._mend_where(select)
            self._mend_having(select)
            self._mend_group(select)
        return self._changes

    def _note(self, why: str) -> None:
        self._changes.append(GroundingChange(GroundingRule.AGGREGATE, why))

    def _show(self, node: exp.Expr) -> str:
        return " ".join(self._dialect.write(node).split())[:80]

    def _mend_nested(self, select: exp.Select) -> None:
        """AVG(COUNT(*)) with its groups: the average over a query that counts."""
        values = [value.unalias() for value in select.selects]
        if len(values) != 1 or not select.args.get("group") or not is_aggregate(values[0]):
            return
        outer = values[0]
        inner = [node for node in own_nodes(outer) if node is not outer and is_aggregate(node)]
        if len(inner) != 1 or outer.expressions != [inner[0]] or select.args.get("having"):
            return
        counting = select.copy()
        counting.set("expressions", [exp.alias_(inner[0].copy(), "value")])
        for clause in ("order", "limit"):
            counting.set(clause, None)
        self._note(f"{self._show(outer)}: one aggregate cannot take another; it takes the values of the groups")
        inner[0].replace(exp.column("value"))
        for clause in ("joins", "where", "group", "order", "limit"):
            select.set(clause, None)
        table = exp.Subquery(this=counting, alias=exp.TableAlias(this=exp.to_identifier("groups_of_it")))
        select.set("from_" if "from_" in select.arg_types else "from", exp.From(this=table))

    def _mend_where(self, select: exp.Select) -> None:
        """Conditions on an aggregate go to HAVING."""
        where = select.args.get("where")
        conditions = _conjuncts(where.this) if where is not None else []
        wrong = [condition for condition in conditions if has_aggregate(condition)]
        if not wrong:
            return
        if len(conditions) == 1 and self._mend_comparison(select, wrong[0]):
            return
        if any(isinstance(condition.unnest(), exp.Or) for condition in wrong) and not self._dialect.bare_columns:
            return  # the other half of OR needs the rows themselves
        grouped = select.args.get("group") is not None
        if not grouped and not _plain_values(select):
            return  # nothing says what to group by
        right = [condition for condition in conditions if condition not in wrong]
        having = select.args.get("having")
        moved = [condition.copy() for condition in wrong]
        select.set("having", exp.Having(this=exp.and_(*([having.this] if having else []), *moved)))
        select.set("where", exp.Where(this=exp.and_(*[c.copy() for c in right])) if right else None)
        shown = ", ".join(self._show(condition) for condition in wrong)
        self._note(f"{shown}: an aggregate cannot stand in WHERE; it belongs into HAVING")

    def _mend_comparison(self, select: exp.Select, condition: exp.Expr) -> bool:
        """`age > AVG(age)`, of one table and without groups: the average over the whole table."""
        node = condition.unnest()
        if not isinstance(node, _COMPARISONS) or select.args.get("group") or select.args.get("joins"):
            return False
        source = select.find(exp.From)
        sides = (node.this, node.expression)
        aggregates = [side for side in sides if has_aggregate(side)]
        others = [side for side in sides if not has_aggregate(side)]
        is_table = source is not None and isinstance(source.this, exp.Table)
        if len(aggregates) != 1 or not is_table or not list(others[0].find_all(exp.Column)):
            return False
        why = f"{self._show(condition)}: an aggregate cannot stand in WHERE; it is taken over the whole table"
        query = exp.select(aggregates[0].copy(), copy=False)
        query.set("from_" if "from_" in query.arg_types else "from", source and source.copy())
        aggregates[0].replace(query.subquery(copy=False))
        self._note(why)
        return True

    def _mend_having(self, select: exp.Select) -> None:
        """HAVING of a query that has neither groups nor aggregates is a WHERE."""
        having = select.args.get("having")
        used = [*select.selects, having]
        if having is None or select.args.get("group") or any(has_aggregate(node) for node in used):
            return
        where = select.args.get("where")
        select.set("where", exp.Where(this=exp.and_(*([where.this] if where else []), having.this)))
        select.set("having", None)
        self._note(f"{self._show(having.this)}: there are no groups; it belongs into WHERE")

    def _mend_group(self, select: exp.Select) -> None:
        """What is shown beside an aggregate is what rows are grouped by."""
        group, values = select.args.get("group"), _plain_values(select)
        mixed = bool(values) and any(has_aggregate(value) for value in select.selects)
        elsewhere = has_aggregate(select.args.get("order")) or has_aggregate(select.args.get("having"))
        if group is None and values and (elsewhere or (mixed and self._is_ungrouped)):
            select.set("group", exp.Group(expressions=[value.copy() for value in values]))
            shown = ", ".join(self._show(value) for value in values)
            self._note(f"{shown}: shown beside an aggregate; rows are grouped by it")
        elif group is not None and self._is_ungrouped:
            self._widen(select, group, values)

    def _widen(self, select: exp.Select, group: exp.Group, values: list[exp.Expr]) -> None:
        known = [self._show(node).lower() for node in group.expressions]
        known += [value.alias.lower() for value in select.selects if value.alias and value.alias.lower() in known]
        aliases = {value.alias.lower(): value.unalias() for value in select.selects if value.alias}
        known += [self._show(aliases[name]).lower() for name in list(known) if name in aliases]
        known += [
            self._show(select.selects[int(name) - 1].unalias()).lower()
            for name in list(known)
            if name.isdigit() and 0 < int(name) <= len(select.selects)
        ]
        for value in values:
            if self._show(value).lower() not in known and list(value.find_all(exp.Column)):
                group.append("expressions", value.copy())
                self._note(f"{self._show(value)}: neither grouped by nor an aggregate; rows are grouped by it")


def _plain_values(select: exp.Select) -> list[exp.Expr]:
    """What a SELECT shows besides aggregates; nothing where that cannot be listed."""
    values = [value.unalias() for value in select.selects]
    if any(value.is_star for value in values):
        return []
    return [value for value in values if not has_aggregate(value) and list(value.find_all(exp.Column))]


def _conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    node = condition
    return (
        [part for side in (node.this, node.expression) for part in _conjuncts(side)]
        if isinstance(node, exp.And)
        else [node]
    )
