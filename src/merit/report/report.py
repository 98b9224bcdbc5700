"""The content of a report as values; writers and pages turn it into files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from merit.agent.confidence import Calibration
from merit.errors import one_line
from merit.report.accuracy import FULL, ablation_table, accuracy_figure, main_table
from merit.report.breakdown import by_database, by_difficulty, by_failure, failure_table, without_difficulty
from merit.report.confidence import (
    confidence_figures,
    confidence_table,
    judged_on_itself,
    reliability_table,
    votings,
)
from merit.report.cost import TokenPrices, cost_table, frontier_figures, repair_table
from merit.report.course import learning_figures, learning_table, steps_figures, steps_table
from merit.report.figure import Figure
from merit.report.group import RunGroup, group_runs, versions
from merit.report.paired import mcnemar_table, paired_figure, paired_table, unpaired
from merit.report.populations import with_populations
from merit.report.remembered import memory_table, similarity_table, without_recalls
from merit.report.reviewed import holding_references, reviewed_paired_table, reviewed_table, without_base
from merit.report.table import ReportTable
from merit.report.validation import Label, class_table, confusion_tables, summary_table, unreported, unweighted
from merit.runs import RunView


@dataclass(frozen=True, slots=True)
class Report:
    """Tables and figures over some runs, with notes."""

    tables: tuple[ReportTable, ...]  # none is empty
    figures: tuple[Figure, ...]
    groups: tuple[RunGroup, ...]  # runs that are compared with each other
    notes: tuple[str, ...]  # what is not compared, or left out for want of data
    refused: tuple[str, ...]  # a sentence for each run that is not reported at all

    @property
    def blocks(self) -> list[ReportTable | Figure]:
        """Everything in the order in which it is read: each table, and under it the figures that draw it."""
        ordered: list[ReportTable | Figure] = []
        for table in self.tables:
            ordered += [table, *(figure for figure in self.figures if figure.beside == table.id)]
        return [*ordered, *(figure for figure in self.figures if figure not in ordered)]


def build(
    runs: Sequence[RunView],
    prices: TokenPrices | None = None,
    *,
    against: str = FULL,
    named: bool = False,
    labels: Sequence[Label] = (),
    calibration: Calibration | None = None,
    refused: Iterable[str] = (),
) -> Report:
    """The report of some runs, and of human labels.

    `against` is the method that all others are paired with, and `named` whether a person asked for it. Without a
    `calibration`, confidences are calibrated by merit's own, where it has one for their model and prompts.
    """
    groups, apart, left_out = group_runs(runs)
    labels = with_populations(labels, groups)
    voted = votings(groups, calibration)
    paired = paired_table(groups, against)
    tables = [
        main_table(groups),
        paired,
        mcnemar_table(groups, against),
        reviewed_table(groups),
        reviewed_paired_table(groups),
        repair_table(groups),
        cost_table(groups, prices),
        ablation_table(groups),
        failure_table(groups, labels),
        by_database(groups),
        by_failure(groups),
        by_difficulty(groups),
        learning_table(groups),
        steps_table(groups),
        confidence_table(voted, calibration),
        reliability_table(voted),
        memory_table(groups),
        similarity_table(groups),
        summary_table(labels),
        class_table(labels),
        *confusion_tables(labels),
    ]
    figures = [
        accuracy_figure(groups),
        paired_figure(paired),
        *frontier_figures(groups),
        *learning_figures(groups),
        *steps_figures(groups),
        *confidence_figures(groups, voted),
    ]
    notes = [*apart, *versions(groups), *without_recalls(groups), *unpaired(groups, against, named=named)]
    notes += [*without_base(groups), *holding_references(groups)]
    notes += [*unreported(groups, labels), *unweighted(labels), *without_difficulty(groups), *judged_on_itself(voted)]
    return Report(
        tables=tuple(table for table in tables if table.rows),
        figures=tuple(figure for figure in figures if any(series.x for series in figure.series)),
        groups=tuple(groups),
        notes=tuple(map(one_line, notes)),
        refused=tuple(map(one_line, (*refused, *left_out))),
    )
