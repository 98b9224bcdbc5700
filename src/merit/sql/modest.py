"""Which statements are safe to prepare inside our own process.

No deadline fires while SQLite prepares a statement, and some short texts grow without bound there: a common table
expression is copied at every mention, an expression of a subquery at every use of its column. Both need one SELECT
inside another, and with k of them a text of n characters can grow to (n / 2k) ** k pieces, however it is written.
What could grow too far is left to a process that can be killed.
"""

MOST_CHARACTERS = 4_000
MOST_PIECES = 500_000


def is_modest(sql: str) -> bool:
    """Whether preparing `sql` is cheap; errs towards no."""
    if len(sql) > MOST_CHARACTERS:
        return False
    selects = sql.lower().count("select")
    return selects < 2 or (len(sql) / (2 * selects)) ** selects <= MOST_PIECES
