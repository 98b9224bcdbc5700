"""How a run proceeds: what it learns along its stream, and at which step questions are repaired."""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from merit.agent import Method
from merit.agent.rules import votes
from merit.report.accuracy import DATASET, around, group_notes
from merit.report.breakdown import REPAIRERS, all_methods, part_columns, share_rows
from merit.report.cells import Row, count, number, words
from merit.report.figure import Figure, FigureShape, Series
from merit.report.group import RunGroup, ScoredRun, file_suffix
from merit.report.names import method_label
from merit.report.statistics import mean
from merit.report.table import ReportColumn, ReportTable
from merit.runs import Turn

_PARTS = 10
_POINTS = 60
_BEYOND = (
    "the budget counts candidates that the judge sees. A draw that repeats an earlier candidate is set aside and drawn "
    "again, at the price of a model call but not of the budget, so a method that draws may take more draws than that."
)


def learning_table(groups: Sequence[RunGroup]) -> ReportTable:
    """The share of wrong first answers that was repaired, along the stream."""
    methods = all_methods(groups)
    rows: list[Row] = []
    for group in groups:
        length = group.answered
        parts = min(_PARTS, length)

        def part_of(turn: Turn, length: int = length, parts: int = parts) -> int | None:
            return None if turn.initial_correct else turn.episode.task.position * parts // length

        wrong = {
            (run.seed, turn.episode.task.question.id): part_of(turn) for run in group.all_runs() for turn in run.answers
        }
        sizes = Counter(wrong.values())  # every method has a seed's questions in the same order
        shares = share_rows(group, methods, part_of, repairing=True)
        for part in sorted(shares):
            first, last = (-(-length * edge // parts) for edge in (part, part + 1))
            row = {"dataset": words(group.label), "part": words(f"{first + 1}-{last}"), "questions": count(sizes[part])}
            rows.append({**row, **shares[part]})
    columns = (
        DATASET,
        ReportColumn("part", "Position", numeric=False, note="in the stream"),
        ReportColumn("questions", "n", note="wrong first answers over all seeds"),
        *part_columns(methods),
    )
    note = (
        "Percent of the wrong first answers in this part of the stream that were repaired, over all seeds together; "
        f"each seed has its own order. {REPAIRERS} {group_notes(groups)}"
    )
    return ReportTable("learning", "Repaired along the stream", note, columns, tuple(rows))


def steps_table(groups: Sequence[RunGroup]) -> ReportTable:
    """How many questions were repaired at each step: one by one up to the budget, then as many draws together."""
    budget = max((group.identity.budget for group in groups), default=0)
    longest = max((_longest(group, method) for group in groups for method in group.methods), default=0)
    spans = [(step, step) for step in range(1, budget + 1)]
    spans += [(start, start + budget - 1) for start in range(budget + 1, longest + 1, max(1, budget))]
    rows: list[Row] = []
    for group in groups:
        for method in group.methods:
            runs = group.of(method.name)
            row = {"dataset": words(group.label), "method": words(method_label(method))}
            for first, last in spans:
                counts = [sum(_repaired_at(run)[step] for step in range(first, last + 1)) for run in runs]
                row[f"step_{first}"] = number(mean(counts) if first <= _longest(group, method) else None, 1)
            row["all"] = number(mean([run.counts["repaired"] for run in runs]), 1)
            row["repeats"] = number(mean([_repeats(run) for run in runs]), 1)
            rows.append(row)
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        *(ReportColumn(f"step_{first}", str(first) if first == last else f"{first}-{last}") for first, last in spans),
        ReportColumn("all", "All", note="repaired at any step"),
        ReportColumn(
            "repeats", "Set aside", note="draws that repeated an earlier candidate: not judged, not of the budget"
        ),
    )
    beyond = f" Steps beyond {budget}: {_BEYOND}" if longest > budget else ""
    note = (
        "Questions that came right at each repair step, means over seeds; every draw is a step, also one that was set "
        f"aside, and where candidates vote, the step is the last one.{beyond} {group_notes(groups)}"
    )
    return ReportTable("steps", "Repairs by step", note, columns, tuple(rows))


def learning_figures(groups: Sequence[RunGroup]) -> list[Figure]:
    """What a method gained over the first answers up to each position, one figure a group."""
    return [_learning_figure(group, file_suffix(groups, group)) for group in groups]


def steps_figures(groups: Sequence[RunGroup]) -> list[Figure]:
    """What was repaired up to each step, one figure a group."""
    figures = []
    for group in groups:
        series = []
        for method in group.methods:
            if method.repairs:
                steps = range(_longest(group, method) + 1)
                counts = [list(accumulate(_repaired_at(run)[step] for step in steps)) for run in group.of(method.name)]
                y = tuple(mean([curve[step] for curve in counts]) for step in steps)
                series.append(Series(method_label(method), tuple(map(float, steps)), y))
        budget = group.identity.budget
        drawn = any(_longest(group, method) > budget for method in group.methods)
        beyond = f" Steps beyond {budget}: {_BEYOND}" if drawn else ""
        note = f"Questions repaired up to a step, means over seeds.{beyond} {group.about}"
        identity, title = f"steps{file_suffix(groups, group)}", f"Repairs by step, {group.label}"
        labels = ("Repair step", "Repaired questions")
        figures.append(Figure(identity, title, note, *labels, FigureShape.LINE, tuple(series), beside="steps"))
    return figures


def _learning_figure(group: RunGroup, suffix: str) -> Figure:
    length = group.answered
    points = sorted({max(1, round(length * i / _POINTS)) for i in range(1, _POINTS + 1)})
    series = []
    for method in group.methods:
        curves = [_gains(run, points) for run in group.of(method.name)]
        at = [[curve[i] for curve in curves] for i in range(len(points))]
        middle, ends = tuple(mean(values) for values in at), [around(values) for values in at]
        low = high = None
        if len(curves) > 1:
            low, high = tuple(end[0] for end in ends), tuple(end[1] for end in ends)
        series.append(Series(method_label(method), tuple(map(float, points)), middle, low, high))
    note = (
        "Accuracy gained over the first answers on the questions up to a position; bands are one sample standard "
        f"deviation (n-1) over seeds; a line without one is of one seed. {group.about}"
    )
    title, x, y = f"Learning curve, {group.label}", "Position in the stream", "Gain over first answers (pp)"
    return Figure(f"learning{suffix}", title, note, x, y, FigureShape.LINE, tuple(series), beside="learning")


def _gains(run: ScoredRun, points: Sequence[int]) -> list[float]:
    gained = list(accumulate(int(turn.final_correct) - int(turn.initial_correct) for turn in run.answers))
    return [100.0 * gained[min(point, len(gained)) - 1] / point for point in points]


def _longest(group: RunGroup, method: Method) -> int:
    """How many steps an episode may take: nothing is set aside where candidates vote."""
    return group.identity.budget * (1 if votes(method, group.identity.regime) else method.draws)


def _repeats(run: ScoredRun) -> int:
    return sum(attempt.repeat for turn in run.answers for attempt in turn.episode.attempts)


def _repaired_at(run: ScoredRun) -> Counter[int]:
    return Counter({int(step): times for step, times in run.counts["repaired_at_step"].items()})
