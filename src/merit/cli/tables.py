"""A table of a report, on the terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from merit.cli.terminal import Console
from merit.report import Mark, ReportColumn, ReportTable

_STYLES: dict[Mark | None, str] = {Mark.BEST: "bold", Mark.SECOND: "underline"}
_WIDEST = 10_000  # columns, more than any table has


def show_table(console: Console, table: ReportTable) -> None:
    """Print a table of a report: figures are never cut; where a line is too short for them, each has its own."""
    datasets = {row["dataset"].text for row in table.rows if "dataset" in row}
    columns = [column for column in table.columns if column.shown and (column.key != "dataset" or len(datasets) > 1)]
    grid = _grid(table, columns)
    unlimited = console.options.update(max_width=_WIDEST)  # else no measure is above the console's width
    if Measurement.get(console, unlimited, grid).minimum <= console.width:
        console.print(grid)
    else:
        _list(console, table, columns)
    console.print(f"[dim]{escape(table.note)}[/]\n")


def _grid(table: ReportTable, columns: Sequence[ReportColumn]) -> Table:
    shown = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        if column.numeric:  # names are folded where a line is too short for both
            longest = max(len(text) for text in (column.label, *(row[column.key].text for row in table.rows)))
            shown.add_column(escape(column.label), justify="right", no_wrap=True, min_width=longest)
        else:
            shown.add_column(escape(column.label), overflow="fold", min_width=10)
    for row in table.rows:
        cells = [row[column.key] for column in columns]
        shown.add_row(*(Text(cell.text, _STYLES.get(cell.mark, "")) for cell in cells))
    return shown


def _list(console: Console, table: ReportTable, columns: Sequence[ReportColumn]) -> None:
    """Every row as lines: its names, then each figure after what it is."""
    width = max(len(column.label) for column in columns) + 4
    for row in table.rows:
        names = (row[column.key].text for column in columns if not column.numeric)
        console.block(", ".join(name for name in names if name), 0, "bold")
        for column in (column for column in columns if column.numeric):
            cell = row[column.key]
            console.block(cell.text, width, _STYLES.get(cell.mark, ""), head=f"  {escape(column.label)}")
    console.print()
