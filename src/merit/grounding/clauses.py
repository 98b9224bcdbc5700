"""The clauses of a SELECT, put into the order that SQL wants."""

from dataclasses import dataclass, field

from sqlglot.tokenizer_core import Token, TokenType

from merit.grounding.dialects import EngineDialect

_JOINS = (TokenType.JOIN, TokenType.INNER, TokenType.LEFT, TokenType.RIGHT, TokenType.CROSS, TokenType.FULL)
# The clauses that begin with each token, by their place in a query.
_PLACES = {
    TokenType.SELECT: 0,
    TokenType.FROM: 1,
    **dict.fromkeys(_JOINS, 2),
    TokenType.WHERE: 3,
    TokenType.GROUP_BY: 4,
    TokenType.HAVING: 5,
    TokenType.ORDER_BY: 6,
    TokenType.LIMIT: 7,
}
_WHERE, _HAVING = 3, 5
_SET_OPERATORS = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)


@dataclass(slots=True)
class _Level:
    """A SELECT that is being read: where each of its clauses begins."""

    starts: list[tuple[int, int]] = field(default_factory=list)  # place and index of the token


def in_order(sql: str, dialect: EngineDialect) -> str | None:
    """The text with the clauses of one SELECT in their order; None where all of them are."""
    tokens = dialect.tokens(sql)
    levels = [_Level()]
    for i, token in enumerate(tokens):
        kind = token.token_type
        if kind is TokenType.L_PAREN:
            levels.append(_Level())
        elif kind is TokenType.R_PAREN or kind in _SET_OPERATORS or kind is TokenType.SEMICOLON:
            new = _sorted(sql, tokens, levels[-1], i)
            if new is not None:
                return new
            if kind is TokenType.R_PAREN and len(levels) > 1:
                levels.pop()
            else:
                levels[-1] = _Level()
        elif kind in _PLACES and not _is_part(tokens, i):
            levels[-1].starts.append((_PLACES[kind], i))
    return _sorted(sql, tokens, levels[0], len(tokens)) if len(levels) == 1 else None


def _is_part(tokens: list[Token], i: int) -> bool:
    """Whether a token goes on with a join that began before, or is a function's name."""
    before = tokens[i - 1].token_type if i else None
    after = tokens[i + 1].token_type if i + 1 < len(tokens) else None
    is_call = after is TokenType.L_PAREN and tokens[i].token_type in (TokenType.LEFT, TokenType.RIGHT)
    return is_call or (
        tokens[i].token_type is TokenType.JOIN and before in (*_JOINS, TokenType.OUTER, TokenType.NATURAL)
    )


def _sorted(sql: str, tokens: list[Token], level: _Level, end: int) -> str | None:
    places = [place for place, _ in level.starts]
    twice = [place for place in set(places) if places.count(place) > 1 and place != 2]
    if places[:1] != [0] or not set(twice) <= {_WHERE, _HAVING} or (places == sorted(places) and not twice):
        return None
    bounds = [i for _, i in level.starts] + [end]
    stop = tokens[end].start if end < len(tokens) else len(sql)
    clauses: list[tuple[int, str]] = []
    for (place, first), last in zip(level.starts, bounds[1:], strict=True):
        end_of_it = tokens[last].start if last < len(tokens) else len(sql)
        text = f"{tokens[first].text} {sql[tokens[first].end + 1 : end_of_it].strip(' ;')}"
        if place in twice and any(known == place for known, _ in clauses):
            at = next(i for i, (known, _) in enumerate(clauses) if known == place)
            clauses[at] = (place, _both(clauses[at][1], text))
        else:
            clauses.append((place, text))
    ordered = " ".join(text for _, text in sorted(clauses, key=lambda clause: clause[0]))
    return f"{sql[: tokens[bounds[0]].start]}{ordered} {sql[stop:]}".rstrip()


def _both(one: str, other: str) -> str:
    """Two WHERE clauses as one."""
    word, _, condition = one.partition(" ")
    more = other.partition(" ")[2]
    parts = [f"({part})" if " or " in f" {part.lower()} " else part for part in (condition, more)]
    return f"{word} {parts[0]} AND {parts[1]}"
