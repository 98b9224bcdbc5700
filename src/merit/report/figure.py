"""A figure as a value: series of points, independent of what draws them."""

from dataclasses import dataclass
from enum import StrEnum


class FigureShape(StrEnum):
    """How points are drawn."""

    LINE = "line"
    BAR = "bar"  # x are categories
    POINTS = "points"


@dataclass(frozen=True, slots=True)
class Series:
    """One method's points, with a band where there are intervals."""

    name: str
    x: tuple[float | str, ...]
    y: tuple[float, ...]
    low: tuple[float | None, ...] | None = None  # None for a point that has no interval
    high: tuple[float | None, ...] | None = None
    counts: tuple[int, ...] | None = None  # how many answers each point of a line stands for
    guide: bool = False  # a line to compare with, not a measurement


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot with its labels and note."""

    id: str  # also its file name
    title: str
    note: str
    x_label: str
    y_label: str
    shape: FigureShape
    series: tuple[Series, ...]
    beside: str = ""  # the id of the table it draws; the figure stands below it
