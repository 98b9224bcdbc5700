"""Reads finished runs: tables, statistics, figures and pages. It never changes a run."""

from merit.report.cost import Prices
from merit.report.figure import Figure, Series, Shape
from merit.report.group import Group
from merit.report.labels import read_labels
from merit.report.opening import open_runs
from merit.report.report import Report, build
from merit.report.summary import summary_table
from merit.report.table import Cell, Column, Mark, Table
from merit.report.writing import write_report

__all__ = [
    "Cell",
    "Column",
    "Figure",
    "Group",
    "Mark",
    "Prices",
    "Report",
    "Series",
    "Shape",
    "Table",
    "build",
    "open_runs",
    "read_labels",
    "summary_table",
    "write_report",
]
