"""One statement parsed by sqlglot, within limits of its own, and held against our own reading of its characters."""

import logging
import threading
import time
from functools import cache
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, SqlglotError

from merit.sql.guard.lexer import Lexeme
from merit.sql.guard.refused import Refused, shown
from merit.sql.parser import ParsingTooLong, bounded
from merit.types import SQLGLOT_DIALECTS, Cause

SECONDS = 1.0  # of this thread's processor; most statements take milliseconds, one with 5,000 values half a second
DEPTH = 60  # open brackets, CASEs and prefixes at once; sqlglot recurses about 15 calls for each
_OPENING, _CLOSING = ("(", "[", "{", "case"), (")", "]", "}", "end")
_PREFIXES = ("not", "-", "+", "~", "!", "@", "distinct", "all", "prior")

_guarding = threading.local()  # set while this thread parses, so that sqlglot logs no piece of the statement
logging.getLogger("sqlglot").addFilter(lambda _: not getattr(_guarding, "now", False))


def parse(sql: str, lexemes: list[Lexeme], dialect: str) -> exp.Expr:
    """The statement's tree; raises Refused where it is too deep, takes too long, or does not parse."""
    _check_depth(lexemes)
    engine = Dialect.get_or_raise(SQLGLOT_DIALECTS[dialect])
    _guarding.now = True
    try:
        tokens = engine.tokenize(sql)
        _check_agreement(sql, tokens, lexemes)
        parser = _parser_class(SQLGLOT_DIALECTS[dialect])(dialect=engine, error_level=ErrorLevel.RAISE)
        trees: list[exp.Expr] = [tree for tree in parser.parse(tokens, sql) if tree is not None]
    except Refused:
        raise
    except ParsingTooLong:
        raise _too_long() from None
    except RecursionError:
        raise Refused(Cause.TOO_LARGE, "the statement is nested too deeply") from None
    except SqlglotError as error:
        raise Refused(Cause.DBMS, f"the statement does not parse: {_first_line(error)}") from None
    except Exception as error:  # sqlglot raises TypeError, AttributeError and others on odd texts
        raise Refused(Cause.DBMS, f"the statement does not parse ({type(error).__name__})") from None
    finally:
        _guarding.now = False
    if len(trees) != 1:
        raise Refused(Cause.STATEMENTS, f"expected one statement, found {len(trees)}")
    return trees[0]


def _check_depth(lexemes: list[Lexeme]) -> None:
    depth = prefixes = subscripts = 0
    before = ""
    for lexeme in lexemes:
        plain = lexeme.text if lexeme.kind in ("word", "sign") else ""
        depth += (plain in _OPENING) - (plain in _CLOSING and depth > 0)
        prefixes = prefixes + 1 if plain in _PREFIXES else 0
        subscripts += plain == "[" and before == "]"  # sqlglot copies the whole chain for each
        if max(depth + prefixes, subscripts) > DEPTH:
            raise Refused(Cause.TOO_LARGE, f"the statement is nested more than {DEPTH} levels deep")
        before = plain


def _check_agreement(sql: str, tokens: list[Any], lexemes: list[Lexeme]) -> None:
    """Every quoted piece of ours must be exactly one token of sqlglot's, and no token may reach into a comment."""
    ours = {(lexeme.start, lexeme.end): lexeme for lexeme in lexemes}
    quoted = {span for span, lexeme in ours.items() if lexeme.kind in ("text", "name")}
    covered = bytearray(len(sql))
    theirs = set()
    for token in tokens:
        theirs.add((token.start, token.end + 1))
        covered[token.start : token.end + 1] = b"\1" * (token.end + 1 - token.start)
    for start, end in quoted:
        # sqlglot reads DuckDB's x'41' and MySQL's _utf8'x' as two tokens: the prefix and the text
        if (start, end) not in theirs and not any((at, end) in theirs for at in _quote_starts(sql, start, end)):
            raise _differently(sql[start:end])
    for lexeme in lexemes:
        if not all(covered[lexeme.start : lexeme.end]):
            raise _differently(sql[lexeme.start : lexeme.end])
        covered[lexeme.start : lexeme.end] = b"\0" * (lexeme.end - lexeme.start)
    for at, left in enumerate(covered):
        if left and not sql[at].isspace():
            raise _differently(sql[at : at + 20])


def _quote_starts(sql: str, start: int, end: int) -> list[int]:
    return [at for at in (sql.find("'", start, end),) if at > start]


def _differently(text: str) -> Refused:
    message = f"the parser and the server may read this part differently, so it is refused: {shown(text)}"
    return Refused(Cause.FORBIDDEN, message)


def _too_long() -> Refused:
    return Refused(Cause.TOO_LARGE, "the statement takes too long to parse; make it simpler")


def _first_line(error: SqlglotError) -> str:
    details = getattr(error, "errors", None)
    if details:
        first = details[0]
        place = f" near {shown(str(first.get('highlight') or ''))}" if first.get("highlight") else ""
        return f"{shown(str(first.get('description') or 'syntax error').rstrip('.'))}{place} (line {first.get('line')})"
    return shown(str(error).splitlines()[0]) if str(error) else "syntax error"


@cache
def _parser_class(name: str) -> type[Any]:
    """A parser of sqlglot's with a deadline, and without its warnings, which would print the statement."""
    base = Dialect.get_or_raise(name).parser_class

    class DeadlineParser(bounded(base)):  # type: ignore[misc]
        """Raises once the time is up, too: a statement is refused on a slow machine rather than waited for."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self._merit_deadline = time.thread_time() + SECONDS
            super().__init__(*args, **kwargs)

        def _advance(self, times: int = 1) -> None:
            if self._merit_steps % 256 == 0 and time.thread_time() > self._merit_deadline:
                raise _too_long()
            super()._advance(times)

        def _warn_unsupported(self) -> None:
            raise Refused(Cause.STATEMENTS, "only queries (SELECT, WITH, VALUES) may run")

    return DeadlineParser
