"""All methods in one table that fits a terminal: accuracy and the difference from one of them, with intervals."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from merit.agent import Method
from merit.report.accuracy import DATASET, DELTA, group_notes, label_in, ranked
from merit.report.cells import NOTHING, Row, lead, number, signed, words
from merit.report.group import RunGroup
from merit.report.names import method_label
from merit.report.paired import Outcomes, outcomes, question_differences
from merit.report.statistics import INTERVAL_NOTE, bootstrap, mean
from merit.report.table import Cell, ReportColumn, ReportTable
from merit.types import QuestionId


def summary_table(groups: Sequence[RunGroup], against: str) -> ReportTable:
    """Every method's accuracy, and its paired difference from `against`."""
    rows: list[Row] = []
    base = label_in(groups, against)
    for group in groups:
        group_rows = [_row(group, method, against) for method in group.methods]
        lead(group_rows, "accuracy", ranked(group, group.methods))
        rows += group_rows
    compared = any(group.of(against) for group in groups)  # else there is nothing to compare with
    delta = ReportColumn("delta", f"Δ pp to {base} [95% CI]", note=f"the row's accuracy minus that of {base}")
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("accuracy", "Accuracy [95% CI]", note="right at last, in percent, mean over seeds"),
        *([delta] if compared else []),
        ReportColumn("repaired", "Rep.", note="wrong at first, right at last, mean over seeds"),
        ReportColumn("calls", "Calls", note="of the model, mean over seeds"),
    )
    meaning = f"{DELTA.format(against=base)} " if compared else ""
    note = f"{meaning}{INTERVAL_NOTE} {group_notes(groups)}"
    return ReportTable("summary", "All methods", note, columns, tuple(rows))


def _row(group: RunGroup, method: Method, against: str) -> Row:
    runs, own_outcomes = group.of(method.name), outcomes(group, method)
    base = [run.method for run in group.of(against) if method.name != against]
    values = list(question_differences(own_outcomes, outcomes(group, base[0])).values()) if base else []
    return {
        "dataset": words(group.label),
        "method": words(method_label(method)),
        "accuracy": _between(number(mean([run.accuracy for run in runs])), number, _rates(own_outcomes)),
        "delta": _between(signed(mean(values)), signed, values) if values else NOTHING,
        "repaired": number(mean([run.counts["repaired"] for run in runs]), 1),
        "calls": number(mean([run.counts["calls"]["total"] for run in runs]), 0),
    }


def _rates(by_seed: Outcomes) -> list[float]:
    """For each question the percentage of seeds with a right answer."""
    pooled: dict[QuestionId, list[bool]] = {}
    for _, right in sorted(by_seed.items()):
        for question, correct in right.items():
            pooled.setdefault(question, []).append(correct)
    # One fixed order, so that resamples are reproducible
    ordered = sorted(pooled, key=lambda question: (isinstance(question, str), question))
    return [100.0 * sum(pooled[question]) / len(pooled[question]) for question in ordered]


def _between(cell: Cell, form: Callable[[float], Cell], values: list[float]) -> Cell:
    """A mean with the confidence interval of its values."""
    ends = bootstrap(values)
    if ends is None:
        return cell
    low, high = (form(end).text for end in ends)
    return replace(cell, text=f"{cell.text} [{low}, {high}]")
