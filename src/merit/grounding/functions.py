"""Functions and syntax of another dialect, written as the engine has them."""

import re
from collections.abc import Callable
from functools import lru_cache

from sqlglot import exp

from merit.grounding.dialects import EngineDialect
from merit.grounding.function_table import FORMATS, FORMATTER, TEMPLATES
from merit.grounding.graph import SchemaGraph
from merit.types.grounding import GroundingChange, GroundingRule

# Functions whose first argument is a unit of time, and what they do with the others.
_WITH_UNIT = {
    ("DATEDIFF", 3): "DIFF",
    ("DATE_DIFF", 3): "DIFF",
    ("TIMESTAMPDIFF", 3): "FULL",
    ("DATE_PART", 2): "PART",
    ("DATEPART", 2): "PART",
    ("DATE_TRUNC", 2): "TRUNC",
    ("DATEADD", 3): "ADD",
    ("TIMESTAMPADD", 3): "ADD",
}
_UNITS = {"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "QUARTER", "WEEK", "DOW", "DOY", "EPOCH"}
# What an engine has itself, though a table above could say it otherwise.
_OWN = {
    "sqlite": frozenset[str](),
    "postgresql": frozenset({"PART", "TRUNC"}),
    "mysql": frozenset({"FULL"}),
    "mariadb": frozenset({"FULL"}),
    "duckdb": frozenset({"DIFF", "PART", "TRUNC"}),
}
_PIECES = re.compile(r"%.|FM[A-Z][a-z]+|Month|Mon|Day|Dy|HH24|YYYY|yyyy|MI|MM|mm|DDD|DD|dd|SS|[A-Za-z]+|[^A-Za-z%]+")


class FunctionMender:
    """Goes through a parsed query and replaces what its engine lacks."""

    def __init__(self, tree: exp.Query, dialect: EngineDialect, graph: SchemaGraph) -> None:
        self._tree = tree
        self._dialect = dialect
        self._graph = graph
        self._templates = TEMPLATES[dialect.engine]
        self._changes: list[GroundingChange] = []

    def mend(self) -> list[GroundingChange]:
        """The changes that were made in the tree."""
        kinds = (exp.Anonymous, exp.Extract, exp.If, exp.Add, exp.Sub, exp.ILike, exp.All)
        for node in reversed(list(self._tree.find_all(*kinds))):  # the inner ones first
            self._mend_node(node)
        return self._changes

    def _mend_node(self, node: exp.Expr) -> None:
        if isinstance(node, exp.Anonymous):
            self._mend_call(node)
        elif isinstance(node, exp.Extract):
            unit = _unit(node.this)
            if self._dialect.engine == "sqlite" or unit in ("DOW", "DOY", "EPOCH"):  # the others have the rest
                self._replace(node, f"PART {unit}", [node.expression], "EXTRACT")
        elif isinstance(node, exp.If):
            if self._dialect.engine == "postgresql" and not isinstance(node.parent, exp.Case):
                case = exp.Case(ifs=[exp.If(this=node.this, true=node.args["true"])], default=node.args.get("false"))
                self._swap(node, case.copy(), "IF")
        elif isinstance(node, exp.Add | exp.Sub):
            self._mend_interval(node)
        elif isinstance(node, exp.ILike) and self._dialect.engine in ("sqlite", "mysql", "mariadb"):
            self._swap(node, exp.Like(this=node.this, expression=node.expression), "ILIKE")
        elif isinstance(node, exp.All) and self._dialect.engine == "sqlite":
            self._mend_all(node)

    def _mend_call(self, node: exp.Anonymous) -> None:
        name, arguments = str(node.this).upper(), list(node.expressions)
        kind = _WITH_UNIT.get((name, len(arguments)))
        unit = _unit(arguments[0]) if kind else ""
        if unit in _UNITS:
            arguments[0].replace(exp.var(unit) if name.startswith(("TIMESTAMP", "DATEADD")) else _text(unit))
            if kind == "ADD" and self._add(node, unit):
                return
            if kind not in _OWN[self._dialect.engine]:
                self._replace(node, f"{kind} {unit}", arguments[1:], name)
        elif name in ("DATE_ADD", "DATE_SUB", "ADDDATE", "SUBDATE") and len(arguments) == 2:
            self._mend_date_add(node, name, arguments)
        elif not (name in FORMATS and self._mend_format(node, name, arguments)):
            self._replace(node, name, arguments, name)

    def _replace(self, node: exp.Expr, key: str, arguments: list[exp.Expr], name: str) -> None:
        template = self._templates.get((key, len(arguments)))
        if template is None:
            return
        if key in ("YEAR", "PART YEAR") and self._is_whole_number(arguments[0]):
            self._swap(node, arguments[0].copy(), name)  # a column that has the year itself
            return
        self._swap(node, _filled(template, self._dialect.name, arguments), name)

    def _swap(self, node: exp.Expr, new: exp.Expr, name: str) -> None:
        if isinstance(new, exp.Binary) and isinstance(node.parent, exp.Binary | exp.Unary | exp.Between | exp.In):
            new = exp.paren(new, copy=False)
        node.replace(new)
        why = f"{name}: {self._dialect.title} does not have it so; {self._dialect.write(new)} instead"
        if why not in {change.why for change in self._changes}:
            self._changes.append(GroundingChange(GroundingRule.FUNCTION, why))

    def _is_whole_number(self, node: exp.Expr) -> bool:
        """Whether a column is declared as a whole number in every table that has it."""
        if not isinstance(node, exp.Column):
            return False
        name = node.name.lower()
        types = {self._graph.types[table, name] for table in self._graph.with_column.get(name, [])}
        return bool(types) and all("int" in declared or declared == "number" for declared in types) and "year" in name

    # Dates

    def _mend_interval(self, node: exp.Add | exp.Sub) -> None:
        """SQLite: a date plus or minus an interval."""
        if self._dialect.engine != "sqlite" or not isinstance(node.expression, exp.Interval):
            return
        sign = "+" if isinstance(node, exp.Add) else "-"
        new = self._moved(node.this, node.expression, sign)
        if new is not None:
            self._swap(node, new, "INTERVAL")

    def _mend_date_add(self, node: exp.Anonymous, name: str, arguments: list[exp.Expr]) -> None:
        interval, sign = arguments[1], "-" if "SUB" in name else "+"
        if not isinstance(interval, exp.Interval) or self._dialect.engine in ("mysql", "mariadb"):
            return
        if self._dialect.engine == "sqlite":
            new = self._moved(arguments[0], interval, sign)
        else:
            operator: Callable[..., exp.Expr] = exp.Sub if sign == "-" else exp.Add
            new = operator(this=arguments[0].copy(), expression=interval.copy())
        if new is not None:
            self._swap(node, new, name)

    def _add(self, node: exp.Anonymous, unit: str) -> bool:
        """DATEADD(unit, number, date)."""
        _, number, date = node.expressions
        if self._dialect.engine in ("mysql", "mariadb") and str(node.this).upper() == "TIMESTAMPADD":
            return True
        interval = exp.Interval(this=number.copy(), unit=exp.var(unit))
        call = exp.Anonymous(this="DATE_ADD", expressions=[date.copy(), interval])
        if self._dialect.engine in ("mysql", "mariadb"):
            self._swap(node, call, str(node.this).upper())
            return True
        new = self._moved(date, interval, "+") if self._dialect.engine == "sqlite" else _sum(date, number, unit)
        if new is not None:
            self._swap(node, new, str(node.this).upper())
        return True

    def _moved(self, date: exp.Expr, interval: exp.Interval, sign: str) -> exp.Expr | None:
        """A date moved by an interval, with SQLite's modifiers."""
        amount, unit = _amount(interval)
        if amount is None or unit not in ("DAY", "MONTH", "YEAR", "HOUR", "MINUTE", "SECOND", "WEEK"):
            return None
        if amount.startswith("-"):
            amount, sign = amount[1:], "-" if sign == "+" else "+"
        if unit == "WEEK":
            amount, unit = str(int(amount) * 7), "DAY"
        function = "DATE" if unit in ("DAY", "MONTH", "YEAR") and not self._has_time(date) else "DATETIME"
        modifier = f"{sign}{amount} {unit.lower()}{'' if amount == '1' else 's'}"
        return exp.Anonymous(this=function, expressions=[date.copy(), exp.Literal.string(modifier)])

    def _has_time(self, date: exp.Expr) -> bool:
        if isinstance(date, exp.CurrentTimestamp):
            return True
        if not isinstance(date, exp.Column):
            return False
        name = date.name.lower()
        types = [self._graph.types[table, name] for table in self._graph.with_column.get(name, [])]
        return any("time" in declared for declared in types)

    def _mend_format(self, node: exp.Anonymous, name: str, arguments: list[exp.Expr]) -> bool:
        """A date as a text, by a format that is written out: with the engine's own function and pieces."""
        own = FORMATTER[self._dialect.engine]
        texts = [a for a in arguments if isinstance(a, exp.Literal) and a.is_string]
        dates = [a for a in arguments if a not in texts]
        is_turned = own == name == "STRFTIME" and self._dialect.engine == "duckdb" and arguments[:1] == texts[:1]
        if len(arguments) != 2 or len(texts) != 1 or (own == name and not is_turned):
            return False
        pieces = _PIECES.findall(texts[0].name)
        back = {piece: written for written, piece in reversed(FORMATS[own].items())}
        read = [FORMATS[name].get(piece, piece) for piece in pieces]
        if any(piece not in back for piece in read if piece[:1] == "%" or piece[:1].isalpha()):
            return False
        if self._dialect.engine == "sqlite" and any(piece in ("%B", "%b", "%A", "%a") for piece in read):
            return False  # SQLite writes no names of months and days
        written = exp.Literal.string("".join(back.get(piece, piece) for piece in read))
        date = dates[0].copy()
        order = [written, date] if self._dialect.engine == "sqlite" else [date, written]
        self._swap(node, exp.Anonymous(this=own, expressions=order), name)
        return True

    # Quantifiers

    def _mend_all(self, node: exp.All) -> None:
        """SQLite: `> ALL (SELECT x ...)` is `> (SELECT MAX(x) ...)`."""
        query = node.this.unnest() if isinstance(node.this, exp.Expr) else None
        best = "MAX" if isinstance(node.parent, exp.GT | exp.GTE) else "MIN"
        if (
            not isinstance(node.parent, exp.GT | exp.GTE | exp.LT | exp.LTE)
            or not isinstance(query, exp.Select)
            or len(query.selects) != 1
            or query.args.get("limit")
        ):
            return
        inner = query.copy()
        value = inner.selects[0].unalias()
        if list(value.find_all(exp.Anonymous)) or inner.args.get("group"):
            return
        inner.set("expressions", [exp.Anonymous(this=best, expressions=[value.copy()])])
        self._swap(node, inner.subquery(copy=False), "ALL")


def _sum(date: exp.Expr, number: exp.Expr, unit: str) -> exp.Expr:
    one = exp.Interval(this=exp.Literal.string("1"), unit=exp.var(unit))
    return exp.Add(this=date.copy(), expression=exp.Mul(this=exp.paren(number.copy()), expression=one))


def _amount(interval: exp.Interval) -> tuple[str | None, str]:
    """The number and the unit of an interval that are written out: INTERVAL 3 DAY, INTERVAL '3 days'."""
    unit = interval.args.get("unit")
    number = interval.this
    sign = ""
    if isinstance(number, exp.Neg):
        number, sign = number.this, "-"
    text = number.name if isinstance(number, exp.Literal) else ""
    found = re.fullmatch(r"\s*([+-]?\d+)\s*([a-zA-Z]*)\s*", text)
    if found is None:
        return None, ""
    name = (unit.name if unit is not None else found[2]).upper().removesuffix("S")
    return sign + found[1].removeprefix("+"), name


def _unit(node: exp.Expr) -> str:
    """The unit of time that a bare name or a text means."""
    name = node.name.upper().removesuffix("S") if isinstance(node, exp.Column | exp.Var | exp.Literal) else ""
    return {"YY": "YEAR", "YYYY": "YEAR", "MM": "MONTH", "DD": "DAY", "D": "DAY", "HH": "HOUR"}.get(name, name)


def _text(unit: str) -> exp.Expr:
    return exp.Literal.string(unit.lower())


@lru_cache(maxsize=512)
def _parsed(template: str, dialect: str) -> exp.Expr:
    return exp.maybe_parse(template, dialect=dialect)


def _filled(template: str, dialect: str, arguments: list[exp.Expr]) -> exp.Expr:
    """A template with its arguments in their places."""
    whole = exp.paren(_parsed(template, dialect).copy(), copy=False)
    for place in list(whole.find_all(exp.Column)):
        if re.fullmatch(r"_\d", place.name):
            argument = arguments[int(place.name[1:])].copy()
            wrap = isinstance(argument, exp.Binary) and isinstance(place.parent, exp.Binary | exp.Unary)
            place.replace(exp.paren(argument, copy=False) if wrap else argument)
    filled: exp.Expr = whole.this.pop()
    return filled
