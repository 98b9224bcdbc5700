"""What changed between two statements, clause by clause, for a terminal."""

import difflib

from merit.cli.terminal import Console

_MARKS = {"+": "green", "-": "red"}
_MOST_CLAUSES = 200  # a comparison of more clauses takes minutes and cannot be read
_MOST_COMPARED = 3000  # characters of two texts; all pairs of clauses are compared letter by letter


def show_change(before: str | None, sql: str, console: Console) -> None:
    """Print a statement by what it changes in another, or whole where there is nothing to compare with."""
    long = len(before or "") + len(sql) > _MOST_COMPARED
    old, new = ([], []) if long else (_clauses(before or ""), _clauses(sql))
    if before is None or before == sql or long or len(old) + len(new) > _MOST_CLAUSES:
        again = "  (the same again)" if before == sql else ""
        console.block((sql or "(no SQL in the reply)") + again, 2, "cyan")
        return
    for line in difflib.ndiff(old, new):
        if line[0] != "?":
            colour = _MARKS.get(line[0], "cyan")
            console.block(line[2:], 4, colour, head=f"  [{colour}]{line[0]}[/]")


def _clauses(sql: str) -> list[str]:
    """SQL cut into lines where its clauses begin, so that a change can be seen."""
    lines = [""]
    for word in sql.split():
        breaks = word.upper() in ("SELECT", "FROM", "WHERE", "JOIN", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "ON")
        if breaks and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
