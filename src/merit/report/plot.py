"""Figures as SVG and PNG, the same bytes each time."""

from collections.abc import Sequence
from contextlib import chdir
from io import BytesIO
from itertools import cycle
from math import isnan, nan
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from merit.report.figure import Figure, FigureShape, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which can be told apart with any colour vision; repeated with another line style.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES = ("-", "--", ":")
_MARKERS = ("o", "s", "^")
_WIDEST = 26  # characters of a name on one line
_SLANTED = 0.06  # inches below the axis for each character of a slanted name
_SETTINGS: Any = {
    "svg.hashsalt": "merit",  # ids in an SVG come from this and nothing else
    "svg.fonttype": "none",  # text stays text
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "text.parse_math": False,  # dollar signs in names are plain text
}


def draw(figure: Figure) -> dict[str, bytes]:
    """The figure's files by their ending."""
    with chdir(Path(__file__).parent):  # where it is imported, matplotlib reads a file of settings, or hangs at a pipe
        import matplotlib as mpl  # loaded only where a figure is drawn: it takes a second
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context():
        mpl.rcdefaults()  # ignore this machine's own settings
        mpl.rcParams.update(_SETTINGS)
        canvas = Canvas(figsize=_size(figure), layout="constrained")
        axes = canvas.subplots()
        draws = {FigureShape.LINE: _lines, FigureShape.BAR: _bars, FigureShape.POINTS: _points}[figure.shape]
        draws(axes, figure)
        axes.set(title=figure.title, xlabel=figure.x_label, ylabel=figure.y_label)
        if len(figure.series) > 1:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
        files = {}
        for kind, about in (("svg", {"Date": None, "Creator": "merit"}), ("png", {"Software": "merit"})):
            file = BytesIO()
            canvas.savefig(file, format=kind, metadata=about, dpi=160)
            files[kind] = file.getvalue()
    return files


def _lines(axes: "Axes", figure: Figure) -> None:
    styles = cycle((colour, line) for line in _LINES for colour in _COLOURS)
    for series in figure.series:
        if series.guide:
            axes.plot(series.x, series.y, color="grey", linestyle="--", linewidth=1, label=_folded(series.name))
    most = max((count for series in figure.series for count in series.counts or ()), default=1)
    for series, (colour, line) in zip((series for series in figure.series if not series.guide), styles, strict=False):
        axes.plot(series.x, series.y, color=colour, linestyle=line, label=_folded(series.name))
        if series.counts is not None:
            axes.scatter(series.x, series.y, [8 + 112 * count / most for count in series.counts], color=colour)
        if series.low is not None and series.high is not None:
            low, high = _known(series.low), _known(series.high)
            axes.fill_between(_numbers(series), low, high, color=colour, alpha=0.12, linewidth=0)


def _bars(axes: "Axes", figure: Figure) -> None:
    positions = _positions(figure)
    width = 0.8 / len(figure.series)
    for number, (series, colour) in enumerate(zip(figure.series, cycle(_COLOURS), strict=False)):
        shift = (number - (len(figure.series) - 1) / 2) * width
        axes.bar([positions[x] + shift for x in series.x], series.y, width, color=colour, label=_folded(series.name))
    _name_positions(axes, positions)


def _points(axes: "Axes", figure: Figure) -> None:
    named = _is_named(figure)
    positions = _positions(figure) if named else {}
    width = 0.5 / len(figure.series)
    styles = cycle((colour, marker) for marker in _MARKERS for colour in _COLOURS)
    for number, (series, (colour, marker)) in enumerate(zip(figure.series, styles, strict=False)):
        shift = (number - (len(figure.series) - 1) / 2) * width
        at = [positions[x] + shift for x in series.x] if named else _numbers(series)
        nothing = (None,) * len(series.y)
        low, high = _known(series.low or nothing), _known(series.high or nothing)
        axes.plot([], [], marker, color=colour, label=_folded(series.name))
        axes.plot(at, series.y, marker, color=colour, markerfacecolor="none")
        for x, y, below, above in zip(at, series.y, low, high, strict=True):
            if not isnan(below):  # a point without an interval stays hollow
                around = [[max(0.0, y - below)], [max(0.0, above - y)]]
                axes.errorbar([x], [y], yerr=around, fmt=marker, capsize=3, color=colour)
    if any(low is not None and low < 0 for series in figure.series for low in series.low or ()):
        axes.axhline(0, color="black", linewidth=0.8)
    if named:
        _name_positions(axes, positions)


def _size(figure: Figure) -> tuple[float, float]:
    """Inches: wider with every named position, higher with every line of a long legend."""
    named = _is_named(figure) or figure.shape is FigureShape.BAR
    lines = sum(len(_folded(series.name).split("\n")) for series in figure.series)
    positions = _positions(figure) if named else {}
    below = max((len(str(x)) for x in positions), default=0) * _SLANTED
    return 7.2 + 0.3 * max(0, len(positions) - 12), max(4.2, 2.6 + below, 1.0 + 0.17 * lines)


def _is_named(figure: Figure) -> bool:
    return any(isinstance(x, str) for series in figure.series for x in series.x)


def _known(values: Sequence[float | None]) -> list[float]:
    """Values for matplotlib, which skips nan."""
    return [nan if value is None else value for value in values]


def _positions(figure: Figure) -> dict[float | str, int]:
    return {x: position for position, x in enumerate(dict.fromkeys(x for series in figure.series for x in series.x))}


def _name_positions(axes: "Axes", positions: dict[float | str, int]) -> None:
    named = [str(x) for x in positions]
    size = "x-small" if any(len(name) > _WIDEST for name in named) else "medium"
    axes.set_xticks(list(positions.values()), named, rotation=30, ha="right", fontsize=size, rotation_mode="anchor")


def _folded(name: str) -> str:
    """A name over as many lines as it needs, so that it leaves room for the picture."""
    return fill(name, _WIDEST)


def _numbers(series: Series) -> list[float]:
    return [float(x) for x in series.x]
