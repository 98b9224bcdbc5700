"""A table as a value: independent of its output format (Markdown, LaTeX, CSV, JSON, a page)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

Value = str | int | float | bool | None


class Mark(StrEnum):
    """How the paper sets the leaders of a column."""

    BEST = "best"  # bold
    SECOND = "second"  # underlined


@dataclass(frozen=True, slots=True)
class Cell:
    """One value, as a program sorts it and as people read it."""

    value: Value
    text: str
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A column's key, heading, and whether it holds numbers."""

    key: str
    label: str
    numeric: bool = True
    note: str = ""  # what exactly it counts
    shown: bool = True  # False: only in CSV and JSON


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows of cells by column key; `note` says n, model, encoder, protocol and how intervals were made."""

    id: str  # also its file name
    title: str
    note: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[Mapping[str, Cell], ...]
