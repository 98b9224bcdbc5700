"""Values of two types that PostgreSQL and DuckDB do not compare by themselves."""

import re

from sqlglot import exp

from merit.grounding.dialects import EngineDialect
from merit.grounding.graph import SchemaGraph
from merit.grounding.scopes import View, views
from merit.types.grounding import GroundingChange, GroundingRule

_MISMATCH = re.compile(
    r"operator does not exist|function .* does not exist|No function matches|Cannot compare|cannot be matched"
    r"|Conversion Error|invalid input syntax|Binder Error|could not convert|cannot cast",
    re.I | re.S,
)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_FAMILIES = (
    ("bool", "boolean"),
    ("date|time", "date"),
    ("int|serial|numeric|decimal|real|double|float|number|money", "number"),
    ("char|text|string|clob|uuid", "text"),
)
_DATE_FUNCTIONS = {"TO_CHAR", "DATE_TRUNC", "AGE", "DATE_PART", "STRFTIME", "YEAR", "MONTH", "DAY"}
_TEXT_FUNCTIONS = {"SUBSTR", "SUBSTRING", "LEFT", "RIGHT", "LOWER", "UPPER", "LENGTH", "TRIM", "REPLACE", "SPLIT_PART"}


class CastMender:
    """Goes through the comparisons of a query and has values converted where the schema tells that they differ."""

    def __init__(self, tree: exp.Query, dialect: EngineDialect, graph: SchemaGraph, error: str) -> None:
        self._tree = tree
        self._dialect = dialect
        self._graph = graph
        self._error = error
        self._changes: list[GroundingChange] = []

    def mend(self) -> list[GroundingChange]:
        """The changes that were made in the tree."""
        if self._dialect.engine not in ("postgresql", "duckdb") or not _MISMATCH.search(self._error):
            return []
        for view in views(self._tree, self._graph):
            for column in list(view.columns()):
                family = self._family(column, view)
                if family and column.parent is not None:
                    self._mend_column(column, family, view)
        self._mend_round()
        return self._changes

    def _family(self, node: exp.Expr, view: View) -> str:
        """The kind of values that a column has by its declared type, or what is converted by the type it gets."""
        if not isinstance(node, exp.Column | exp.Cast):
            return ""
        declared = node.to.sql().lower() if isinstance(node, exp.Cast) else self._declared(node, view)
        return next((family for pattern, family in _FAMILIES if re.search(pattern, declared)), "")

    def _declared(self, column: exp.Column, view: View) -> str:
        name = column.name.lower()
        source = view.source(column.table) if column.table else next(iter(view.holders(name)), None)
        return self._graph.types.get((source.table, name), "") if source and source.table else ""

    def _mend_column(self, column: exp.Column, family: str, view: View) -> None:
        parent = column.parent
        if isinstance(parent, exp.Like | exp.ILike) and parent.this is column and family != "text":
            self._cast(column, "TEXT", f"it is not a text ({family})")
        elif isinstance(parent, _COMPARISONS):
            self._mend_comparison(column, family, parent, view)
        elif isinstance(parent, exp.In) and parent.this is column:
            for value in parent.expressions:
                self._mend_literal(column, family, value)
        else:
            self._mend_argument(column, family, parent)

    def _mend_argument(self, column: exp.Column, family: str, parent: exp.Expr | None) -> None:
        call = str(parent.this).upper() if isinstance(parent, exp.Anonymous) else ""
        is_date = isinstance(parent, exp.Extract) or call in _DATE_FUNCTIONS
        is_text = isinstance(parent, exp.Substring | exp.Trim) or call in _TEXT_FUNCTIONS
        if is_date and family == "text":
            self._cast(column, "TIMESTAMP", "it is a text, not a date")
        elif is_text and family in ("date", "number"):
            self._cast(column, "TEXT", f"it is not a text ({family})")
        elif call in ("SUM", "AVG") and family == "text":
            self._cast(column, "NUMERIC", "it is a text, not a number")

    def _mend_comparison(self, column: exp.Column, family: str, node: exp.Expr, view: View) -> None:
        other = node.expression if node.this is column else node.this
        beside = self._family(other, view)
        if {family, beside} == {"text", "number"} and family == "number":
            self._cast(column, "TEXT", f"it is a number, and {other.sql()} a text")
        elif not beside:
            self._mend_literal(column, family, other)

    def _mend_literal(self, column: exp.Column, family: str, value: exp.Expr) -> None:
        new: exp.Expr | None = None
        if family == "text" and isinstance(value, exp.Literal) and not value.is_string:
            new = exp.Literal.string(value.name)
        elif family == "boolean" and isinstance(value, exp.Literal) and value.name in ("0", "1"):
            new = exp.Boolean(this=value.name == "1")
        elif family == "number" and isinstance(value, exp.Boolean):
            new = exp.Literal.number(1 if value.this else 0)
        if new is not None:
            value.replace(new)
            self._note(f"{column.sql()}: it is a {family}; {new.sql()} instead of {value.sql()}")

    def _mend_round(self) -> None:
        """PostgreSQL rounds only decimal numbers to some places."""
        if "round(double precision" not in self._error.lower() and "round(real" not in self._error.lower():
            return
        for call in self._tree.find_all(exp.Anonymous):
            if str(call.this).upper() == "ROUND" and len(call.expressions) == 2:
                value = call.expressions[0]
                call.set("expressions", [exp.cast(value.copy(), "DECIMAL"), call.expressions[1]])
                self._note(f"ROUND: {self._dialect.title} rounds decimal numbers alone; {value.sql()} is converted")

    def _cast(self, column: exp.Column, to: str, why: str) -> None:
        column.replace(exp.cast(column.copy(), to))
        self._note(f"{column.sql()}: {why}; it is converted")

    def _note(self, why: str) -> None:
        self._changes.append(GroundingChange(GroundingRule.TYPE, why))
