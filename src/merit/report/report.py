"""Everything a report says about some runs, as values; writers and pages turn it into files."""

from collections.abc import Sequence
from dataclasses import dataclass

from merit.report.accuracy import FULL, ablation_table, accuracy_figure, main_table
from merit.report.cost import Prices
from merit.report.figure import Figure
from merit.report.group import Group, group_runs
from merit.report.table import Table
from merit.stream import RunView


@dataclass(frozen=True, slots=True)
class Report:
    """Tables and figures over some runs, and what has to be said beside them."""

    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    groups: tuple[Group, ...]  # runs that are compared with each other
    notes: tuple[str, ...]  # what is not compared, or left out for want of data
    refused: tuple[str, ...]  # a sentence for each run that is not reported at all


def build(
    runs: Sequence[RunView], prices: Prices | None = None, *, against: str = FULL, refused: Sequence[str] = ()
) -> Report:
    """The report of some runs. `against` is the method that all others are paired with."""
    groups, notes, left_out = group_runs(runs)
    tables = [main_table(groups), ablation_table(groups)]
    return Report(
        tables=tuple(table for table in tables if table.rows),
        figures=(accuracy_figure(groups),),
        groups=tuple(groups),
        notes=tuple(notes),
        refused=(*refused, *left_out),
    )
