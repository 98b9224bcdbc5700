r"""A strict reading of a statement's characters: quotes, comments and words where every reading agrees, else refused.

A server's settings (ANSI_QUOTES, NO_BACKSLASH_ESCAPES, standard_conforming_strings), its version and sqlglot differ in
where a quote or a comment ends. What they could disagree about is refused here, before anything is parsed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from merit.sql.guard.refused import Refused, shown
from merit.types import Cause

CHARACTERS = 100_000  # as Limits.sql_bytes
TOKENS = 10_000  # sqlglot takes about a second for as many
_MYSQL = ("mysql", "mariadb")
_POSTGRES_LIKE = ("postgresql", "duckdb")

_WORD = re.compile(r"[^\W\d][\w$]*")
_NUMBER = re.compile(r"0[xX][0-9A-Fa-f]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPACE = re.compile(r"[ \t\n\r]+")
_DOLLAR_QUOTE = re.compile(r"\$([A-Za-z_][A-Za-z_0-9]*)?\$")
_SIGN = re.compile(r"<=>|->>|#>>|\|\||::|:=|=>|->|<=|>=|<>|!=|[!-/:-@\[-`{-~]")
_HEX_OR_TEXT_PREFIX = ("b", "e", "n", "x")
_INTRODUCER = re.compile(r"_[a-z0-9]+\Z")
_EXECUTED = re.compile(r"[A-Za-z]?!")  # MySQL's /*!, MariaDB's /*M!, TiDB's /*T!
_UNTERMINATED = "the statement does not parse: a quote or a comment is never closed"


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A piece of a statement: `word`, `name` (a quoted name), `text` (a literal), `number`, `sign`, or `comment`."""

    kind: str
    text: str  # a word in lower case, a name without its quotes, everything else as it stands
    start: int
    end: int

    def is_sign(self, sign: str) -> bool:
        """Whether it is this sign, outside all quotes."""
        return self.kind == "sign" and self.text == sign


def read(sql: str, dialect: str) -> list[Lexeme]:
    """The pieces of a statement without its comments; raises Refused where readings may differ."""
    _check_characters(sql)
    lexemes = [lexeme for lexeme in _lexemes(sql, dialect, dialect in _MYSQL) if lexeme.kind != "comment"]
    if "\\" in sql and dialect in (*_MYSQL, "postgresql"):
        _check_other_reading(sql, dialect, lexemes)
    for before, after in pairwise(lexemes):
        if dialect in _POSTGRES_LIKE and before.kind == after.kind == "text":
            raise _ambiguous("two text literals in a row", "join them with ||")
        if dialect in _MYSQL and before.kind == "text" and after.text in ("(", "."):
            raise _ambiguous("a quoted text where a name is expected", "quote names with `...`")
    return lexemes


def _check_other_reading(sql: str, dialect: str, lexemes: list[Lexeme]) -> None:
    """A setting decides whether a backslash escapes a quote: both readings must agree, or the other be no statement."""
    other = dialect not in _MYSQL
    try:
        same = lexemes == [lexeme for lexeme in _lexemes(sql, dialect, other) if lexeme.kind != "comment"]
    except Refused:
        same = False
    if not same and not _never_closed(sql, dialect, other):
        raise _ambiguous("a backslash before a quote", "double the quote instead")


def _never_closed(sql: str, dialect: str, backslash: bool) -> bool:
    """Whether a quote or a comment is still open at the end, so that a server would refuse the text."""
    at = 0
    while at < len(sql):
        try:
            piece = _comment(sql, at, dialect) or _quoted(sql, at, dialect, backslash)
        except Refused as refused:
            return refused.cause is Cause.DBMS
        at = piece.end if piece else at + 1
    return False


def _check_characters(sql: str) -> None:
    if len(sql) > CHARACTERS:
        raise Refused(Cause.TOO_LARGE, f"the statement is longer than {CHARACTERS:,} characters")
    if "\0" in sql:
        raise Refused(Cause.STATEMENTS, "the statement contains a NUL character; remove it")
    if any("\ud800" <= char <= "\udfff" for char in sql):
        raise Refused(Cause.DBMS, "the statement is not valid Unicode text (it holds half of a surrogate pair)")


def _ambiguous(what: str, way_out: str) -> Refused:
    return Refused(Cause.FORBIDDEN, f"{what}: servers and settings read this differently, so it is refused; {way_out}")


def _lexemes(sql: str, dialect: str, backslash: bool) -> Iterator[Lexeme]:
    """Every piece and every comment, in order; `backslash` tells whether one escapes a quote in plain texts."""
    at, count, previous = 0, 0, ""
    while at < len(sql):
        if space := _SPACE.match(sql, at):
            _check_line_ends(space[0])
            at = space.end()
            continue
        lexeme = _comment(sql, at, dialect) or _quoted(sql, at, dialect, backslash)
        lexeme = lexeme or _plain(sql, at, dialect, backslash)
        if previous in ("number", "word") and lexeme.kind in ("number", "word") and sql[at - 1] not in " \t\n\r/":
            raise _ambiguous(f"a number run together with a word before {shown(lexeme.text)}", "put a space between")
        yield lexeme
        at, previous, count = lexeme.end, lexeme.kind, count + 1
        if count > TOKENS:
            raise Refused(Cause.TOO_LARGE, f"the statement has more than {TOKENS:,} words and signs")


def _check_line_ends(space: str) -> None:
    if "\r" in space.replace("\r\n", ""):
        raise _ambiguous("a carriage return without a line feed", "end lines with a line feed")


