"""Paired comparisons on the same questions and first answers (paper, Table 2; docs/spec.md, paired comparison)."""

from collections.abc import Iterator, Sequence

from merit.agent import Method
from merit.report.accuracy import DATASET, DELTA, group_notes, label_in
from merit.report.cells import Row, count, interval, signed, words
from merit.report.figure import Figure, FigureShape, Series
from merit.report.group import RunGroup
from merit.report.names import method_label
from merit.report.statistics import INTERVAL_NOTE, bootstrap, mcnemar, mean
from merit.report.table import Cell, ReportColumn, ReportTable
from merit.types import QuestionId

_TITLE = "Paired comparison with "
Outcomes = dict[int, dict[QuestionId, bool]]  # by seed: whether a question was right at last


def paired_table(groups: Sequence[RunGroup], against: str) -> ReportTable:
    """Every method against one: mean difference, its interval, and on how many questions each is better."""
    rows: list[Row] = []
    for group, method, base in _pairs(groups, against):
        differences = question_differences(outcomes(group, method), outcomes(group, base))
        if not differences:
            continue
        values = list(differences.values())
        between, low, high = interval(bootstrap(values))
        seeds = group.common_seeds(method.name, base.name)
        rows.append(
            {
                "dataset": words(group.label),
                "method": words(method_label(method)),
                "comparison": words(method_label(base)),
                "delta": signed(mean(values)),
                "interval": between,
                "low": low,
                "high": high,
                "wins": count(sum(value > 0 for value in values)),
                "losses": count(sum(value < 0 for value in values)),
                "ties": count(sum(value == 0 for value in values)),
                "questions": count(len(values)),
                "seeds": words(" ".join(map(str, seeds))),
            }
        )
    base_name = label_in(groups, against)
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("comparison", "Compared with", numeric=False, shown=False),
        ReportColumn(
            "delta", "Δ pp", note=f"the row's method minus {base_name}, mean over questions, percentage points"
        ),
        ReportColumn("interval", "95% CI"),
        ReportColumn("low", "95% CI, low", shown=False),
        ReportColumn("high", "95% CI, high", shown=False),
        ReportColumn("wins", "Wins", note=f"questions right more often than with {base_name}, over the seeds"),
        ReportColumn("losses", "Losses", note=f"questions right less often than with {base_name}, over the seeds"),
        ReportColumn("ties", "Ties", note="questions right equally often"),
        ReportColumn("questions", "n", note="questions"),
        ReportColumn("seeds", "Seeds", numeric=False, shown=len({row["seeds"].text for row in rows}) > 1),
    )
    note = (
        f"{DELTA.format(against=base_name)} A question's outcome is averaged over these seeds, then differenced. "
        "(The paper's Table 2 has the other sign: there it is MERIT minus the row's method.) "
        f"{INTERVAL_NOTE} {group_notes(groups)}"
    )
    return ReportTable("paired", _TITLE + base_name, note, columns, tuple(rows))


def mcnemar_table(groups: Sequence[RunGroup], against: str) -> ReportTable:
    """The same pairs seed by seed, where every outcome is yes or no."""
    rows: list[Row] = []
    for group, method, base in _pairs(groups, against):
        ours, theirs = outcomes(group, method), outcomes(group, base)
        for seed in sorted(ours.keys() & theirs.keys()):
            both = ours[seed].keys() & theirs[seed].keys()
            wins = sum(ours[seed][question] and not theirs[seed][question] for question in both)
            losses = sum(theirs[seed][question] and not ours[seed][question] for question in both)
            rows.append(
                {
                    "dataset": words(group.label),
                    "method": words(method_label(method)),
                    "comparison": words(method_label(base)),
                    "seed": count(seed),
                    "wins": count(wins),
                    "losses": count(losses),
                    "p": _p_value(mcnemar(wins, losses)),
                    "questions": count(len(both)),
                }
            )
    base_name = label_in(groups, against)
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("comparison", "Compared with", numeric=False, shown=False),
        ReportColumn("seed", "Seed"),
        ReportColumn("wins", "Wins", note=f"right where {base_name} is wrong"),
        ReportColumn("losses", "Losses", note=f"wrong where {base_name} is right"),
        ReportColumn("p", "p", note="McNemar's exact test, two-sided"),
        ReportColumn("questions", "n", note="questions"),
    )
    note = (
        f"Each method against {base_name}, one stream order at a time; p is of McNemar's exact two-sided test on the "
        f"questions where they disagree, not corrected for the number of tests. {group_notes(groups)}"
    )
    return ReportTable("mcnemar", f"Wins and losses against {base_name} by seed", note, columns, tuple(rows))


def paired_figure(table: ReportTable) -> Figure:
    """The paired differences with their intervals."""
    series = []
    for dataset in dict.fromkeys(row["dataset"].text for row in table.rows):
        rows = [row for row in table.rows if row["dataset"].text == dataset and row["low"].value is not None]
        x = tuple(row["method"].text for row in rows)
        y, low, high = (tuple(_float(row[key].value) for row in rows) for key in ("delta", "low", "high"))
        series.append(Series(dataset, x, y, low, high))
    base = table.title.removeprefix(_TITLE)
    note = f"Points are Δ, a method's accuracy minus that of {base}, in percentage points; bars are its 95% interval."
    return Figure("paired", table.title, note, "Method", "Δ (pp)", FigureShape.POINTS, tuple(series), beside="paired")


def question_differences(ours: Outcomes, theirs: Outcomes) -> dict[QuestionId, float]:
    """For each question the difference of its mean outcomes over common seeds, in percentage points."""
    pairs: dict[QuestionId, list[int]] = {}
    for seed in sorted(ours.keys() & theirs.keys()):
        for question, right in ours[seed].items():
            if question in theirs[seed]:
                pairs.setdefault(question, []).append(int(right) - int(theirs[seed][question]))
    # One fixed order, so that resamples are reproducible
    ordered = sorted(pairs, key=lambda question: (isinstance(question, str), question))
    return {question: 100.0 * sum(pairs[question]) / len(pairs[question]) for question in ordered}


def unpaired(groups: Sequence[RunGroup], against: str, *, named: bool) -> Iterator[str]:
    """A sentence for each group in which there is nothing to pair with.

    A group of one method has nothing to pair: there is a sentence only if the user named the other method.
    """
    for group in groups:
        if group.identity.review and not named:
            continue  # runs of this regime have a table of pairs of their own
        if against not in group.runs and (named or len(group.runs) > 1):
            there = ", ".join(method.name for method in group.methods)
            yield f"{group.label}: nothing is paired, there is no run of {against}; --against can name {there}"
        elif named and len(group.runs) == 1:
            yield f"{group.label}: nothing is paired, there are runs of {against} alone"


def _pairs(groups: Sequence[RunGroup], against: str) -> Iterator[tuple[RunGroup, Method, Method]]:
    """Every other method with the one that all are compared with."""
    for group in groups:
        if base := group.of(against):
            for method in group.methods:
                if method.name != against:
                    yield group, method, base[0].method


def outcomes(group: RunGroup, method: Method) -> Outcomes:
    """What became of every question in a method's runs."""
    return {
        run.seed: {turn.episode.task.question.id: turn.final_correct for turn in run.answers}
        for run in group.of(method.name)
    }


def _p_value(value: float) -> Cell:
    return Cell(value, f"{value:.4f}" if value >= 0.00005 else "<0.0001")


def _float(value: object) -> float:
    assert isinstance(value, int | float)
    return float(value)
