"""From a query that a database refused to one that its schema allows."""

import re

from merit.grounding.aggregates import AggregateMender
from merit.grounding.casts import CastMender
from merit.grounding.columns import Mender
from merit.grounding.dialects import ENGINE_DIALECTS, EngineDialect
from merit.grounding.finding import TooManyNames
from merit.grounding.functions import FunctionMender
from merit.grounding.graph import SchemaGraph, graph_of
from merit.grounding.parsing import is_too_long
from merit.grounding.qualified import fold, unfold
from merit.grounding.quotes import mend_case, mend_texts
from merit.grounding.reading import Reader
from merit.sql.parser import UNREADABLE
from merit.types import Schema, Status, Verdict
from merit.types.grounding import Grounded, GroundingRule

# Larger queries are not looked at: they would take seconds, and no model's answer is as large.
_MOST_SELECTS = 40
_DEEPEST = 25  # parentheses within each other
_MOST_PARENTHESES = 500
_NESTED_CALLS = re.compile(r"\b(?:\w+\s*\(\s*){8}")  # sqlglot takes twice as long for each YEAR(YEAR(...
ALL_RULES = frozenset(GroundingRule)
_REFUSED_NAME = re.compile(r"""(?:no such column:|Unknown column|Reference|column)\s+["'`]?([\w.]+)""")


def ground(
    sql: str, schema: Schema, dialect: str, outcome: Verdict, rules: frozenset[GroundingRule] = ALL_RULES
) -> Grounded | None:
    """The query with its names set right; None where there is nothing to do, or more than the schema can tell.

    A query that ran is left alone.
    """
    if outcome.status is not Status.EXECUTION_ERROR or _is_too_large(sql):
        return None
    try:
        return _ground(sql, graph_of(schema), ENGINE_DIALECTS[dialect], rules, outcome.error or "")
    except (*UNREADABLE, TooManyNames):
        return None


def _ground(
    sql: str, graph: SchemaGraph, dialect: EngineDialect, rules: frozenset[GroundingRule], error: str
) -> Grounded | None:
    reader = Reader(dialect, graph, rules, error)
    tree = reader.read(sql)
    if tree is None:
        return None
    changes = reader.changes
    if graph.has_schemas:
        changes += fold(tree, graph, rules)
    if GroundingRule.FUNCTION in rules:
        changes += FunctionMender(tree, dialect, graph).mend()
    if GroundingRule.QUOTES in rules:
        changes += mend_texts(tree, dialect, graph, _refused_name(error))
    named = Mender(tree, graph, rules, dialect, _refused_name(error)).mend()
    if named is None:
        return None
    changes += named
    changes += mend_case(tree, dialect, graph, ours_alone=GroundingRule.QUOTES not in rules)
    if GroundingRule.AGGREGATE in rules:
        changes += AggregateMender(tree, dialect, error).mend()
    if GroundingRule.TYPE in rules:
        changes += CastMender(tree, dialect, graph, error).mend()
    if graph.has_schemas:
        unfold(tree, graph)
    return Grounded(dialect.write(tree), tuple(changes)) if changes else None


def _is_too_large(sql: str) -> bool:
    if is_too_long(sql) or sql.count("(") > _MOST_PARENTHESES or _NESTED_CALLS.search(sql):
        return True
    if sql.lower().count("select") > _MOST_SELECTS:
        return True
    depth = deepest = 0
    for character in sql:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    return deepest > _DEEPEST


def _refused_name(error: str) -> str:
    """The column that a database's message names, in lower case."""
    found = _REFUSED_NAME.search(error)
    return found[1].lower() if found else ""
