"""CSV that people give us, and CSV for them: a text that a spreadsheet would run as a formula is defused.

A cell whose text, after any apostrophes, begins with = + - @ (or their full-width forms), a tab or a line end gets one
apostrophe more; reading takes one away. So every text is read back as it was written. A number stays a number: -1.5.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Literal

from merit.errors import InputError
from merit.reading import shown

_FORMULA = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")  # noqa: RUF001
_SEPARATOR = re.compile("[;\t]")  # where some spreadsheets cut a cell in two unless it is in quotes: x;=1+1
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV, each ended by a newline."""
    lines = []
    for row in rows:
        out = StringIO()
        cells = [_defused(value) for value in row]
        split = any(isinstance(cell, str) and _SEPARATOR.search(cell) for cell in cells)
        quoted: Literal[0, 2] = csv.QUOTE_NONNUMERIC if split else csv.QUOTE_MINIMAL
        csv.writer(out, lineterminator="\r\n", quoting=quoted).writerow(cells)  # so that it quotes both
        lines.append(out.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines)


def as_written(cell: str) -> str:
    """The text of a cell that `csv_text` wrote."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def check_columns(names: Iterable[str], where: str) -> None:
    """Raise where a name is there twice, since programs differ in which of the cells counts; empty ones may be many."""
    for name, count in Counter(filter(None, names)).items():
        if count > 1:
            raise InputError(f"{where}: the column {shown(name)} is there twice; rename one")


def _defused(value: object) -> object:
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value
