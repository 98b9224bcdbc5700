"""Reads finished runs: tables, statistics, figures and pages. It never changes a run."""

from merit.report.cost import TokenPrices
from merit.report.figure import Figure, FigureShape, Series
from merit.report.group import RunGroup
from merit.report.labels import read_labels
from merit.report.opening import open_runs
from merit.report.report import Report, build
from merit.report.summary import summary_table
from merit.report.table import Cell, Mark, ReportColumn, ReportTable
from merit.report.writing import write_report

__all__ = [
    "Cell",
    "Figure",
    "FigureShape",
    "Mark",
    "Report",
    "ReportColumn",
    "ReportTable",
    "RunGroup",
    "Series",
    "TokenPrices",
    "build",
    "open_runs",
    "read_labels",
    "summary_table",
    "write_report",
]
