"""What a simulated reviewer is worth: answers before feedback, by half of the stream, reviewed and not.

Runs of one method with different shares of reviewed answers are compared like methods; those with a share of 0 are what
the others are paired with, on the same questions and seeds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from merit.agent import Method
from merit.report.accuracy import DATASET, DELTA, group_notes
from merit.report.cells import NOTHING, Row, count, interval, number, signed, spread, words
from merit.report.group import RunGroup, ScoredRun
from merit.report.names import method_label
from merit.report.statistics import INTERVAL_NOTE, bootstrap, mean
from merit.report.table import Cell, ReportColumn, ReportTable
from merit.runs import Turn
from merit.runs.accounting import half
from merit.types import QuestionId, Regime, ReviewOutcome

_BEFORE = (
    "An answer counts as it was before anything was said of it; only later questions are shown what the reviewer said."
)
Part = Callable[[Turn, int], bool]  # whether a turn belongs to it, of a stream of so many answers
PARTS: Mapping[str, Part] = {
    "all": lambda _turn, _answered: True,
    "first half": lambda turn, answered: half(turn, answered) == 0,
    "second half": lambda turn, answered: half(turn, answered) == 1,
    "reviewed": lambda turn, _answered: turn.review is not None,
    "not reviewed": lambda turn, _answered: turn.review is None,
}


def reviewed_table(groups: Sequence[RunGroup]) -> ReportTable:
    """Accuracy before feedback in every part, and what the reviewer said."""
    rows: list[Row] = []
    for group, method in _reviewed(groups):
        runs = group.of(method.name)
        row = {"dataset": words(group.label), "method": words(method_label(method))}
        for part in PARTS:
            row[part], row[f"{part}, std"] = spread(_accuracies(runs, part))
        for said in ReviewOutcome:
            row[said.value] = number(mean([run.counts["review"][said] for run in runs]), 1)
        row["seeds"] = count(len(runs))
        rows.append(row)
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False, note="with the share of answers that the reviewer sees"),
        *(ReportColumn(part, part.capitalize(), note=f"percent right of these answers: {part}") for part in PARTS),
        *(ReportColumn(f"{part}, std", f"{part.capitalize()}, std.", shown=False) for part in PARTS),
        *(
            ReportColumn(said.value, said.capitalize(), note=f"answers that the reviewer {said}, mean over seeds")
            for said in ReviewOutcome
        ),
        ReportColumn("seeds", "Seeds", note="how many"),
    )
    note = f"{_BEFORE} Means and sample standard deviations (n-1) over seeds. {group_notes(_own(groups))}"
    return ReportTable("reviewed", "Accuracy before feedback, by what is reviewed", note, columns, tuple(rows))


def reviewed_paired_table(groups: Sequence[RunGroup]) -> ReportTable:
    """Every share against none, on the same questions and seeds, in every part of the stream."""
    rows: list[Row] = []
    for group, method in _reviewed(groups):
        base = _unreviewed(group, method)
        if base is None or base.name == method.name:
            continue
        rows += [row for part in PARTS if (row := _paired_row(group, method, base, part))]
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("part", "Questions", numeric=False, note="of the run with reviews, and the same ones without"),
        ReportColumn("accuracy", "Right", note="percent, with reviews"),
        ReportColumn("base", "Without", note="percent, with no reviews, on the same questions and seeds"),
        ReportColumn("delta", "Δ pp", note="Right minus Without, percentage points"),
        ReportColumn("interval", "95% CI"),
        ReportColumn("low", "95% CI, low", shown=False),
        ReportColumn("high", "95% CI, high", shown=False),
        ReportColumn("wins", "Wins", note="questions right more often with reviews, over the seeds"),
        ReportColumn("losses", "Losses", note="questions right less often with reviews, over the seeds"),
        ReportColumn("questions", "n", note="questions"),
        ReportColumn("answers", "Answers", note="to them, over the seeds in which they belong to the part"),
    )
    note = (
        f"{DELTA.format(against='the same method without reviews')} {_BEFORE} "
        f"{INTERVAL_NOTE} {group_notes(_own(groups))}"
    )
    title = "Paired comparison with no reviews"
    return ReportTable("reviewed_paired", title, note, columns, tuple(rows))


def reviewed_summary(groups: Sequence[RunGroup]) -> ReportTable:
    """What matters most of both tables, in one that fits a terminal."""
    rows: list[Row] = []
    for group, method in _reviewed(groups):
        run, base = group.of(method.name)[0], _unreviewed(group, method)
        paired = _paired_row(group, method, base, "second half") if base and base.name != method.name else None
        own = method_label(run.view.method)
        rows.append(
            {
                "dataset": words(group.label),
                "method": words(own),
                "review": words(method_label(method).removeprefix(f"{own} (").removesuffix(")")),
                **{part: number(mean(_accuracies(group.of(method.name), part))) for part in ("all", "second half")},
                "delta": words(f"{paired['delta'].text} {paired['interval'].text}") if paired else NOTHING,
            }
        )
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("review", "Reviewed", numeric=False),
        ReportColumn("all", "All"),
        ReportColumn("second half", "2nd half"),
        ReportColumn("delta", "Δ 2nd half [95% CI]"),
    )
    note = "Percent right before feedback, and the second half against that without reviews; the page has the rest."
    return ReportTable("reviewed_summary", "What reviews are worth", note, columns, tuple(rows))


def without_base(groups: Sequence[RunGroup]) -> Iterator[str]:
    """A sentence for each method whose reviewed runs have nothing to be paired with."""
    for group, method in _reviewed(groups):
        if _unreviewed(group, method) is None:
            yield f"{group.label}: {method_label(method)} is paired with nothing: there is no run with a share of 0"


def holding_references(groups: Sequence[RunGroup]) -> Iterator[str]:
    """A sentence for each group with corrections, which are references."""
    for group in _own(groups):
        if any(run.counts["review"][ReviewOutcome.CORRECTED] for run in group.all_runs()):
            yield (
                f"{group.label}: runs with corrections hold reference answers, and so does the page: keep both from "
                "models and prompts that are scored on these questions"
            )


def _paired_row(group: RunGroup, method: Method, base: Method, part: str) -> Row | None:
    pairs: dict[QuestionId, list[tuple[bool, bool]]] = {}  # with reviews and without, by question
    for seed in group.common_seeds(method.name, base.name):
        theirs = {_id(turn): turn.final_correct for turn in group.runs[base.name][seed].answers}
        for turn in _turns(group.runs[method.name][seed], part):
            if _id(turn) in theirs:
                pairs.setdefault(_id(turn), []).append((turn.final_correct, theirs[_id(turn)]))
    if not pairs:
        return None
    outcomes = [pair for _, own in sorted(pairs.items(), key=_fixed_order) for pair in own]
    gains = [sum(ours - theirs for ours, theirs in own) for _, own in sorted(pairs.items(), key=_fixed_order)]
    # A question may be in a part in some seeds only: every answer counts alike, and questions are what is resampled.
    values = [100.0 * gain * len(gains) / len(outcomes) for gain in gains]
    between, low, high = interval(bootstrap(values))
    return {
        "dataset": words(group.label),
        "method": words(method_label(method)),
        "part": words(part),
        "accuracy": _percent([ours for ours, _ in outcomes]),
        "base": _percent([theirs for _, theirs in outcomes]),
        "delta": signed(mean(values)),
        "interval": between,
        "low": low,
        "high": high,
        "wins": count(sum(gain > 0 for gain in gains)),
        "losses": count(sum(gain < 0 for gain in gains)),
        "questions": count(len(gains)),
        "answers": count(len(outcomes)),
    }


def _own(groups: Sequence[RunGroup]) -> list[RunGroup]:
    return [group for group in groups if group.identity.regime is Regime.REVIEWED]


def _reviewed(groups: Sequence[RunGroup]) -> Iterator[tuple[RunGroup, Method]]:
    for group in _own(groups):
        for method in group.methods:
            yield group, method


def _unreviewed(group: RunGroup, method: Method) -> Method | None:
    """The same method with a share of 0."""
    own = group.of(method.name)[0].view.method.name
    for other in group.methods:
        identity = group.of(other.name)[0].view.identity
        if identity.method.name == own and identity.review and identity.review.share == 0:
            return other
    return None


def _turns(run: ScoredRun, part: str) -> list[Turn]:
    return [turn for turn in run.answers if PARTS[part](turn, len(run.answers))]


def _accuracies(runs: Sequence[ScoredRun], part: str) -> list[float]:
    """The accuracy of each run in a part; runs without answers in it are left out."""
    parts = [[turn.final_correct for turn in _turns(run, part)] for run in runs]
    return [100.0 * sum(rights) / len(rights) for rights in parts if rights]


def _percent(rights: Sequence[bool]) -> Cell:
    return number(100.0 * sum(rights) / len(rights))


def _fixed_order(item: tuple[QuestionId, object]) -> tuple[bool, QuestionId]:
    """One fixed order, so that resamples are reproducible."""
    return isinstance(item[0], str), item[0]


def _id(turn: Turn) -> QuestionId:
    return turn.episode.task.question.id
