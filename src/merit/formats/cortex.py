"""Snowflake Cortex Analyst: the list `verified_queries` of a semantic model in YAML.

Its SQL names the model's logical tables, as `__orders`; they are spelled out here as common table expressions.
https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-analyst/verified-query-repository
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from merit.errors import InputError
from merit.formats.names import unique_names
from merit.formats.pair import Document, FoundPairs, Pair, SkippedPair, found, pair_of
from merit.formats.yaml_items import MOST_EVENTS, items_in
from merit.reading import DOCUMENT_BYTES, MIB, shown
from merit.yaml import parse_yaml, yaml_text

LIST = "verified_queries"
_COLUMN_LISTS = ("dimensions", "time_dimensions", "facts", "measures")
_ALL_COLUMNS = re.compile(r"\bselect\s+(distinct\s+)?\*|\.\*", re.IGNORECASE)
_WITH = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*+with\s+(?:recursive\s+)?", re.IGNORECASE | re.DOTALL)
_LONGEST = 100_000  # characters; as Limits.sql_bytes: a longer statement never runs
_MOST_SPELLED_OUT = DOCUMENT_BYTES  # of all queries together


def read_cortex_queries(documents: Sequence[Document]) -> FoundPairs:
    """The verified queries of semantic models."""
    return found(item for document in documents for item in _items(document))


def _items(document: Document) -> Iterator[Pair | SkippedPair]:
    model = parse_yaml(document.text, document.path, most_events=MOST_EVENTS)
    if not isinstance(model, dict) or LIST not in model:
        raise InputError(f"{document.path}: has no list {LIST!r}, as a semantic model of Cortex has")
    tables = _tables(model, document)
    left = _MOST_SPELLED_OUT
    for where, query in items_in(model, LIST, document):
        sql = query.get("sql")
        try:
            spelled_out = _spelled_out(sql, tables) if isinstance(sql, str) else sql
        except _NotSpelledOut as error:
            yield SkippedPair(where, str(error))
            continue
        left -= len(spelled_out) if isinstance(spelled_out, str) and spelled_out is not sql else 0
        if left < 0:
            most = _MOST_SPELLED_OUT // MIB
            raise InputError(
                f"{where}: with their tables spelled out, the queries have more than {most} MiB; split them"
            )
        yield pair_of(
            query.get("question"),
            spelled_out,
            where,
            author=query.get("verified_by"),
            time=_as_time(query.get("verified_at")),
        )


class _NotSpelledOut(Exception):
    """Why the tables of a query cannot be defined before it."""


@dataclass(frozen=True, eq=False)
class _Table:
    """A logical table. What queries take of it is put together once: many queries may name it."""

    place: int  # in the model
    name: str
    physical: str
    listed: dict[str, Any]
    document: Document

    @cached_property
    def columns(self) -> dict[str, tuple[int, str]]:
        """How columns are selected, each with its place, by their logical names in lower case."""
        texts: dict[str, list[str]] = {}
        for kind in _COLUMN_LISTS:
            for _, column in items_in(self.listed, kind, self.document):
                name, expression = column.get("name"), column.get("expr") or column.get("name")
                if isinstance(name, str) and isinstance(expression, str):
                    same = name.casefold() == expression.casefold()
                    texts.setdefault(name.casefold(), []).append(name if same else f"{expression} AS {name}")
        return {name: (place, ", ".join(listed)) for place, (name, listed) in enumerate(texts.items())}

    @cached_property
    def every_column(self) -> str:
        """All of them, as they are selected."""
        return ", ".join(text for _, text in self.columns.values())

    def definition(self, name: str, words: set[str], every: bool) -> list[str]:
        """The table as a query under a name, in pieces: the columns that a statement uses, by their logical names."""
        if every:
            selected = [self.every_column or "*"]
        else:
            used = sorted(self.columns[word] for word in self.columns.keys() & words)
            selected = [piece for _, text in used for piece in (", ", text)][1:] or ["*"]
        return [name, " AS (SELECT ", *selected, " FROM ", self.physical, ")"]


def _tables(model: dict[str, Any], document: Document) -> dict[str, list[_Table]]:
    """The logical tables, by each word that stands for one in a query."""
    tables: dict[str, list[_Table]] = {}
    for place, (_, listed) in enumerate(items_in(model, "tables", document)):
        name, base = listed.get("name"), listed.get("base_table")
        physical = base.get("table") if isinstance(base, dict) else None
        if not isinstance(name, str) or not isinstance(physical, str):
            continue
        table = _Table(place, name, physical, listed, document)
        tables.setdefault(f"__{name}".casefold(), []).append(table)
        if name.casefold() != physical.casefold():
            tables.setdefault(name.casefold(), []).append(table)
    return tables


def _spelled_out(sql: str, tables: dict[str, list[_Table]]) -> str:
    """The SQL, with what it calls logical tables defined before it."""
    words = {word.casefold() for word in re.findall(r"\w+", sql)}
    named: dict[int, _Table] = {}
    for word in words & tables.keys():
        if len(tables[word]) > 1:
            raise _NotSpelledOut(f"names the table {shown(word)}, which the model defines more than once")
        named[tables[word][0].place] = tables[word][0]
    if not named:
        return sql
    every, opening = _ALL_COLUMNS.search(sql) is not None, _WITH.match(sql)
    pieces = [opening[0] if opening else "WITH "]
    for number, (_, table) in enumerate(sorted(named.items())):
        name = f"__{table.name}" if f"__{table.name}".casefold() in words else table.name
        pieces += [", "] if number else []
        pieces += table.definition(name, words, every)
    pieces += [", ", sql[opening.end() :]] if opening else [" ", sql]
    if sum(map(len, pieces)) > _LONGEST:  # before they are put together: few tables can make many long statements
        raise _NotSpelledOut(f"its SQL has more than {_LONGEST} characters with its tables spelled out")
    return "".join(pieces)


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
