"""Names of tables and columns as SQL and other people's files write them."""

import re

_PLAIN_NAME = re.compile(r'(?:\w+\.)?(?:"([^"]+)"|([^\W\d][\w$]*))')  # one column, perhaps with its table before it
_PART = re.compile(r'"([^"]+)"|`([^`]+)`|([^.\s"`]+)')
_TABLE_NAME = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")
_LONGEST = 1000  # characters; longer texts are queries


def plain_column(expression: str) -> str:
    """The column that an expression is, or an empty text where it calculates something."""
    match = _PLAIN_NAME.fullmatch(expression.strip()) if len(expression) <= _LONGEST else None
    return (match[1] or match[2]) if match else ""


def table_parts(text: str) -> tuple[str, ...]:
    """The parts of a table's name, `database.schema.table`; none for a query."""
    if len(text) > _LONGEST or not _TABLE_NAME.fullmatch(text.strip()):
        return ()
    return tuple(match[1] or match[2] or match[3] for match in _PART.finditer(text.strip()))


def unquoted(name: str) -> str:
    """A column's name without quotes around it."""
    return name.strip().strip('"`')