def _comment(sql: str, at: int, dialect: str) -> Lexeme | None:
    two = sql[at : at + 2]
    if two == "--":
        if dialect in _MYSQL and sql[at + 2 : at + 3] not in ("", " ", "\t", "\n", "\r"):
            raise _ambiguous("-- without a space after it", "write a space after it")
        return _line_comment(sql, at)
    if sql[at] == "#" and dialect in _MYSQL:
        return _line_comment(sql, at)
    if two != "/*":
        return None
    end = sql.find("*/", at + 2)
    if end < 0:
        raise Refused(Cause.DBMS, _UNTERMINATED)
    inside = sql[at + 2 : end]
    if _EXECUTED.match(inside):
        raise Refused(Cause.FORBIDDEN, "a comment that the server executes (/*! ... */) is not allowed")
    if inside.lstrip().startswith("+"):
        raise Refused(Cause.FORBIDDEN, "optimizer hints (/*+ ... */) are not allowed, since they can change settings")
    if "/*" in inside or inside.endswith("/"):
        raise _ambiguous("a comment inside a comment", "remove the comments")
    return Lexeme("comment", "", at, end + 2)


def _line_comment(sql: str, at: int) -> Lexeme:
    end = sql.find("\n", at)
    end = len(sql) if end < 0 else end
    if "\r" in sql[at:end].removesuffix("\r"):
        raise _ambiguous("a carriage return inside a comment", "remove the comment")
    return Lexeme("comment", "", at, end)


def _quoted(sql: str, at: int, dialect: str, backslash: bool) -> Lexeme | None:
    """A literal or a quoted name that begins here."""
    char = sql[at]
    if char == "'":
        return _delimited("text", sql, at, at, backslash)
    if char == '"':
        kind = "text" if dialect in _MYSQL else "name"
        return _delimited(kind, sql, at, at, backslash and kind == "text")
    if char == "`" and (dialect in _MYSQL or dialect == "sqlite"):
        return _delimited("name", sql, at, at, False)
    if char == "[" and dialect == "sqlite":
        end = sql.find("]", at)
        if end < 0:
            raise Refused(Cause.DBMS, _UNTERMINATED)
        return Lexeme("name", sql[at + 1 : end], at, end + 1)
    if char == "$" and dialect in _POSTGRES_LIKE and (opening := _DOLLAR_QUOTE.match(sql, at)):
        end = sql.find(opening[0], opening.end())
        if end < 0:
            raise Refused(Cause.DBMS, _UNTERMINATED)
        return Lexeme("text", sql[at : end + len(opening[0])], at, end + len(opening[0]))
    return None


def _delimited(kind: str, sql: str, start: int, opening: int, backslash: bool) -> Lexeme:
    """A text or name between two quotes; `backslash` tells whether one escapes a quote."""
    quote, end = sql[opening], _end_of_quote(sql, opening, backslash)
    if end < 0:
        raise Refused(Cause.DBMS, _UNTERMINATED)
    inside = sql[opening + 1 : end - 1]
    return Lexeme(kind, inside.replace(quote * 2, quote) if kind == "name" else sql[start:end], start, end)


def _end_of_quote(sql: str, opening: int, backslash: bool) -> int:
    """Where the quoted piece ends (after its closing quote), or -1."""
    quote, at = sql[opening], opening + 1
    while at < len(sql):
        if backslash and sql[at] == "\\":
            at += 2
        elif sql[at] != quote:
            at += 1
        elif sql[at + 1 : at + 2] == quote:
            at += 2
        else:
            return at + 1
    return -1


def _plain(sql: str, at: int, dialect: str, backslash: bool) -> Lexeme:
    """A word (or the literal that it is the prefix of), a number or a sign."""
    if number := _NUMBER.match(sql, at):
        return Lexeme("number", number[0], at, number.end())
    if word := _WORD.match(sql, at):
        return _word(sql, word, dialect, backslash)
    if sql[at] == "\\":
        raise Refused(Cause.DBMS, "the statement does not parse: a backslash outside quotes")
    if sql[at] == "{" and dialect in _MYSQL:
        raise Refused(Cause.FORBIDDEN, "ODBC escapes ({name ...}) are not allowed")
    if sql[at] == "$" or (sql[at] == "?" and dialect != "postgresql"):
        raise Refused(Cause.DBMS, "parameters ($1, ?) have no values here; write the values into the statement")
    if sql.startswith(":=", at) and dialect in _MYSQL:
        raise Refused(Cause.READ_ONLY, "variables may not be assigned (:=)")
    if sql.startswith("@@", at) and dialect in _MYSQL:
        raise Refused(Cause.FORBIDDEN, "server variables (@@name) may not be read")
    if sign := _SIGN.match(sql, at):
        return Lexeme("sign", sign[0], at, sign.end())
    character = f"U+{ord(sql[at]):04X}"
    raise Refused(
        Cause.DBMS, f"the statement does not parse: unexpected character {character}; use plain spaces and signs"
    )


def _word(sql: str, match: re.Match[str], dialect: str, backslash: bool) -> Lexeme:
    word, after = match[0].lower(), sql[match.end() : match.end() + 1]
    if "$" in word and dialect in _POSTGRES_LIKE:
        raise _ambiguous("a dollar sign in a name", 'quote the name with "..."')
    if word == "u" and re.match(r"&['\"]", sql[match.end() : match.end() + 2]):
        raise Refused(Cause.FORBIDDEN, "Unicode escapes (U&'...') are not allowed; write the characters themselves")
    if after == "'" and (word in _HEX_OR_TEXT_PREFIX or (dialect in _MYSQL and _INTRODUCER.match(word))):
        escapes = backslash or (word == "e" and dialect in _POSTGRES_LIKE)
        return _delimited("text", sql, match.start(), match.end(), escapes)
    if after in ("'", '"') and after:
        raise _ambiguous(f"a quote directly after {shown(match[0])}", "put a space between")
    return Lexeme("word", word, match.start(), match.end())
