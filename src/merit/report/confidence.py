"""How sure voted answers are, and whether that can be trusted: where the agent is not told what is right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from merit.agent import Method
from merit.agent.confidence import Calibration, find_calibration
from merit.agent.rules import votes
from merit.report.accuracy import DATASET, group_notes, seeds_column, seeds_of
from merit.report.calibrate import outcomes_of
from merit.report.calibration_quality import (
    ConfidenceBin,
    Stated,
    brier,
    calibration_error,
    confidence_bins,
    kept_accuracy,
)
from merit.report.cells import Row, count, number, words
from merit.report.figure import Figure, FigureShape, Series
from merit.report.group import RunGroup, ScoredRun, file_suffix
from merit.report.names import method_label
from merit.report.statistics import CONFIDENCE, mean, wilson
from merit.report.table import ReportColumn, ReportTable

_LEFT_OUT = (0, 10, 25, 50)  # percent of the answers, the least sure first
_COVERAGES = range(10, 101, 5)  # percent of the answers
_SHARE, _CALIBRATED = "share of votes", "calibrated"
_MEANING = (
    "Candidates vote where the agent is not told what is right; the share of votes for the answer that stands says how "
    "sure it is. An episode ends when more votes could not change the answer, so five equal votes may be all, a "
    "share of 100%."
)


@dataclass(frozen=True, slots=True)
class Voting:
    """A method of a group whose candidates voted, its runs, and the calibration that applies to them."""

    group: RunGroup
    method: Method
    runs: tuple[ScoredRun, ...]
    calibration: Calibration | None

    def stated(self, *, calibrated: bool) -> list[Stated]:
        """How sure each answer was and whether it was right, by run; calibrated only where there is a calibration."""
        shares = [outcomes_of(run.view) for run in self.runs]
        if not calibrated:
            return list(shares)
        assert self.calibration is not None
        return [[(self.calibration.confidence(share), right) for share, right in run] for run in shares]


def votings(groups: Sequence[RunGroup], calibration: Calibration | None = None) -> list[Voting]:
    """All methods whose candidates voted, with the calibration that is given or else the one that merit has."""
    return [
        Voting(group, method, tuple(group.of(method.name)), _calibration_of(group, calibration))
        for group in groups
        for method in group.methods
        if votes(method, group.identity.regime)
    ]


def confidence_table(found: Sequence[Voting], given: Calibration | None = None) -> ReportTable:
    """For each method: mean share of votes, accuracy without the least sure, Brier score and calibration error."""
    rows = [_row(voting) for voting in found]
    calibrated = any(voting.calibration for voting in found)
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("share", "Share", note="mean share of votes, in percent"),
        *(
            ReportColumn(f"without_{part}", f"Surest {100 - part}%" if part else "Right", note=_left_out_note(part))
            for part in _LEFT_OUT
        ),
        ReportColumn("brier_share", "Brier", note="Brier score of the share of votes"),
        ReportColumn("brier_calibrated", "Brier cal.", note="that of the calibrated confidence", shown=calibrated),
        ReportColumn("error_share", "ECE", note="expected calibration error of the share of votes"),
        ReportColumn("error_calibrated", "ECE cal.", note="that of the calibrated confidence", shown=calibrated),
        seeds_column(rows),
    )
    groups = _groups(found)
    other = sorted({method_label(voting.method) for voting in found if voting.calibration and not _same_method(voting)})
    foreign = f" It was not fitted on {', '.join(other)}, whose shares may be worth something else." if other else ""
    note = (
        f"{_MEANING} All numbers are means over seeds. The Brier score is the mean squared difference between the "
        "confidence, from 0 to 1, and the outcome, 1 for right and 0 for wrong: 0 is perfect, and always saying 0.5 "
        "gives 0.25. The expected calibration error is the mean gap between confidence and accuracy over ten bins of "
        "confidence, in percentage points. Of answers that are equally sure, each is left out in part, so that order "
        f"decides nothing. {_calibrated_on(groups, given)}{foreign} {group_notes(groups)}"
    )
    return ReportTable("confidence", "Confidence", note, columns, tuple(rows))


def reliability_table(found: Sequence[Voting]) -> ReportTable:
    """For each method and bin of confidence: how many answers, and how many of them were right."""
    rows: list[Row] = []
    for voting in found:
        for kind, stated in _pooled(voting):
            rows += [_bin_row(voting, kind, part) for part in confidence_bins(stated)]
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("kind", "Confidence", numeric=False),
        ReportColumn("bin", "Bin", numeric=False, note="of confidence, in percent"),
        ReportColumn("answers", "n", note="answers over all seeds"),
        ReportColumn("stated", "Stated", note="mean confidence, in percent"),
        ReportColumn("right", "Right", note="in percent"),
    )
    note = (
        "Answers by how sure they were, over all seeds together. A confidence can be trusted where Right is near "
        f"Stated. {group_notes(_groups(found))}"
    )
    return ReportTable("reliability", "Reliability of confidence", note, columns, tuple(rows))


def confidence_figures(groups: Sequence[RunGroup], found: Sequence[Voting]) -> list[Figure]:
    """For each group the reliability diagram, and accuracy against the share of questions that are answered."""
    figures = []
    for group in _groups(found):
        own, suffix = [voting for voting in found if voting.group is group], file_suffix(groups, group)
        figures += [_reliability_figure(group, own, suffix), _coverage_figure(group, own, suffix)]
    return figures


def judged_on_itself(found: Sequence[Voting]) -> Iterator[str]:
    """A sentence for each group whose data the calibration was fitted on."""
    for group in _groups(found):
        used = next(voting.calibration for voting in found if voting.group is group)
        if used is not None and group.identity.dataset.sha256 in used.data_sha256:
            yield (
                f"{group.label}: the calibration was fitted on this same data, so its scores are better than they "
                "would be on other questions"
            )


def _row(voting: Voting) -> Row:
    plain = voting.stated(calibrated=False)
    row: Row = {
        "dataset": words(voting.group.label),
        "method": words(method_label(voting.method)),
        "share": number(mean([100 * mean([share for share, _ in run]) for run in plain])),
        "seeds": seeds_of(voting.runs),
    }
    for part in _LEFT_OUT:
        row[f"without_{part}"] = number(mean([100 * kept_accuracy(run, 1 - part / 100) for run in plain]))
    for kind, runs in (("share", plain), ("calibrated", voting.stated(calibrated=True) if voting.calibration else [])):
        row[f"brier_{kind}"] = number(mean([brier(run) for run in runs]) if runs else None, 4)
        row[f"error_{kind}"] = number(mean([100 * calibration_error(run) for run in runs]) if runs else None)
    return row


def _bin_row(voting: Voting, kind: str, part: ConfidenceBin) -> Row:
    return {
        "dataset": words(voting.group.label),
        "method": words(method_label(voting.method)),
        "kind": words(kind),
        "bin": words(f"{100 * part.low:.0f}-{100 * part.high:.0f}"),
        "answers": count(part.answers),
        "stated": number(100 * part.stated),
        "right": number(100 * part.accuracy),
    }


def _reliability_figure(group: RunGroup, found: Sequence[Voting], suffix: str) -> Figure:
    series = [Series("As sure as right", (0.0, 100.0), (0.0, 100.0), guide=True)]
    for voting in found:
        for kind, stated in _pooled(voting):
            label = method_label(voting.method) + (f", {_CALIBRATED}" if kind == _CALIBRATED else "")
            bins = confidence_bins(stated)
            ends = [wilson(part.right, part.answers) for part in bins]
            series.append(
                Series(
                    label,
                    tuple(100 * part.stated for part in bins),
                    tuple(100 * part.accuracy for part in bins),
                    tuple(100 * low for low, _ in ends),
                    tuple(100 * high for _, high in ends),
                    counts=tuple(part.answers for part in bins),
                )
            )
    note = (
        "A point is a bin of answers that are about equally sure, over all seeds, the larger the more answers; on the "
        f"dashed line a confidence is exactly as high as its answers are right. Bands are {CONFIDENCE:.0%} Wilson "
        f"intervals, which take all answers for independent. {group.about}"
    )
    title = f"Reliability of confidence, {group.label}"
    return Figure(
        f"reliability{suffix}", title, note, "Confidence (%)", "Right (%)", FigureShape.LINE, tuple(series),
        beside="reliability",
    )  # fmt: skip


def _coverage_figure(group: RunGroup, found: Sequence[Voting], suffix: str) -> Figure:
    series = []
    for voting in found:
        runs = voting.stated(calibrated=False)
        y = tuple(mean([100 * kept_accuracy(run, part / 100) for run in runs]) for part in _COVERAGES)
        series.append(Series(method_label(voting.method), tuple(map(float, _COVERAGES)), y))
    note = (
        "Accuracy of the surest answers by their share of votes, when the others are left out; means over seeds. At "
        "100 all are answered. A calibration never makes a less sure answer the surer one, so there is only one curve. "
        f"{group.about}"
    )
    title, x, y_label = f"Accuracy against coverage, {group.label}", "Answered (%)", "Right (%)"
    return Figure(
        f"coverage{suffix}", title, note, x, y_label, FigureShape.LINE, tuple(series), beside="confidence"
    )  # fmt: skip


def _pooled(voting: Voting) -> list[tuple[str, Stated]]:
    """All answers of all seeds: with their share of votes and, where there is a calibration, their confidence."""
    kinds = [(_SHARE, False), *([(_CALIBRATED, True)] if voting.calibration else [])]
    return [(name, [answer for run in voting.stated(calibrated=flag) for answer in run]) for name, flag in kinds]


def _same_method(voting: Voting) -> bool:
    return voting.calibration is not None and voting.calibration.method == voting.method.name


def _calibration_of(group: RunGroup, given: Calibration | None) -> Calibration | None:
    return find_calibration(group.identity.model.name, group.identity.prompts.family, given)


def _calibrated_on(groups: Sequence[RunGroup], given: Calibration | None) -> str:
    """For each group what its confidence was calibrated on, or that it was not."""
    sentences = []
    for group in groups:
        model, prompts = group.identity.model.name, group.identity.prompts.family
        if used := _calibration_of(group, given):
            sentences.append(f"{group.label}: calibrated on {used.about}.")
        elif given is not None:
            sentences.append(
                f"{group.label}: not calibrated; the given calibration is of the model {given.model.name} with prompts "
                f"{given.prompts}, and these runs are of {model} with {prompts}."
            )
        else:
            sentences.append(f"{group.label}: not calibrated; there is no calibration of {model} with {prompts}.")
    return " ".join(sentences)


def _left_out_note(part: int) -> str:
    return f"accuracy in percent when the least sure {part}% are left out" if part else "accuracy in percent"


def _groups(found: Sequence[Voting]) -> list[RunGroup]:
    """Each group once."""
    return list({id(voting.group): voting.group for voting in found}.values())
