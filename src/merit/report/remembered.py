"""What memories hold, how much of it is poisoned, and what recalling it is worth by how near it is."""

import math
from collections.abc import Iterator, Sequence

from merit.agent import Method
from merit.memory import Grade
from merit.report.accuracy import DATASET, abouts
from merit.report.cells import Row, count, number, signed, words
from merit.report.group import Group, Scored
from merit.report.names import method_label
from merit.report.statistics import mean
from merit.report.table import Cell, Column, Table
from merit.stream import Turn
from merit.types import Polarity, QuestionId

_STEPS = 10  # parts of a similarity of 1
_NOTHING = -math.inf  # as a place: before everything that was found
Outcomes = list[tuple[int, Turn]]  # answers, each with the seed of its run


def memory_table(groups: Sequence[Group]) -> Table:
    """What each method kept, how much of it is poisoned, and how those fared who were shown some of that."""
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
        Column("method", "Method", numeric=False),
        *(Column(one.value, one.capitalize(), note=f"{one} entries kept") for one in Polarity),
        *(Column(one.value, one.capitalize(), note=f"kept with the grade {one}", shown=one in graded) for one in Grade),
        Column("poisoned", "Poisoned", note="kept as right, though the judge calls the episode's answer wrong"),
        *(Column(f"poisoned_{one}", f"Poisoned, {one}", shown=False) for one in Grade),
        Column("poisoned_share", "% pois.", note="of what was kept as right"),
        Column("recalls", "Recalls", note="recalls that showed something"),
        Column("recalls_poisoned", "Pois. recalls", note="of those, recalls that showed a poisoned entry"),
        Column("episodes_poisoned", "n pois.", note="questions that were shown a poisoned entry, over all seeds"),
        Column("accuracy_poisoned", "Acc. pois.", note="percent of them right at last"),
        Column("episodes_sound", "n sound", note="questions that were shown entries, none of them poisoned"),
        Column("accuracy_sound", "Acc. sound", note="percent of them right at last"),
    )
    note = (
        "Entries and recalls are means over seeds. Only confirmed changes and precedents can be poisoned: a failed "
        "direction is kept as what it is. The agent knows nothing of it; a dash is a run whose retrieval log is not "
        f"whole, or nothing to count. {abouts(groups)}"
    )
    return Table("memory", "What is remembered, and how sound it is", note, columns, tuple(rows))


def similarity_table(groups: Sequence[Group]) -> Table:
    """Accuracy by how near the nearest entry of the first recall was, beside the method that remembers nothing."""
    rows: list[Row] = []
    for group in groups:
        for method in group.methods:
            if method.recall is None or method.recall.random_seed is not None:
                continue  # there is no nearest
            parts: dict[tuple[bool, float], Outcomes] = {}
            for run in group.of(method.name):
                for place, turn in _places(run):
                    parts.setdefault(place, []).append((run.seed, turn))
            reference = _reference(group, method)
            for place, outcomes in sorted(parts.items()):
                row = {"dataset": words(group.label), "method": words(method_label(method))}
                row |= {"part": words(_named(*place)), "questions": count(len(outcomes))}
                rows.append({**row, **_accuracies(outcomes), **_beside(outcomes, group, reference)})
    columns = (
        DATASET,
        Column("method", "Method", numeric=False),
        Column("part", "Nearest", numeric=False, note="dense similarity of the nearest entry at the first recall"),
        Column("questions", "n", note="questions that recalled, over all seeds"),
        Column("accuracy", "Exec. accuracy", note="percent of them right at last"),
        Column("repaired", "Repaired", note="percent of those wrong at first"),
        Column("reference", "Beside", numeric=False, note="the method that remembers nothing"),
        Column("reference_accuracy", "Its accuracy", note="on the same questions and seeds"),
        Column("gain", "Δ pp", note="on the questions and seeds that both have, percentage points"),
    )
    note = (
        "Parts are a tenth wide, their lower end included; where nothing is encoded they are of the score, which is "
        "relative to its pool. Methods that show what failed stand beside iterative, the others beside resample, or "
        f"whichever of the two was run. {abouts(groups)}"
    )
    return Table("by_similarity", "Gain by similarity of what was recalled", note, columns, tuple(rows))


