"""Snowflake Cortex Analyst: the list `verified_queries` of a semantic model in YAML.

Its SQL names the model's logical tables, as `__orders`; they are spelled out here as common table expressions.
https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-analyst/verified-query-repository
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from merit.errors import InputError
from merit.formats.names import unique_names
from merit.formats.pair import Document, FoundPairs, Pair, SkippedPair, found, pair_of
from merit.formats.yaml_items import MOST_EVENTS, items_in
from merit.yaml import parse_yaml, yaml_text

LIST = "verified_queries"
_COLUMN_LISTS = ("dimensions", "time_dimensions", "facts", "measures")
_ALL_COLUMNS = re.compile(r"\bselect\s+(distinct\s+)?\*|\.\*", re.IGNORECASE)
_WITH = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*+with\s+(?:recursive\s+)?", re.IGNORECASE | re.DOTALL)


def read_cortex_queries(documents: Sequence[Document]) -> FoundPairs:
    """The verified queries of semantic models."""
    return found(item for document in documents for item in _items(document))


def _items(document: Document) -> Iterator[Pair | SkippedPair]:
    model = parse_yaml(document.text, document.path, most_events=MOST_EVENTS)
    if not isinstance(model, dict) or LIST not in model:
        raise InputError(f"{document.path}: has no list {LIST!r}, as a semantic model of Cortex has")
    tables = [table for _, table in items_in(model, "tables", document)]
    for where, query in items_in(model, LIST, document):
        sql = query.get("sql")
        yield pair_of(
            query.get("question"),
            _spelled_out(sql, tables, document) if isinstance(sql, str) else sql,
            where,
            author=query.get("verified_by"),
            time=_as_time(query.get("verified_at")),
        )


def _spelled_out(sql: str, tables: list[dict[str, Any]], document: Document) -> str:
    """The SQL, with what it calls logical tables defined before it."""
    words = {word.casefold() for word in re.findall(r"\w+", sql)}
    definitions = []
    for table in tables:
        name, base = table.get("name"), table.get("base_table")
        physical = base.get("table") if isinstance(base, dict) else None
        if not isinstance(name, str) or not isinstance(physical, str):
            continue
        prefixed = f"__{name}"
        if prefixed.casefold() in words:
            definitions.append(f"{prefixed} AS ({_selected(table, physical, sql, words, document)})")
        elif name.casefold() in words and name.casefold() != physical.casefold():
            definitions.append(f"{name} AS ({_selected(table, physical, sql, words, document)})")
    if not definitions:
        return sql
    opening = _WITH.match(sql)
    if opening is None:
        return f"WITH {', '.join(definitions)} {sql}"
    return f"{opening[0]}{', '.join(definitions)}, {sql[opening.end() :]}"


def _selected(table: dict[str, Any], physical: str, sql: str, words: set[str], document: Document) -> str:
    """A logical table as a query: the columns that a statement uses, by their logical names."""
    every = _ALL_COLUMNS.search(sql) is not None
    columns = []
    for kind in _COLUMN_LISTS:
        for _, column in items_in(table, kind, document):
            name, expression = column.get("name"), column.get("expr") or column.get("name")
            if isinstance(name, str) and isinstance(expression, str) and (every or name.casefold() in words):
                same = name.casefold() == expression.casefold()
                columns.append(name if same else f"{expression} AS {name}")
    return f"SELECT {', '.join(columns) or '*'} FROM {physical}"


def _as_time(seconds: object) -> str:
    """Seconds since 1970 as ISO 8601; empty for anything else."""
    if not isinstance(seconds, str) or not re.fullmatch("[0-9]{1,11}", seconds):
        return ""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat(timespec="seconds")


def write_cortex_queries(pairs: Sequence[Pair]) -> dict[str, str]:
    """The list of verified queries, to be put into a semantic model."""
    names = unique_names((pair.question for pair in pairs), "_")
    queries = [_query(name, pair) for name, pair in zip(names, pairs, strict=True)]
    return {"": yaml_text({LIST: queries})}


def _query(name: str, pair: Pair) -> dict[str, str | int]:
    query: dict[str, str | int] = {"name": name, "question": pair.question, "sql": pair.sql}
    with suppress(ValueError, OverflowError):  # a time that is none says nothing
        query["verified_at"] = int(datetime.fromisoformat(pair.time).timestamp())
    if pair.author:
        query["verified_by"] = pair.author
    return query
