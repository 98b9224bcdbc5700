"""Reads finished runs: tables, statistics, figures and pages. It never changes a run.

- `opening` finds and reads runs; `group` decides which may be compared, and names the first field that differs. Pairs
  are compared over the seeds that both ran. Leaders are chosen among online methods over the seeds that more than half
  of them ran, so that a seed of a few methods changes nothing for the others.
- `accuracy`, `paired`, `reviewed`, `cost`, `breakdown`, `course`, `confidence`, `remembered` and `validation` turn
  groups into `ReportTable` and `Figure` values; `report.build` collects them. `statistics` alone computes intervals and
  tests.
- `markdown`, `latex`, `plot`, `writing` and `page` turn values into files. `labels` is the CSV that people fill in,
  drawn from `populations`.
- `calibrate` fits a calibration on runs; `calibration_quality` says how good confidences are.
"""

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
