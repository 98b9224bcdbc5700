"""Comparing statements by their text alone, without running them."""

import re

# To SQLite only these are white space, only ASCII has cases, and everything beyond ASCII is a letter.
_SPACE = " \t\n\f\r"
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_SQUEEZE = {**_LOWER, **{ord(blank): None for blank in _SPACE}}
_TOKEN = re.compile(
    r"""([xX]?'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*(?:\]|\Z))  # kept as written
        |([0-9][A-Za-z0-9_.$\x80-\U0010ffff]*(?:(?<=[eE])[+-][0-9]+)?|[A-Za-z0-9_.$\x80-\U0010ffff]+
        |<=|>=|<>|!=|==|\|\||<<|>>|->>|->|[^ \t\n\f\r])""",
    re.VERBOSE,
)


def same_statement(sql: str, other: str) -> bool:
    """Whether two texts differ in nothing but case and white space outside quotes."""
    squeezed = sql.translate(_SQUEEZE) == other.translate(_SQUEEZE)  # a cheap test that most pairs fail
    return squeezed and _tokens(sql) == _tokens(other)


def _tokens(sql: str) -> list[str]:
    if "--" in sql or "/*" in sql:  # where a comment ends depends on white space
        return [sql]
    return [quoted or plain.translate(_LOWER) for quoted, plain in _TOKEN.findall(sql)]
