"""Accuracy by part: database, failure type of the first answer, difficulty; and how first answers fail."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from merit.agent import Method
from merit.report.accuracy import DATASET, RANKED, group_notes
from merit.report.cells import Row, count, lead_in_row, number, words
from merit.report.group import RunGroup
from merit.report.names import FAILURES, method_label, method_order
from merit.report.table import ReportColumn, ReportTable
from merit.report.validation import Label, labels_of, scores, weighted_cells, weighted_columns
from merit.runs import Turn
from merit.types import FailureType, QuestionId

Part = TypeVar("Part", bound=str | int)
_DIFFICULTIES = ("simple", "moderate", "challenging", "easy", "medium", "hard", "extra")
_UNSEEN = "(not observed)"  # wrong, but the agent was not told so (regime dbms_only)
LEADERS = (
    "Bold and underlined are the best and the second of a row; a method that is not online, or was not run with all "
    "seeds, takes no part in that"
)
REPAIRERS = f"{LEADERS}, nor one that repairs nothing. {RANKED}"


def by_database(groups: Sequence[RunGroup]) -> ReportTable:
    """Accuracy on each database."""
    return _breakdown(
        groups,
        "by_database",
        "Execution accuracy by database",
        "Database",
        lambda turn: turn.episode.task.question.db_id,
    )


def by_failure(groups: Sequence[RunGroup]) -> ReportTable:
    """Accuracy by how the first answer failed."""
    title = "Repaired by failure type of the first answer"
    order = list(FAILURES.values())
    table = _breakdown(groups, "by_failure", title, "Failure type", _failure_of, order, repairing=True)
    note = f"Only questions whose first answer is wrong, so accuracy is the share that was repaired. {table.note}"
    return ReportTable(table.id, table.title, note, table.columns, table.rows)


def by_difficulty(groups: Sequence[RunGroup]) -> ReportTable:
    """Accuracy by the benchmark's own difficulty."""

    def difficulty(turn: Turn) -> str | None:
        return turn.episode.task.question.difficulty or None

    title = "Execution accuracy by difficulty"
    return _breakdown(groups, "by_difficulty", title, "Difficulty", difficulty, _DIFFICULTIES)


def without_difficulty(groups: Sequence[RunGroup]) -> Iterator[str]:
    """A sentence for each group whose questions have no difficulty."""
    for group in groups:
        if not any(turn.episode.task.question.difficulty for run in group.all_runs() for turn in run.answers):
            yield f"{group.label}: no accuracy by difficulty, its questions carry none"


def failure_table(groups: Sequence[RunGroup], labels: Sequence[Label]) -> ReportTable:
    """How the first answers fail; with human labels, also how well the classifier agrees with them (Table 5)."""
    rows: list[Row] = []
    validated = [scores(labels_of(labels, group)) for group in groups]
    for group, agreement in zip(groups, validated, strict=True):
        first: dict[QuestionId, str | None] = {}
        for run in group.all_runs():
            for turn in run.answers:
                first.setdefault(turn.episode.task.question.id, _failure_of(turn))
        counts = Counter(name for name in first.values() if name is not None)
        wrong = sum(counts.values())
        shares = {kind: 100.0 * counts[label] / wrong if wrong else None for kind, label in FAILURES.items()}
        named = (FailureType.RESULT_MISMATCH, FailureType.SCHEMA_LINKING)
        rest = wrong - sum(counts[FAILURES[kind]] for kind in named)
        row = {"dataset": words(group.label), "failures": count(wrong)}
        row |= {kind.value.lower(): number(share) for kind, share in shares.items()}
        row["other"] = number(100.0 * rest / wrong if wrong else None)
        if any(validated):
            accuracy, macro = agreement or (None, None)
            row |= weighted_cells(labels_of(labels, group))
            row |= {"accuracy": number(accuracy), "macro_f1": number(macro, 3)}
        rows.append(row)
    columns = [DATASET, ReportColumn("failures", "Failures", note="questions whose first answer is wrong")]
    for kind, label in FAILURES.items():
        shown = kind in (FailureType.RESULT_MISMATCH, FailureType.SCHEMA_LINKING)
        columns.append(ReportColumn(kind.value.lower(), label, note="percent of the failures", shown=shown))
    columns.append(ReportColumn("other", "Other", note="all other types together, percent of the failures"))
    if any(validated):
        columns += weighted_columns(rows)
        columns.append(
            ReportColumn("accuracy", "Plain acc. (%)", note="of the classifier, against human labels of these runs")
        )
        columns.append(
            ReportColumn("macro_f1", "Macro-F1", note="of the classifier, against human labels of these runs")
        )
    note = (
        "Shares are percentages of the failures; Result mismatch is executable SQL with a wrong denotation, Other are "
        f"Aggregation, Filter/Value, Execution, Syntax, Unknown and what was not observed. {group_notes(groups)}"
    )
    return ReportTable("failures", "Composition of initial failures", note, tuple(columns), tuple(rows))


