"""Mutants of a query: the same query with one mistake in it."""

import sqlite3

import sqlglot
from sqlglot import exp

from merit.bundled import read_shapes
from merit.mutation.changes import Change, Tables, changes, padding
from merit.oracle.rewrite import rewrite

ENOUGH = 30  # a query with fewer gets cruder ones too
MOST = 60  # of a query; of every part of it some, and a check that ends while one waits


def mutants(sql: str, db: sqlite3.Connection) -> list[str]:
    """Different mutants of `sql` that a database accepts."""
    tree = sqlglot.parse_one(sql, dialect="sqlite")
    tables = Tables(read_shapes(db), tree)
    found: dict[str, str] = {}
    for place, node in enumerate(tree.walk()):
        for change in changes(node, tables):
            _add(found, _changed(tree, place, change), db)
    found.pop(_plain(written(tree)), None)
    for change in padding(tree, tables):
        if len(found) < ENOUGH:
            _add(found, _changed(tree, 0, change), db)
    return _spread(list(found.values()))


def written(tree: exp.Expr) -> str:
    """A tree as SQLite reads it."""
    return tree.sql(dialect="sqlite")


def _changed(tree: exp.Expr, place: int, change: Change) -> str:
    copy = tree.copy()
    target = next(node for number, node in enumerate(copy.walk()) if number == place)
    replacement = change(target)
    if replacement is None or replacement is target:
        return written(copy)
    if target is copy:
        return written(replacement.copy())
    target.replace(replacement.copy())
    return written(copy)


def _add(found: dict[str, str], text: str, db: sqlite3.Connection) -> None:
    plain = _plain(text)
    if plain in found:
        return
    try:
        db.execute(f"EXPLAIN {plain}").close()
    except sqlite3.Error:
        return
    found[plain] = text


def _plain(text: str) -> str:
    """What Spider's rule leaves of a text."""
    return " ".join(rewrite(text).split())


def _spread(texts: list[str]) -> list[str]:
    """At most so many, from all over the query."""
    if len(texts) <= MOST:
        return texts
    return [texts[place * len(texts) // MOST] for place in range(MOST)]
