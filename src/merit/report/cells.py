"""Numbers as cells: how many digits, signs, spreads, and which of a column lead."""

from collections.abc import Sequence
from dataclasses import replace

from merit.errors import one_line
from merit.report.statistics import deviation, mean
from merit.report.table import Cell, Mark

NOTHING = Cell(None, "--")
PRECISION = 6  # digits in CSV and JSON; shown text has fewer
Row = dict[str, Cell]


def words(text: str) -> Cell:
    """A cell that holds no number; control characters in a database's or a level's name are spelled."""
    text = one_line(text)
    return Cell(text, text)


def number(value: float | None, digits: int = 2) -> Cell:
    """A number with so many digits; a dash for None."""
    return NOTHING if value is None else Cell(_plain(value, PRECISION), f"{_plain(value, digits):.{digits}f}")


def count(value: int) -> Cell:
    """A whole number."""
    return Cell(value, str(value))


def signed(value: float | None) -> Cell:
    """A difference, as the paper writes it: its sign, but none for zero."""
    if value is None:
        return NOTHING
    rounded = _plain(value, 2)
    return Cell(_plain(value, PRECISION), f"{rounded:+.2f}" if rounded else f"{rounded:.2f}")


def spread(values: Sequence[float]) -> tuple[Cell, Cell]:
    """Mean and sample standard deviation: the cell people read, and the deviation for programs."""
    if not values:
        return NOTHING, NOTHING
    middle, around = number(mean(values)), number(deviation(values))
    return (middle if around.value is None else replace(middle, text=f"{middle.text} ± {around.text}")), around


def interval(ends: tuple[float, float] | None) -> tuple[Cell, Cell, Cell]:
    """An interval as people read it, and its ends."""
    if ends is None:
        return NOTHING, NOTHING, NOTHING
    low, high = map(signed, ends)
    text = f"[{low.text}, {high.text}]"
    return Cell(text, text), low, high


def lead(rows: Sequence[Row], key: str, ranked: Sequence[Row | None], *, low: bool = False) -> None:
    """Mark a column's best and second by `ranked` (None: not ranked); equal texts tie (paper, Table 1)."""
    _mark([(row, key, by[key]) for row, by in zip(rows, ranked, strict=True) if by is not None], low=low)


def lead_in_row(row: Row, ranked: Row) -> None:
    """The same along a row."""
    _mark([(row, key, cell) for key, cell in ranked.items()], low=False)


def _mark(entries: Sequence[tuple[Row, str, Cell]], *, low: bool) -> None:
    values = {i: float(cell.text.split()[0]) for i, (_, _, cell) in enumerate(entries) if cell.value is not None}
    if len(set(values.values())) < 2:
        return  # a single value, or equal values: no leader to mark
    ranked = sorted(set(values.values()), reverse=not low)
    for mark, value in zip((Mark.BEST, Mark.SECOND), ranked, strict=False):
        for i, (row, key, _) in enumerate(entries):
            if values.get(i) == value:
                row[key] = replace(row[key], mark=mark)


def _plain(value: float, digits: int) -> float:
    return round(value, digits) + 0.0  # no negative zero