def _kept(runs: Sequence[Scored]) -> Row:
    entries = [list(run.kept.values()) for run in runs]
    row: Row = {}
    for polarity in Polarity:
        row[polarity.value] = _mean([sum(one.polarity is polarity for one in mine) for mine in entries])
    for grade in Grade:
        row[grade.value] = _mean([sum(one.grade is grade for one in mine) for mine in entries])
        found = [sum(one.poisoned and one.grade is grade for one in mine) for mine in entries]
        row[f"poisoned_{grade}"] = _mean(found)
    poisoned = sum(one.poisoned for mine in entries for one in mine)
    right = sum(one.polarity is not Polarity.NEGATIVE for mine in entries for one in mine)
    row["poisoned"] = number(poisoned / len(runs), 1)
    return {**row, "poisoned_share": number(100.0 * poisoned / right if right else None)}


def _shown(runs: Sequence[Scored]) -> Row:
    recalls: list[int] = []
    poisoned: list[int] = []
    outcomes: dict[bool, list[bool]] = {True: [], False: []}
    for run in runs:
        bad = {identity for identity, one in run.kept.items() if one.poisoned}
        if run.looks is None:
            keys = ("recalls", "recalls_poisoned", "episodes_poisoned", "accuracy_poisoned", "episodes_sound")
            return {key: number(None) for key in (*keys, "accuracy_sound")}
        showing = {question: [set(look.entries) for look in looks] for question, looks in run.looks.items()}
        recalls.append(sum(bool(entries) for looks in showing.values() for entries in looks))
        poisoned.append(sum(bool(entries & bad) for looks in showing.values() for entries in looks))
        for turn in run.answers:
            entries = set().union(*showing.get(turn.episode.task.question.id, ()))
            if entries:
                outcomes[bool(entries & bad)].append(turn.final_correct)
    row = {"recalls": _mean(recalls), "recalls_poisoned": _mean(poisoned)}
    for name, which in (("poisoned", True), ("sound", False)):
        row[f"episodes_{name}"] = count(len(outcomes[which]))
        row[f"accuracy_{name}"] = number(_percent(outcomes[which]))
    return row


def _places(run: Scored) -> Iterator[tuple[tuple[bool, float], Turn]]:
    """Where each question that recalled belongs: whether by score, and at which tenth."""
    for turn in run.answers:
        if looks := (run.looks or {}).get(turn.episode.task.question.id):
            first = looks[0]
            if first.dense is not None:
                yield (False, min(_tenth(first.dense), _STEPS - 1)), turn
            else:
                yield (first.score is not None, _NOTHING if first.score is None else _tenth(first.score)), turn


def _tenth(value: float) -> int:
    return math.floor(round(_STEPS * value, 9))


def _named(by_score: bool, tenth: float) -> str:
    if tenth == _NOTHING:
        return "nothing recalled"
    return f"{'score ' if by_score else ''}{tenth / _STEPS:.1f} to {(tenth + 1) / _STEPS:.1f}"


def _reference(group: Group, method: Method) -> Method | None:
    """What it would be without a memory: the plain method that shows as much of what failed, or else the other one."""
    names = ("iterative", "resample") if method.history else ("resample", "iterative")
    return next((one for name in names for one in group.methods if one.name == name), None)


def _accuracies(outcomes: Outcomes) -> Row:
    wrong = [turn.final_correct for _, turn in outcomes if not turn.initial_correct]
    return {
        "accuracy": number(_percent([turn.final_correct for _, turn in outcomes])),
        "repaired": number(_percent(wrong)),
    }


def _beside(outcomes: Outcomes, group: Group, reference: Method | None) -> Row:
    theirs: dict[tuple[int, QuestionId], bool] = {}
    for run in group.of(reference.name) if reference else ():
        theirs |= {(run.seed, turn.episode.task.question.id): turn.final_correct for turn in run.answers}
    both = [
        (turn.final_correct, theirs[seed, turn.episode.task.question.id])
        for seed, turn in outcomes
        if (seed, turn.episode.task.question.id) in theirs
    ]
    ours, others = (_percent([pair[which] for pair in both]) for which in (0, 1))
    return {
        "reference": words(method_label(reference) if reference else ""),
        "reference_accuracy": number(others),
        "gain": signed(None if ours is None or others is None else ours - others),
    }


def _mean(values: Sequence[int]) -> Cell:
    return number(mean(values), 1)


def _percent(right: Sequence[bool]) -> float | None:
    return 100.0 * sum(right) / len(right) if right else None