def part_columns(methods: Sequence[Method]) -> tuple[ReportColumn, ...]:
    """A column for each method."""
    return tuple(ReportColumn(method.name, method_label(method)) for method in methods)


def all_methods(groups: Sequence[RunGroup]) -> list[Method]:
    """Every method of any group, in the paper's order."""
    return sorted({method.name: method for group in groups for method in group.methods}.values(), key=method_order)


def share_rows(
    group: RunGroup, methods: Sequence[Method], part_of: Callable[[Turn], Part | None], *, repairing: bool = False
) -> dict[Part, Row]:
    """For each part of a stream that occurs, the percentage right at last for each method, over all its seeds.

    `repairing`: only methods that repair may lead.
    """
    rows = _shares(group, methods, part_of)
    fair = group.ranking(method for method in group.methods if method.online and (method.repairs or not repairing))
    for part, ranked in _shares(fair, methods, part_of).items():
        lead_in_row(rows[part], ranked)
    return rows


def _shares(group: RunGroup, methods: Sequence[Method], part_of: Callable[[Turn], Part | None]) -> dict[Part, Row]:
    right: Counter[tuple[Part, str]] = Counter()
    total: Counter[tuple[Part, str]] = Counter()
    for run in group.all_runs():
        for turn in run.answers:
            if (part := part_of(turn)) is not None:
                total[part, run.method.name] += 1
                right[part, run.method.name] += turn.final_correct
    rows: dict[Part, Row] = {}
    for part in dict.fromkeys(part for part, _ in total):
        row = rows[part] = {}
        for method in methods:
            key = (part, method.name)
            row[method.name] = number(100.0 * right[key] / total[key] if total[key] else None)
    return rows


def _breakdown(
    groups: Sequence[RunGroup],
    identity: str,
    title: str,
    heading: str,
    part_of: Callable[[Turn], str | None],
    order: Sequence[str] = (),
    *,
    repairing: bool = False,
) -> ReportTable:
    methods = all_methods(groups)
    rows: list[Row] = []
    for group in groups:
        questions: dict[str, set[QuestionId]] = {}
        for run in group.all_runs():
            for turn in run.answers:
                if (part := part_of(turn)) is not None:
                    questions.setdefault(part, set()).add(turn.episode.task.question.id)
        shares = share_rows(group, methods, part_of, repairing=repairing)
        for part in [*(name for name in order if name in shares), *sorted(shares.keys() - set(order))]:
            row = {"dataset": words(group.label), "part": words(part), "questions": count(len(questions[part]))}
            rows.append({**row, **shares[part]})
    columns = (
        DATASET,
        ReportColumn("part", heading, numeric=False),
        ReportColumn("questions", "n", note="questions"),
        *part_columns(methods),
    )
    leaders = REPAIRERS if repairing else f"{LEADERS}. {RANKED}"
    note = f"Percent right at last over all seeds together. {leaders} {group_notes(groups)}"
    return ReportTable(identity, title, note, columns, tuple(rows))


def _failure_of(turn: Turn) -> str | None:
    if turn.initial_correct:
        return None
    failure = turn.episode.first.failure
    return FAILURES[failure.type] if failure else _UNSEEN
