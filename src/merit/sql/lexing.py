r"""The tokens of PostgreSQL, MySQL, MariaDB and DuckDB, and the form in which two of their queries are compared.

Two forms are the same only where the engine certainly reads the same. Where the reading depends on a setting that the
text does not show, or on a rule that is not followed here, the rest of the text is taken letter by letter:
- a quote after a backslash: standard_conforming_strings and NO_BACKSLASH_ESCAPES decide whether it ends the text;
- comments with a meaning (optimizer hints, MySQL's `/*! ... */`), comments and quotes that are never closed;
- a dollar sign that begins neither a quoted text nor a numbered parameter;
- a comment directly after `::`, which DuckDB refuses.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_WORD = r"0-9A-Za-z_$\x80-\U0010ffff"
_LAYOUT = r"[ \t\n\f\r]+"
_LINE_COMMENT = r"[^\r\n]*(?=\r?\n|\Z)"  # engines differ on whether a lone carriage return ends it
# Where both readings of a backslash give the same end.
_TEXT = r"'(?:[^'\\]|''|\\\\|\\(?=[^'\\]))*+'"
_NUMBER = r"(?:[0-9]|\.[0-9])(?:(?<=[0-9.])[eE][+-]|[0-9A-Za-z_.\x80-\U0010ffff])*"

_PREFIX = rf"(?:[uU]&|(?:[0-9A-Za-z_\x80-\U0010ffff][{_WORD}]*+)?)"  # of a quote: `x'41'` and `x '41'` differ

_POSTGRESQL_TOKEN = rf"""
    (?P<layout> {_LAYOUT} | --{_LINE_COMMENT} )
    | (?P<comment> /\*(?!\+) )
    | (?P<quoted>
        [eE]'(?:[^'\\]|''|\\.)*+'
        | {_PREFIX}(?: {_TEXT} | "(?:[^"]|"")*+" )
        | \$(?P<tag>(?:[A-Za-z_\x80-\U0010ffff][0-9A-Za-z_\x80-\U0010ffff]*)?)\$.*?\$(?P=tag)\$ )
    | (?P<rest> (?: {_PREFIX}['"] | -- | /\* | ::(?:--|/\*) | \$(?![0-9]) ).* )
    | (?P<word> \$[0-9]+ | {_NUMBER} | [{_WORD}]+ )
    | (?P<operator> (?:(?!--|/\*)[-+*/<>=~!@\#%^&|`?])++ )
    | (?P<sign> :: | := | \.\. | . )
"""
_MYSQL_TOKEN = rf"""
    (?P<layout> {_LAYOUT} | (?:\#|--(?=[ \t\n\f\r]|\Z)){_LINE_COMMENT} | /\*(?![!+M])(?:[^*/]|\*(?!/)|/(?!\*))*+\*/ )
    | (?P<quoted> [@{_WORD}.]*+ (?: {_TEXT} | {_TEXT.replace("'", '"')} | `(?:[^`]|``)*+` ) )
    | (?P<rest> (?: [@{_WORD}.]*+['"`] | \# | --(?=[\x00-\x20]|\Z) | /\* ).* )
    | (?P<word> {_NUMBER}[{_WORD}.]* | [@{_WORD}.]++ )
    | (?P<sign> <=> | << | >> | <= | >= | <> | != | := | ->>? | \|\| | && | . )
"""

# Reserved in MySQL, MariaDB and DuckDB alike: where one of these stands, it is not a name, so its case does not matter.
_RESERVED = frozenset(
    {"all", "and", "as", "asc", "by", "case", "cross", "desc", "distinct", "else", "false", "from", "group", "having"}
    | {"in", "inner", "is", "join", "left", "like", "limit", "natural", "not", "null", "on", "or", "order", "outer"}
    | {"right", "select", "then", "true", "union", "using", "when", "where", "with"}
)
_BEFORE_BY = ("group", "order")  # after these, `by` is not a name
_NAME_SIGNS = (":", ":=", "=>")  # before these stands the name of a field or an argument, even a reserved word
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_SPECIAL_OPERATORS = frozenset("~!@#%^&|`?")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """How one engine reads a text."""

    token: str  # the pattern of one token
    folds_names: bool  # whether the case of plain names makes no difference anywhere, not even in results
    calls_touch: bool  # whether `name(` and `name (` may differ
    cuts_end: bool  # whether semicolons and layout are cut off the end, even those that are part of a comment

    def canonical(self, sql: str) -> str:
        """The form in which two queries are compared."""
        spellings: list[str] = []
        last_kind, last_start, last_end = "", 0, 0
        for kind, start, end in self._tokens(sql):
            if last_kind == "quoted" and kind in ("quoted", "rest"):
                spellings.append(sql[last_end:start])  # PostgreSQL joins two texts with a line end between them
            if last_kind == "word" and sql[start:end] in _NAME_SIGNS and not self.folds_names:
                spellings[-1] = sql[last_start:last_end]
            spellings += self._spell(kind, sql[start:end], sql[end : end + 1], spellings[-1:])
            last_kind, last_start, last_end = kind, start, end
        if self.cuts_end and (spellings.count(";") > 1 or sql.rstrip("; \t\n\v\f\r").endswith("--")):
            return sql
        return " ".join(spellings[:-1] if spellings[-1:] == [";"] else spellings)

    def _tokens(self, sql: str) -> Iterator[tuple[str, int, int]]:
        """Kind, start and end of every token but layout and comments."""
        token, start = _compiled(self.token), 0
        while match := token.match(sql, start):
            kind, end = str(match.lastgroup), match.end()
            if kind == "comment":
                kind, end = _nested_comment(sql, start)
            if kind != "layout":
                yield kind, start, end
            start = end

    def _spell(self, kind: str, text: str, following: str, before: list[str]) -> list[str]:
        """A token's spelling, given the character after it and the spelling before it (none at the beginning)."""
        if kind == "operator":
            return _operators(text)
        if kind == "word" and self.folds_names:
            return [text.lower() if text.isascii() else text]
        if kind == "word":
            return [_spell_word(text, following, "".join(before), self.calls_touch)]
        return ["!=" if text == "<>" else text]


def _spell_word(text: str, following: str, before: str, calls_touch: bool) -> str:
    """A word as it is, but for reserved words that stand where no name can."""
    word = text.lower()
    if word in _RESERVED and before not in (".", "as") and (word != "by" or before in _BEFORE_BY):
        return word
    return f"{text}(" if calls_touch and following == "(" else text


def _nested_comment(sql: str, start: int) -> tuple[str, int]:
    """Where a comment ends in which others may be nested; one that is never closed is the rest of the text."""
    depth = 0
    for edge in _COMMENT_EDGE.finditer(sql, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return "layout", edge.end()
    return "rest", len(sql)


def _operators(text: str) -> list[str]:
    """PostgreSQL's rule: a sign at the end of an operator is one of its own, unless a special character is in it."""
    core = text if _SPECIAL_OPERATORS & set(text) else text[:1] + text[1:].rstrip("+-")
    return ["!=" if core == "<>" else core, *text[len(core) :]]


@cache
def _compiled(token: str) -> re.Pattern[str]:
    """Compiled when first needed: it takes longer than the rest of what a process that runs SQLite imports."""
    return re.compile(token, re.VERBOSE | re.DOTALL)


POSTGRESQL = Lexicon(_POSTGRESQL_TOKEN, folds_names=True, calls_touch=False, cuts_end=False)
# DuckDB reads like PostgreSQL, but shows names as they were written in structs.
DUCKDB = Lexicon(_POSTGRESQL_TOKEN, folds_names=False, calls_touch=False, cuts_end=False)
# Names of tables depend on the server's file system; MariaDB reads like MySQL.
MYSQL = Lexicon(_MYSQL_TOKEN, folds_names=False, calls_touch=True, cuts_end=True)
