"""Execution accuracy: the main table, the ablations, and their figure (paper, Tables 1 and 4)."""

from collections.abc import Sequence

from merit.agent import Method
from merit.report.cells import NOTHING, Row, lead, number, signed, spread, words
from merit.report.figure import Figure, FigureShape, Series
from merit.report.group import RunGroup, ScoredRun
from merit.report.names import ABLATIONS, method_label
from merit.report.statistics import deviation, mean
from merit.report.table import Cell, ReportColumn, ReportTable

FULL = "merit"
_SPREAD = "Values are mean ± sample standard deviation (n-1) over seeds, in percent; one seed has no deviation."
RANKED = "This goes by the seeds that more than half of these methods were run with; other seeds do not count."
_LEADERS = (
    "Bold and underlined are the best and the second within a dataset, ties alike; a method that is not online, or was "
    f"not run with all seeds, takes no part in that. {RANKED}"
)
# The meaning of Δ in every output: terminal, Markdown, LaTeX and page.
DELTA = (
    "Δ is the accuracy of a row's method minus that of {against}, in percentage points (pp), over the questions and "
    "seeds that both ran: above zero, the row's method is right more often."
)
BARS = "Bars are one sample standard deviation (n-1) over seeds; a hollow point is of one seed, which has none."
DATASET = ReportColumn("dataset", "Dataset", numeric=False)


def main_table(groups: Sequence[RunGroup]) -> ReportTable:
    """Accuracy of every method except ablations, that of its first answers, and the gain."""
    rows: list[Row] = []
    for group in groups:
        methods = [method for method in group.methods if method.name not in ABLATIONS]
        group_rows = [_accuracy_row(group, method) for method in methods]
        for row, method in zip(group_rows, methods, strict=True):
            runs = group.of(method.name)
            row["initial"] = number(mean([run.initial_accuracy for run in runs]))
            row["gain"] = signed(mean([run.accuracy - run.initial_accuracy for run in runs]))
        lead(group_rows, "accuracy", ranked(group, methods))
        rows += group_rows
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("initial", "Initial", note="accuracy of the shared first answers"),
        ReportColumn("accuracy", "Exec. accuracy", note="right at last"),
        ReportColumn("gain", "Gain pp", note="Exec. accuracy minus Initial, in percentage points"),
        ReportColumn("std", "Std.", shown=False),
        seeds_column(rows),
    )
    note = f"{_SPREAD} {_LEADERS} {group_notes(groups)}"
    return ReportTable("main", "Execution accuracy", note, columns, tuple(rows))


def ablation_table(groups: Sequence[RunGroup]) -> ReportTable:
    """MERIT and what is left of it without each of its parts."""
    rows: list[Row] = []
    for group in groups:
        methods = [method for method in group.methods if method.name in (FULL, *ABLATIONS)]
        if not any(method.name in ABLATIONS for method in methods):
            continue
        group_rows = [_accuracy_row(group, method) for method in methods]
        for row, method in zip(group_rows, methods, strict=True):
            row["delta"] = NOTHING
            if method.name == FULL:
                row["method"] = words("MERIT Full")
            elif both := group.common_seeds(method.name, FULL):
                ours, full = group.runs[method.name], group.runs[FULL]
                row["delta"] = signed(mean([ours[seed].accuracy - full[seed].accuracy for seed in both]))
        lead(group_rows, "accuracy", ranked(group, methods))
        rows += group_rows
    columns = (
        DATASET,
        ReportColumn("method", "Variant", numeric=False),
        ReportColumn("accuracy", "Exec.", note="right at last"),
        ReportColumn("delta", "Δ pp", note="Exec. of the row minus that of MERIT Full, in percentage points"),
        ReportColumn("std", "Std.", shown=False),
        seeds_column(rows),
    )
    note = f"{DELTA.format(against='MERIT Full')} {_SPREAD} {_LEADERS} {group_notes(groups)}"
    return ReportTable("ablation", "Execution accuracy of MERIT's ablations", note, columns, tuple(rows))


def accuracy_figure(groups: Sequence[RunGroup]) -> Figure:
    """Accuracy of every method with its spread."""
    series = []
    for group in groups:
        accuracies = {method_label(method): [run.accuracy for run in group.of(method.name)] for method in group.methods}
        middles = tuple(mean(values) for values in accuracies.values())
        ends = [around(values) for values in accuracies.values()]
        low, high = tuple(end[0] for end in ends), tuple(end[1] for end in ends)
        series.append(Series(group.label, tuple(accuracies), middles, low, high))
    note = f"{BARS} {group_notes(groups)}"
    title, x, y = "Execution accuracy", "Method", "Exec. accuracy (%)"
    return Figure("accuracy", title, note, x, y, FigureShape.POINTS, tuple(series), beside="main")


def around(values: Sequence[float]) -> tuple[float | None, float | None]:
    """The ends of a bar of one standard deviation; a single value has none."""
    width = deviation(values)
    return (None, None) if width is None else (mean(values) - width, mean(values) + width)


def group_notes(groups: Sequence[RunGroup]) -> str:
    """What the numbers of a table describe: data, model and settings of each group."""
    return " ".join(group.about for group in groups)


def label_in(groups: Sequence[RunGroup], name: str) -> str:
    """The label of the method with this name; the name itself where no group has a run of it."""
    return next((method_label(method) for group in groups for method in group.methods if method.name == name), name)


def ranked(group: RunGroup, methods: Sequence[Method]) -> list[Row | None]:
    """The accuracies that decide which method leads: of online methods, where they can be compared."""
    fair = group.ranking(method for method in methods if method.online)
    runs = [fair.of(method.name) for method in methods]
    return [
        {"accuracy": number(mean([run.accuracy for run in method_runs]))} if method_runs else None
        for method_runs in runs
    ]


def seeds_of(runs: Sequence[ScoredRun]) -> Cell:
    """The number of seeds as the value, the list of seeds as the text."""
    return Cell(len(runs), ", ".join(str(run.seed) for run in runs))


def seeds_column(rows: Sequence[Row]) -> ReportColumn:
    """The seeds of each row; shown only where rows differ in them."""
    return ReportColumn("seeds", "Seeds", shown=len({row["seeds"].text for row in rows}) > 1)


def _accuracy_row(group: RunGroup, method: Method) -> Row:
    runs = group.of(method.name)
    accuracy, spread_cell = spread([run.accuracy for run in runs])
    return {
        "dataset": words(group.label),
        "method": words(method_label(method)),
        "accuracy": accuracy,
        "std": spread_cell,
        "seeds": seeds_of(runs),
    }
