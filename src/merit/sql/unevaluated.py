"""What is sent of a text that the guard refused, such that MySQL and DuckDB evaluate nothing of it.

Both evaluate constants, with the functions in them, while they prepare a statement, and their errors repeat the values.
"""

import re
from typing import Final

# Behind a text, this is an error in every grammar: the server parses the text, and never comes to resolve or evaluate
# what it parsed. The semicolon tells a text that lacks its end from one that has no fault of its own.
NEVER_VALID: Final = "\n;\n="
_NO_COLUMN = "merit: no such column"  # a call with it ends before anything is called
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def without_end(sql: str) -> str:
    """The text without the semicolons and blanks behind it."""
    return sql.rstrip("; \t\r\n")


def only_call(called: tuple[str, ...], quote: str) -> str:
    """A query in which nothing but the name of this function can be resolved."""
    path = ".".join(name if _PLAIN.fullmatch(name) else _quoted(name, quote) for name in called)
    return f"SELECT {path}({_quoted(_NO_COLUMN, quote)})"


def _quoted(name: str, quote: str) -> str:
    return quote + name.replace(quote, quote * 2) + quote
