"""How alike two questions or two queries are once what belongs to their databases is masked."""

import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"[a-z]+|[0-9][0-9.]*|'[^']*'|\"[^\"]*\"", re.IGNORECASE)
_SQL = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|[a-z_][a-z_0-9$]*|[0-9][0-9.]*|[<>!=|]+|\S", re.IGNORECASE)
_WORDS = """select distinct from where group by having order limit offset join left right inner outer full cross natural
on using and or not in is null like glob between exists case when then else end union intersect except all as asc desc
with recursive over partition count sum avg min max abs round cast substr strftime length coalesce ifnull iif"""
_KEYWORDS = frozenset(_WORDS.split())
_PLACE = "_"  # stands for a name or a value


def masked(question: str, schema: str) -> list[str]:
    """A question's words; those of the schema and all values are masked."""
    names = set(re.findall(r"[a-z]+", schema.lower()))
    words = []
    for word in _WORD.findall(question.lower()):
        value = not word.isalpha()
        singular = word.removesuffix("s")
        words.append("<value>" if value else "<schema>" if {word, singular} & names else word)
    return words


def skeleton(sql: str) -> list[str]:
    """A query's keywords and operators; a run of names and values is one place."""
    tokens: list[str] = []
    for token in _SQL.findall(sql.lower().rstrip("; \n")):
        plain = token if token in _KEYWORDS or not re.match(r"[\w'\"`.,]", token) else _PLACE
        if plain != _PLACE or tokens[-1:] != [_PLACE]:
            tokens.append(plain)
    return tokens


def overlap(one: Iterable[str], other: Iterable[str]) -> float:
    """The Jaccard similarity of two lists of words, each word as often as it occurs, from 0 to 1."""
    mine, theirs = Counter(one), Counter(other)
    either = (mine | theirs).total()
    return (mine & theirs).total() / either if either else 0.0
