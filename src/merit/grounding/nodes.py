"""Small questions about a parsed query, and small changes to it."""

from sqlglot import exp

from merit.grounding.scopes import Source, View


def is_text(column: exp.Column) -> bool:
    """A name in double quotes that is not a column's: SQLite reads it as a text."""
    return bool(column.this.args.get("quoted")) and not column.table


def is_merged(select: exp.Select, name: str) -> bool:
    """Whether a join merges the columns of this name: USING or NATURAL."""
    for join in select.args.get("joins") or []:
        if join.args.get("method") == "NATURAL" or name in {u.name.lower() for u in join.args.get("using") or []}:
            return True
    return False


def is_alias_there(column: exp.Column, view: View) -> bool:
    """Whether a name stands where the name of a result comes before a table's column."""
    return column.name.lower() in view.aliases and column.find_ancestor(exp.Order, exp.Group, exp.Having) is not None


def seen_outside(view: View, name: str) -> bool:
    """Whether a view, or one around it, has a column of this name."""
    return bool(view.holders(name)) or view.is_open() or (view.outer is not None and seen_outside(view.outer, name))


def other_side(column: exp.Column) -> exp.Column | None:
    """The column that this one is compared with in a join's condition."""
    parent = column.parent
    if not isinstance(parent, exp.EQ) or column.find_ancestor(exp.Join, exp.Select, exp.Where) is None:
        return None
    if not isinstance(column.find_ancestor(exp.Join, exp.Select, exp.Where), exp.Join):
        return None
    other = parent.expression if parent.this is column else parent.this
    return other if isinstance(other, exp.Column) and other.table else None


_RESERVED = frozenset(
    [
        "all",
        "case",
        "check",
        "default",
        "desc",
        "distinct",
        "else",
        "end",
        "from",
        "group",
        "having",
        "index",
        "join",
        "left",
        "limit",
        "order",
        "primary",
        "references",
        "right",
        "select",
        "set",
        "table",
        "then",
        "to",
        "transaction",
        "union",
        "unique",
        "user",
        "using",
        "values",
        "when",
        "where",
    ]
)


def named(name: str) -> exp.Identifier:
    """A name of the schema, as grounding puts it into a query."""
    identifier = exp.to_identifier(name, quoted=must_quote(name))
    identifier.meta["ours"] = True
    return identifier


def is_ours(identifier: exp.Identifier) -> bool:
    """Whether grounding has put a name in."""
    return bool(identifier.meta.get("ours"))


def qualify(column: exp.Column, source: Source) -> None:
    """Say which source a column is of."""
    column.set("table", exp.to_identifier(source.name, quoted=must_quote(source.name)))
    column.set("db", None)


def point(column: exp.Column, qualifier: str, name: str) -> None:
    """Make a column another one."""
    column.set("this", named(name))
    column.set("table", exp.to_identifier(qualifier, quoted=must_quote(qualifier)))


def must_quote(name: str) -> bool:
    """Whether a name can be written only in quotes."""
    return not name.isidentifier() or not name.isascii() or name.lower() in _RESERVED


def called(source: Source) -> str:
    """A source for people: its alias, and the table behind it."""
    if source.table is None or source.table == source.name.lower():
        return source.name
    return f"{source.name} ({source.table})"
