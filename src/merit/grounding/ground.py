"""From a query that a database refused to one that its schema allows."""

import re

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from merit.grounding.change import Grounded, Rule
from merit.grounding.columns import Mender
from merit.grounding.graph import graph_of
from merit.types import Schema, Status, Verdict

_LONGEST_SQL = 20_000  # characters; longer ones are not looked at
_DIALECTS = {"sqlite": "sqlite", "postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql", "duckdb": "duckdb"}
ALL_RULES = frozenset(Rule)
_REFUSED_NAME = re.compile(r"""(?:no such column:|Unknown column|column)\s+["'`]?([\w.]+)""")


def ground(
    sql: str, schema: Schema, dialect: str, outcome: Verdict, rules: frozenset[Rule] = ALL_RULES
) -> Grounded | None:
    """The query with its names set right; None where there is nothing to do, or more than the schema can tell.

    A query that ran is left alone.
    """
    if outcome.status is not Status.EXECUTION_ERROR or len(sql) > _LONGEST_SQL:
        return None
    name = _DIALECTS[dialect]
    try:
        tree = parse_one(sql, read=name)
        if not isinstance(tree, exp.Query):
            return None
        changes = Mender(tree, graph_of(schema), rules, _refused_name(outcome.error or "")).mend()
        return Grounded(tree.sql(dialect=name), tuple(changes)) if changes else None
    except (SqlglotError, RecursionError):
        return None


def _refused_name(error: str) -> str:
    """The column that a database's message names, in lower case."""
    found = _REFUSED_NAME.search(error)
    return found[1].lower() if found else ""
