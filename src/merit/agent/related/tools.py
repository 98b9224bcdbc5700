"""Tools that look at a query without a model: its names and joins, its execution, its values."""

import re
from collections.abc import Iterator

from sqlglot import exp

from merit.agent.behaviour import Moment
from merit.grounding import ground
from merit.grounding.parsing import parse_query
from merit.types import Schema

_MOST = 5  # findings of one kind


def findings(moment: Moment) -> list[str]:
    """What the tools say about the last attempt, a line each."""
    last = moment.attempts[-1]
    findings = [f"Execution: status {last.verdict.status}, message: {last.verdict.error or '(none)'}"]
    tree = parse_query(last.sql, moment.family.dialect)
    if tree is None:
        return [*findings, "Schema: the query cannot be parsed"]
    if moment.tables is not None:
        findings += [f"Schema: {line}" for line in _schema_lines(tree, moment.tables)]
        mended = ground(last.sql, moment.tables, moment.family.dialect, last.verdict)
        findings += [f"Schema: {change.why}" for change in (mended.changes if mended else ())][:_MOST]
    text = f"{moment.question.text} {moment.question.evidence or ''}"
    return findings + [f"Values: {line}" for line in _value_lines(tree, text)][:_MOST]


def _schema_lines(tree: exp.Query, schema: Schema) -> list[str]:
    tables = {table.name.lower(): table for table in schema.tables}
    columns = {column.name.lower() for table in schema.tables for column in table.columns}
    made = {name.lower() for node in tree.find_all(exp.CTE, exp.Alias) if (name := node.alias)}
    used = [table.name.lower() for table in tree.find_all(exp.Table)]
    lines = [f"there is no table {name!r}" for name in dict.fromkeys(used) if name not in tables and name not in made]
    named = dict.fromkeys(column.name.lower() for column in tree.find_all(exp.Column))
    lines += [f"there is no column {name!r}" for name in named if name and name not in columns | made]
    known = [name for name in dict.fromkeys(used) if name in tables]
    for name in known[1:]:
        others = [other for other in known if other != name]
        if not any(_linked(schema, name, other) for other in others):
            lines.append(f"no foreign key joins {name!r} to {' or '.join(map(repr, others))}")
    return lines[:_MOST]


def _linked(schema: Schema, one: str, other: str) -> bool:
    """Whether a foreign key leads from one table to the other, either way."""
    targets = {
        (table.name.lower(), target.rpartition(".")[0].lower())
        for table in schema.tables
        for column in table.columns
        for target in column.foreign_keys
    }
    return (one, other) in targets or (other, one) in targets


def _value_lines(tree: exp.Query, text: str) -> Iterator[str]:
    words = " ".join(re.findall(r"\w+", text.lower()))
    for literal in tree.find_all(exp.Literal):
        value = " ".join(re.findall(r"\w+", str(literal.this).lower()))
        counts_rows = isinstance(literal.parent, exp.Limit | exp.Offset)
        if value and not counts_rows and value not in words:
            yield f"{literal.sql()} is in neither the question nor its evidence"
