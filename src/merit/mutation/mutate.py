"""Mutants of a query: the same query with one mistake in it."""

import sqlite3

import sqlglot
from sqlglot import exp

from merit.bundled import read_shapes
from merit.mutation.changes import Change, Tables, changes, padding
from merit.oracle.rewrite import rewrite_keeping_distinct

ENOUGH = 30  # a query with fewer gets cruder ones too
MOST = 150  # of one query, so that a check stays short; they are spread over all its parts


def mutants(sql: str, db: sqlite3.Connection) -> list[str]:
    """Different mutants of `sql` that a database accepts."""
    tree = sqlglot.parse_one(sql, dialect="sqlite")
    tables = Tables(read_shapes(db), tree)
    by_text: dict[str, str] = {}
    for position, node in enumerate(tree.walk()):
        for change in changes(node, tables):
            _add(by_text, _changed(tree, position, change), db)
    by_text.pop(_plain(written(tree)), None)
    for change in padding(tree, tables):
        if len(by_text) < ENOUGH:
            _add(by_text, _changed(tree, 0, change), db)
    return _spread(list(by_text.values()))


def written(tree: exp.Expr) -> str:
    """A tree as SQLite reads it."""
    return tree.sql(dialect="sqlite")


def _changed(tree: exp.Expr, position: int, change: Change) -> str:
    copy = tree.copy()
    target = next(node for number, node in enumerate(copy.walk()) if number == position)
    replacement = change(target)
    if replacement is None or replacement is target:
        return written(copy)
    if target is copy:
        return written(replacement.copy())
    target.replace(replacement.copy())
    return written(copy)


def _add(by_text: dict[str, str], text: str, db: sqlite3.Connection) -> None:
    plain = _plain(text)
    if plain in by_text:
        return
    try:
        db.execute(f"EXPLAIN {plain}").close()
    except sqlite3.Error:
        return
    by_text[plain] = text


def _plain(text: str) -> str:
    """What the benchmark's rule leaves of a text."""
    return " ".join(rewrite_keeping_distinct(text).split())


def _spread(texts: list[str]) -> list[str]:
    """At most MOST of them, evenly spread over the query."""
    if len(texts) <= MOST:
        return texts
    return [texts[number * len(texts) // MOST] for number in range(MOST)]
