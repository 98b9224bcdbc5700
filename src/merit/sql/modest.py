"""Which statements are safe to prepare inside our own process.

SQLite copies a common table expression at every mention while it prepares a statement, before any deadline can
fire: twenty expressions that each mention the one before twice become a million copies. Such texts belong into a
process that can be killed; everything else may run here.
"""

import re

MOST_BYTES = 20_000
MOST_COPIES = 2_000

_DEFINITION = re.compile(
    r"""(?:\bwith\s+(?:recursive\s+)?|,\s*)     # where a definition can stand
        (\w+)\s*(?:\([^()]*\)\s*)?              # its name and columns
        \bas\s*(?:(?:not\s+)?materialized\s*)?\(""",
    re.IGNORECASE | re.VERBOSE,
)
_BODY = re.compile(r"\bas\s*(?:(?:not\s+)?materialized\s*)?\(\s*(?:select|with|values)\b", re.IGNORECASE)


def is_modest(sql: str) -> bool:
    """Whether preparing `sql` is cheap; errs towards no."""
    if len(sql) > MOST_BYTES:
        return False
    if "with" not in sql.lower():
        return True
    if "--" in sql or "/*" in sql:  # a comment can hide a definition from what follows
        return False
    names = _DEFINITION.findall(sql)
    if len(names) < len(_BODY.findall(sql)):  # a quoted or unusual name: not read, so not trusted
        return False
    copies = len(names) + 1
    for name in set(names):
        mentions = len(re.findall(rf"\b{re.escape(name)}\b(?!\s*\.)", sql, re.IGNORECASE))
        copies *= max(1, mentions - names.count(name))
    return copies <= MOST_COPIES
