"""Messages of MySQL and MariaDB about a text's syntax: they quote what follows the fault, and name its line."""

import re

from merit.sql.unevaluated import NEVER_VALID

_NEAR = re.compile(r"near '(.*)' at line (\d+)", re.DOTALL)


def of_the_text_alone(message: str, sql: str) -> str | None:
    """What is said of a text's syntax, without what was put behind it; None where nothing else was wrong."""
    near = _NEAR.search(message)
    if near is None or near[1] == NEVER_VALID[-1]:
        return None
    ends = [NEVER_VALID[:length] for length in range(len(NEVER_VALID), 0, -1)]  # the server cuts what it shows
    end = next((end for end in (*ends, NEVER_VALID.lstrip()) if near[1].endswith(end)), "")
    line = min(int(near[2]), sql.count("\n") + 1)
    return f"{message[: near.end(1) - len(end)]}' at line {line}"


def position_of(message: str, sql: str) -> int | None:
    """Where a syntax error is: the server says only what follows it, and the line."""
    near = _NEAR.search(message)
    if near is None or not near[1]:
        return None
    start = sum(len(line) for line in sql.splitlines(keepends=True)[: int(near[2]) - 1])
    found = sql.find(near[1], start)
    return found + 1 if found >= 0 else None
