"""The guard: whether a statement only reads, told from its text before a server sees it.

It is one layer of several: the engine's own read-only mode and the role's privileges stand behind it. Nothing but
`refusal`, what it returns and the lists (`listed`) is used from outside.

`lexer` reads the characters strictly, `statements` takes one query, `parsing` has sqlglot parse it under a deadline and
compares both readings, `nodes` walks the tree, `functions` and `tables` look at names, `names` holds the lists. Its
corpora are in `corpus/`.
"""

from collections.abc import Callable

from merit.sql.guard.functions import check_functions, unknown
from merit.sql.guard.lexer import read
from merit.sql.guard.names import names as listed
from merit.sql.guard.nodes import check_nodes
from merit.sql.guard.parsing import parse
from merit.sql.guard.refused import Refused, UnknownCall, unknown_call
from merit.sql.guard.statements import one_query
from merit.sql.guard.tables import check_tables
from merit.types import Error

__all__ = ["UnknownCall", "listed", "refusal"]


def refusal(sql: str, dialect: str, volatile: Callable[[str], bool | None] = unknown) -> Error | None:
    """Why the statement may not run, or None where it may.

    `dialect` is a key of `merit.types.DIALECTS`. `volatile(name)` answers from the server's catalogue whether any
    function of this name is volatile or writes, but for the server's own of the list `harmless`; None where there is
    none. The name comes without its schema and as the server folds it: in lower case, but for quoted names on
    PostgreSQL.
    """
    try:
        pieces = read(sql, dialect)
        lexemes = one_query(pieces, dialect)
        tree = parse(sql, pieces, dialect)
        check_nodes(tree)
        unlisted = check_functions(lexemes, tree, dialect, volatile)
        check_tables(tree, dialect)
    except Refused as refused:
        return Error(refused.cause, refused.message)
    return unknown_call(unlisted) if unlisted is not None else None
