"""sqlglot's parsers, bounded: some texts make sqlglot try exponentially many readings, or copy a chain for each link.

Bounds count steps, not seconds, so that a text is read on every machine or on none.
"""

from functools import cache
from itertools import pairwise
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.tokenizer_core import Token, TokenType

STEPS, STEPS_PER_TOKEN = 5_000, 10  # an ordinary statement takes one or two steps a token
CHAIN = 60  # links such as `f().f().f()` or `a[1].b[2]`; sqlglot copies the whole chain for each
DEEPEST = 300  # levels of a query; sqlglot climbs them all for every column: a chain of 24,000 took 40 seconds
TABLES = 500  # that a query names; sqlglot holds each against all before it: 9,000 took 10 seconds
NODES = 10_000  # of a query's tree; the longest reference of Spider, BIRD and BEAVER has some 500
# What reading or writing a query can raise: sqlglot's own errors, and Python's where it did not expect the text, such
# as `JOIN LATERAL .`. Models write anything, so such a text is a query that cannot be read, not a reason to end a run.
UNREADABLE = (SqlglotError, RecursionError, AttributeError, LookupError, TypeError, ValueError)
_ENDS = (TokenType.R_PAREN, TokenType.R_BRACKET)
_LINKS = (TokenType.DOT, TokenType.L_BRACKET)


class ParsingTooLong(SqlglotError):
    """A text that takes too long to parse."""


def bounded(base: type[Any]) -> type[Any]:
    """A parser class of sqlglot's that gives up on a text that takes too long."""

    class BoundedParser(base):  # type: ignore[misc]
        """Raises ParsingTooLong."""

        _merit_steps = 0

        def parse(self, raw_tokens: list[Token], sql: str) -> Any:
            kinds = [token.token_type for token in raw_tokens]
            if sum(a in _ENDS and b in _LINKS for a, b in pairwise(kinds)) > CHAIN:
                raise ParsingTooLong(f"a chain of more than {CHAIN} links")
            self._merit_steps = 0
            return super().parse(raw_tokens, sql)

        def _advance(self, times: int = 1) -> None:
            self._merit_steps += 1
            if self._merit_steps > STEPS + STEPS_PER_TOKEN * self._tokens_size:
                raise ParsingTooLong("too many steps")
            super()._advance(times)

    return BoundedParser


@cache
def _parser(dialect: str) -> tuple[Dialect, type[Any]]:
    engine = Dialect.get_or_raise(dialect)
    return engine, bounded(engine.parser_class)


def parse_bounded(sql: str, dialect: str) -> exp.Expr:
    """The one statement of a text, in a dialect by sqlglot's name for it; raises what sqlglot raises."""
    engine, parser = _parser(dialect)
    trees: list[exp.Expr | None] = parser(dialect=engine).parse(engine.tokenize(sql), sql)
    if len(trees) != 1 or trees[0] is None:
        raise ParseError("not one statement")
    return trees[0]


def bounded_scopes(tree: exp.Expr) -> list[Scope]:
    """Sqlglot's scopes of a query; raises ParsingTooLong where finding them, or columns in them, would take seconds."""
    level, nodes, tables = [tree], 0, 0
    for _ in range(DEEPEST):
        level = [child for node in level for child in node.iter_expressions()]
        nodes += len(level)
        tables += sum(isinstance(node, exp.Table) for node in level)
    if level or nodes > NODES or tables > TABLES:
        raise ParsingTooLong(f"more than {DEEPEST} levels, {NODES} nodes or {TABLES} tables")
    return traverse_scope(tree)
