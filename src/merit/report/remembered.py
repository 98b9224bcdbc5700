"""What memories hold, how much of it is poisoned, and what recalling it is worth by how near it is."""

import math
from collections.abc import Iterator, Sequence

from merit.agent import Method
from merit.files import is_file
from merit.memory import Grade
from merit.report.accuracy import DATASET, DELTA, group_notes
from merit.report.cells import Row, count, number, signed, words
from merit.report.group import RunGroup, ScoredRun
from merit.report.names import method_label
from merit.report.statistics import mean
from merit.report.table import Cell, ReportColumn, ReportTable
from merit.runs import Turn
from merit.runs.paths import RETRIEVALS
from merit.types import Polarity, QuestionId

_STEPS = 10  # equal parts of the similarities from 0 to 1
_FEWEST = 10  # questions; a difference over fewer is not shown
_NOTHING = -math.inf  # the "tenth" of a question that recalled nothing; sorts first


def memory_table(groups: Sequence[RunGroup]) -> ReportTable:
    """What each method kept, how much of it is poisoned, and how questions fared that were shown poisoned entries."""
    rows: list[Row] = []
    for group in groups:
        for method in group.methods:
            if method.writes or method.recall is not None:
                runs = group.of(method.name)
                row = {"dataset": words(group.label), "method": words(method_label(method))}
                rows.append({**row, **_kept(runs), **_shown(runs)})
    graded = [grade for grade in Grade if any(row[grade.value].value for row in rows)]
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        *(ReportColumn(kind.value, kind.capitalize(), note=f"{kind} entries kept") for kind in Polarity),
        *(
            ReportColumn(grade.value, grade.capitalize(), note=f"kept with the grade {grade}", shown=grade in graded)
            for grade in Grade
        ),
        ReportColumn("poisoned", "Poisoned", note="kept as right, though the judge calls the episode's answer wrong"),
        *(ReportColumn(f"poisoned_{grade}", f"Poisoned, {grade}", shown=False) for grade in Grade),
        ReportColumn("poisoned_share", "% pois.", note="of what was kept as right"),
        ReportColumn("recalls", "Recalls", note="recalls that showed something"),
        ReportColumn("recalls_poisoned", "Pois. recalls", note="of those, recalls that showed a poisoned entry"),
        ReportColumn("episodes_poisoned", "n pois.", note="questions that were shown a poisoned entry, over all seeds"),
        ReportColumn("accuracy_poisoned", "Acc. pois.", note="percent of them right at last"),
        ReportColumn("episodes_sound", "n sound", note="questions that were shown entries, none of them poisoned"),
        ReportColumn("accuracy_sound", "Acc. sound", note="percent of them right at last"),
    )
    note = (
        "Entries and recalls are means over seeds. Only confirmed changes and precedents can be poisoned: a failed "
        "direction is kept as what it is. The agent knows nothing of it; a dash is a run whose retrieval log is not "
        f"whole, or nothing to count. {group_notes(groups)}"
    )
    return ReportTable("memory", "What is remembered, and how sound it is", note, columns, tuple(rows))


def similarity_table(groups: Sequence[RunGroup]) -> ReportTable:
    """Accuracy by how near the nearest entry of the first recall was, beside the method that remembers nothing."""
    rows: list[Row] = []
    blind: dict[str, None] = {}  # methods that recall without a dense similarity
    for group in groups:
        for method in group.methods:
            if method.recall is not None and not method.encodes:
                blind[method_label(method)] = None
            elif method.recall is not None and all(run.recalls_shown is not None for run in group.of(method.name)):
                rows += _nearness(group, method)
    columns = (
        DATASET,
        ReportColumn("method", "Method", numeric=False),
        ReportColumn(
            "part", "Nearest", numeric=False, note="dense similarity of the nearest entry at the first recall"
        ),
        ReportColumn("questions", "n", note="questions that recalled, over the seeds that both methods ran"),
        ReportColumn("accuracy", "Exec. accuracy", note="percent of them right at last"),
        ReportColumn("repaired", "Repaired", note="percent of those wrong at first"),
        ReportColumn("reference", "Beside", numeric=False, note="the method that remembers nothing"),
        ReportColumn("reference_accuracy", "Its accuracy", note="on the same questions and seeds"),
        ReportColumn("gain", "Δ pp", note=f"Exec. accuracy minus Its accuracy; a dash where n is below {_FEWEST}"),
    )
    without = f"Without a similarity, and so not here: {', '.join(blind)}. " if blind else ""
    note = (
        f"{DELTA.format(against='the method beside it')} "
        "Parts are a tenth wide, their lower end included. Methods that show what failed stand beside iterative, the "
        "others beside resample, or whichever of the two was run; without either, a row is of all seeds. "
        f"{without}{group_notes(groups)}"
    )
    return ReportTable("by_similarity", "Gain by similarity of what was recalled", note, columns, tuple(rows))


def without_recalls(groups: Sequence[RunGroup]) -> Iterator[str]:
    """A sentence for each run with an incomplete retrieval log."""
    for view in {
        run.view.path: run.view for group in groups for run in group.all_runs() if run.recalls_shown is None
    }.values():
        log = view.path / RETRIEVALS
        what = "ends before the run does" if is_file(log) else "is missing"
        yield f"{log}: {what}, so no table says what {view.method.name} recalled; `merit audit` says more"


