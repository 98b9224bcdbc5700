"""Which kinds of sqlglot's nodes a query may consist of, and the walk over all of them."""

from functools import cache

from sqlglot import exp

from merit.sql.guard.names import names
from merit.sql.guard.refused import Refused, shown
from merit.types import Cause

# What a statement may be as a whole.
_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values, exp.Pivot)
# Every function is a node too; which of them may be called is decided by name (functions.py).
_FAMILIES = (exp.Func, exp.Binary, exp.Unary, exp.SetOperation, exp.JSONPathPart)
_NOT_FUNCTIONS = (exp.NextValueFor,)  # it advances a sequence, and needs no brackets
_WRITES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.TruncateTable, exp.Copy)
_IN_WORDS: dict[type[exp.Expr], str] = {
    exp.Into: "SELECT ... INTO writes a table, a file or a variable",
    exp.Lock: "FOR UPDATE, FOR SHARE and LOCK IN SHARE MODE take locks",
    exp.NextValueFor: "NEXT VALUE FOR advances a sequence",
}


@cache
def _kinds() -> frozenset[type]:
    return frozenset(getattr(exp, name) for name in names("nodes") if hasattr(exp, name))


def check_nodes(tree: exp.Expr) -> None:
    """Walk over the whole tree; raises Refused at the first node that a query may not have."""
    for node in tree.walk():
        kind = type(node)
        if kind in _kinds() or (isinstance(node, _FAMILIES) and not isinstance(node, _NOT_FUNCTIONS)):
            continue
        if kind in _IN_WORDS or isinstance(node, _WRITES):
            reason = _IN_WORDS.get(kind, f"{kind.__name__.upper()} writes")
            raise Refused(Cause.READ_ONLY, f"{reason}; only queries that read may run")
        raise Refused(Cause.FORBIDDEN, f"this kind of expression is not allowed: {shown(kind.__name__)}")
    if not isinstance(tree, _QUERIES):
        raise Refused(Cause.STATEMENTS, "only queries (SELECT, WITH, VALUES) may run")
