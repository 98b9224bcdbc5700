"""SQLite's own tokens, and the form in which two of its queries are compared."""

import re

# A letter, a digit, `_`, `$` or anything beyond ASCII. It is told by what it is not: Python compiles that much faster,
# and every process that runs statements compiles it when it starts.
_NAME = r"[^\x00-\x23\x25-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]"
# As SQLite's tokenizer reads them. A comment or quote that is never closed goes on to the end.
_TOKEN = re.compile(
    rf"""
    [ \t\n\f\r]+ | --[^\n]* | /\*(?!\Z).*?(?:\*/|\Z)
    | (?P<exact> [xX]?'(?:[^']|'')*+(?:'|\Z) | "(?:[^"]|"")*+(?:"|\Z) | `(?:[^`]|``)*+(?:`|\Z) | \[[^\]]*(?:\]|\Z) )
    | (?P<plain> (?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?{_NAME}* | {_NAME}+ )
    | (?P<sign> ->>? | \|\| | << | >> | <= | >= | <> | != | == | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_SYNONYMS = {"<>": "!=", "==": "="}


def canonical(sql: str) -> str:
    """SQL up to layout, comments, case of keywords and plain names, and a semicolon at the end.

    Nothing is understood: to a parser, queries look alike that SQLite tells apart (text in double quotes and a name in
    backticks, DECIMAL and REAL), and a candidate must never be given another one's verdict.
    """
    tokens = [_spelling(token) for token in _TOKEN.finditer(sql) if token.lastgroup]
    return " ".join(tokens[:-1] if tokens[-1:] == [";"] else tokens)


def _spelling(token: re.Match[str]) -> str:
    text = token[0]
    if token.lastgroup == "plain":
        return text.lower() if text.isascii() else text  # SQLite knows the case of ASCII letters only
    return _SYNONYMS.get(text, text) if token.lastgroup == "sign" else text