def _nearness(group: RunGroup, method: Method) -> Iterator[Row]:
    """A method's rows: on the seeds that its reference also ran; without a reference, on all seeds."""
    reference = _reference(group, method)
    theirs: dict[tuple[int, QuestionId], bool] = {}
    for run in group.of(reference.name) if reference else ():
        theirs |= {(run.seed, turn.episode.task.question.id): turn.final_correct for turn in run.answers}
    parts: dict[float, list[tuple[Turn, bool | None]]] = {}
    for run in group.of(method.name):
        for tenth, turn in _by_tenth(run):
            key = (run.seed, turn.episode.task.question.id)
            if reference is None or key in theirs:
                parts.setdefault(tenth, []).append((turn, theirs.get(key)))
    for tenth, both in sorted(parts.items()):
        row = {"dataset": words(group.label), "method": words(method_label(method))}
        row |= {"part": words(_named(tenth)), "questions": count(len(both))}
        row |= _accuracies([turn for turn, _ in both])
        row["reference"] = words(method_label(reference) if reference else "")
        others = [right for _, right in both if right is not None]
        gained = sum(turn.final_correct for turn, _ in both) - sum(others)
        row["reference_accuracy"] = number(_percent(others))
        row["gain"] = signed(100.0 * gained / len(both) if others and len(both) >= _FEWEST else None)
        yield row


def _kept(runs: Sequence[ScoredRun]) -> Row:
    entries = [list(run.kept.values()) for run in runs]
    row: Row = {}
    for polarity in Polarity:
        row[polarity.value] = _mean(
            [sum(entry.polarity is polarity for entry in kept_entries) for kept_entries in entries]
        )
    for grade in Grade:
        row[grade.value] = _mean([sum(entry.grade is grade for entry in kept_entries) for kept_entries in entries])
        counts = [sum(entry.poisoned and entry.grade is grade for entry in kept_entries) for kept_entries in entries]
        row[f"poisoned_{grade}"] = _mean(counts)
    poisoned = sum(entry.poisoned for kept_entries in entries for entry in kept_entries)
    right = sum(entry.polarity is not Polarity.NEGATIVE for kept_entries in entries for entry in kept_entries)
    row["poisoned"] = number(poisoned / len(runs), 1)
    return {**row, "poisoned_share": number(100.0 * poisoned / right if right else None)}


def _shown(runs: Sequence[ScoredRun]) -> Row:
    recalls: list[int] = []
    poisoned: list[int] = []
    outcomes: dict[bool, list[bool]] = {True: [], False: []}
    for run in runs:
        poisoned_ids = {identity for identity, entry in run.kept.items() if entry.poisoned}
        if run.recalls_shown is None:
            keys = ("recalls", "recalls_poisoned", "episodes_poisoned", "accuracy_poisoned", "episodes_sound")
            return {key: number(None) for key in (*keys, "accuracy_sound")}
        showing = {
            question: [set(summary.entries) for summary in recalls_shown]
            for question, recalls_shown in run.recalls_shown.items()
        }
        recalls.append(sum(bool(entries) for recalls_shown in showing.values() for entries in recalls_shown))
        poisoned.append(
            sum(bool(entries & poisoned_ids) for recalls_shown in showing.values() for entries in recalls_shown)
        )
        for turn in run.answers:
            entries = set().union(*showing.get(turn.episode.task.question.id, ()))
            if entries:
                outcomes[bool(entries & poisoned_ids)].append(turn.final_correct)
    row = {"recalls": _mean(recalls), "recalls_poisoned": _mean(poisoned)}
    for name, which in (("poisoned", True), ("sound", False)):
        row[f"episodes_{name}"] = count(len(outcomes[which]))
        row[f"accuracy_{name}"] = number(_percent(outcomes[which]))
    return row


def _by_tenth(run: ScoredRun) -> Iterator[tuple[float, Turn]]:
    """Every question that recalled, with the tenth of similarity that its nearest entry falls into."""
    for turn in run.answers:
        if recalls_shown := (run.recalls_shown or {}).get(turn.episode.task.question.id):
            near = recalls_shown[0].dense
            yield _NOTHING if near is None else min(math.floor(round(_STEPS * near, 9)), _STEPS - 1), turn


def _named(tenth: float) -> str:
    return "nothing recalled" if tenth == _NOTHING else f"{tenth / _STEPS:.1f} to {(tenth + 1) / _STEPS:.1f}"


def _reference(group: RunGroup, method: Method) -> Method | None:
    """The method without a memory to compare with: the one that shows as much of what failed, or else the other."""
    names = ("iterative", "resample") if method.history else ("resample", "iterative")
    candidates = (candidate for name in names for candidate in group.methods if candidate.name == name)
    return next((candidate for candidate in candidates if group.common_seeds(method.name, candidate.name)), None)


def _accuracies(turns: Sequence[Turn]) -> Row:
    wrong = [turn.final_correct for turn in turns if not turn.initial_correct]
    return {
        "accuracy": number(_percent([turn.final_correct for turn in turns])),
        "repaired": number(_percent(wrong)),
    }


def _mean(values: Sequence[int]) -> Cell:
    return number(mean(values), 1)


def _percent(right: Sequence[bool]) -> float | None:
    return 100.0 * sum(right) / len(right) if right else None
