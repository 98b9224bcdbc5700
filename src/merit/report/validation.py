"""How well the failure classifier agrees with people: accuracy, macro-F1, every class, and the confusions (Table 5)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from merit.errors import counted
from merit.report.accuracy import DATASET
from merit.report.cells import Row, count, number, words
from merit.report.group import RunGroup
from merit.report.names import FAILURES, dataset_label, file_name
from merit.report.statistics import mean
from merit.report.table import ReportColumn, ReportTable
from merit.types import FailureType

Strata = Mapping[FailureType, int]  # how many failures of a population the classifier gave each type
_NOTE = (
    "A class takes part if a person or the classifier gave it to at least one failure; a ratio that divides by nothing "
    "counts as 0. Macro-F1 is the plain mean of F1 over these classes."
)
_WEIGHTED_NOTE = (
    "Weighted accuracy, the paper's figure, is the accuracy for each type that the classifier gives, weighted by that "
    "type's share among all failures the labelled ones were drawn from; types without a label are left out."
)


@dataclass(frozen=True, slots=True)
class Label:
    """The type of one failure: as a person labelled it, and as the classifier did."""

    dataset: str
    human: FailureType
    classifier: FailureType
    run: str = ""  # the run of the failure; empty where the file does not name it
    population: Strata | None = None  # all failures that it was drawn from; None where that is not known


@dataclass(frozen=True, slots=True)
class Agreement:
    """The counts of one class."""

    both: int
    classifier: int
    human: int

    @property
    def precision(self) -> float:
        """How often the classifier is right when it names the class."""
        return self.both / self.classifier if self.classifier else 0.0

    @property
    def recall(self) -> float:
        """How much of the class the classifier finds."""
        return self.both / self.human if self.human else 0.0

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return 2 * self.both / (self.classifier + self.human) if self.classifier + self.human else 0.0


def scores(labels: Sequence[Label]) -> tuple[float, float] | None:
    """Accuracy in percent and macro-F1; None where there is no label."""
    if not labels:
        return None
    accuracy = 100.0 * sum(label.human is label.classifier for label in labels) / len(labels)
    return accuracy, mean([agreement.f1 for agreement in _classes(labels).values()])


@dataclass(frozen=True, slots=True)
class WeightedAccuracy:
    """Accuracy in percent, and how much of the population, in percent, has a type with a label."""

    accuracy: float
    covered: float


def weighted(labels: Sequence[Label]) -> WeightedAccuracy | None:
    """Accuracy by stratum, weighted by the strata's shares among all failures; None where that cannot be told.

    A stratum is the failures of one run to which the classifier gave one type.
    """
    if not labels or why_unweighted(labels):
        return None
    sizes, hits = {label.run: label.population or {} for label in labels}, _by_stratum(labels)
    covered = sum(sizes[run][kind] for run, kind in hits)
    right = sum(sizes[run][kind] * mean(stratum) for (run, kind), stratum in hits.items())
    failures = sum(sum(population.values()) for population in sizes.values())
    return WeightedAccuracy(100.0 * right / covered, 100.0 * covered / failures)


def why_unweighted(labels: Sequence[Label]) -> str | None:
    """Why labels cannot be weighted; None where they can."""
    sizes: dict[str, Strata] = {}
    for label in labels:
        run = f"the run {label.run}" if label.run else "a run that their file does not name"
        if label.population is None:
            return f"how many failures of each type there are is not known for labels of {run}"
        if sizes.setdefault(label.run, label.population) != label.population:
            return f"labels of {run} disagree on how many failures of each type there are"
    for (run, kind), stratum in _by_stratum(labels).items():
        if len(stratum) > (size := sizes[run].get(kind, 0)):
            labelled = f"{counted(len(stratum), 'label')} of the type {FAILURES[kind]}"
            return f"there are {labelled}, but only {counted(size, 'failure')} of it"
    return None


def _by_stratum(labels: Sequence[Label]) -> dict[tuple[str, FailureType], list[float]]:
    hits: dict[tuple[str, FailureType], list[float]] = {}
    for label in labels:
        hits.setdefault((label.run, label.classifier), []).append(float(label.human is label.classifier))
    return hits


def unweighted(labels: Sequence[Label]) -> Iterator[str]:
    """A sentence for each dataset whose labels cannot be weighted."""
    for dataset, dataset_labels in _by_dataset(labels).items():
        if why := why_unweighted(dataset_labels):
            yield f"{dataset_label(dataset)}: no population-weighted accuracy of the failure classifier: {why}"


def labels_of(labels: Sequence[Label], group: RunGroup) -> list[Label]:
    """The labels of a group's own runs."""
    runs = {run.view.manifest.run for run in group.all_runs()}
    return [label for label in labels if label.run in runs]


def unreported(groups: Sequence[RunGroup], labels: Sequence[Label]) -> Iterator[str]:
    """A sentence for each run that has labels and is not reported; nothing where no runs are reported."""
    runs = {run.view.manifest.run for group in groups for run in group.all_runs()}
    for run, times in Counter(label.run for label in labels if label.run not in runs).items() if runs else ():
        origin = f"of the run {run}, which is not reported" if run else "of no run that their file names"
        yield f"{times} human labels are {origin}: they stand in the tables of the classifier alone"


def summary_table(labels: Sequence[Label]) -> ReportTable:
    """Accuracy, population-weighted and plain, and macro-F1."""
    rows = []
    for dataset, dataset_labels in _by_dataset(labels).items():
        accuracy, macro = scores(dataset_labels) or (None, None)
        row = {"dataset": words(dataset_label(dataset)), "labels": count(len(dataset_labels))}
        row |= weighted_cells(dataset_labels)
        rows.append({**row, "accuracy": number(accuracy), "macro_f1": number(macro, 3)})
    columns = (
        DATASET,
        ReportColumn("labels", "n", note="labelled failures"),
        *weighted_columns(rows),
        ReportColumn("accuracy", "Plain acc. (%)", note="labels where the classifier's type is the person's"),
        ReportColumn("macro_f1", "Macro-F1"),
    )
    note = f"{_WEIGHTED_NOTE} {_note(labels)}"
    return ReportTable("classifier", "Failure classifier against human labels", note, columns, tuple(rows))


def weighted_cells(labels: Sequence[Label]) -> Row:
    """The cells of `weighted_columns`."""
    found = weighted(labels)
    return {
        "weighted": number(found.accuracy if found else None),
        "covered": number(found.covered if found else None),
    }


def weighted_columns(rows: Sequence[Row]) -> tuple[ReportColumn, ReportColumn]:
    """Weighted accuracy, and the part of the population that it covers, shown where that is not all."""
    partly = any(row["covered"].value not in (None, 100.0) for row in rows)
    return (
        ReportColumn("weighted", "Weighted acc. (%)", note="of the classifier, each type by its share of all failures"),
        ReportColumn("covered", "Covered (%)", note="failures whose type has a label", shown=partly),
    )


def class_table(labels: Sequence[Label]) -> ReportTable:
    """Precision, recall, F1 and support of each class."""
    rows: list[Row] = []
    for dataset, dataset_labels in _by_dataset(labels).items():
        rows += [
            {
                "dataset": words(dataset_label(dataset)),
                "type": words(FAILURES[kind]),
                "precision": number(agreement.precision, 3),
                "recall": number(agreement.recall, 3),
                "f1": number(agreement.f1, 3),
                "support": count(agreement.human),
            }
            for kind, agreement in _classes(dataset_labels).items()
        ]
    columns = (
        DATASET,
        ReportColumn("type", "Failure type", numeric=False),
        ReportColumn("precision", "Precision"),
        ReportColumn("recall", "Recall"),
        ReportColumn("f1", "F1"),
        ReportColumn("support", "Support", note="failures a person gave this type"),
    )
    return ReportTable("classifier_classes", "Failure classifier by class", _note(labels), columns, tuple(rows))


def confusion_tables(labels: Sequence[Label]) -> list[ReportTable]:
    """Counts of classifier types for each human type, one table for each dataset."""
    tables: dict[str, ReportTable] = {}
    for dataset, dataset_labels in _by_dataset(labels).items():
        kinds = list(_classes(dataset_labels))
        pairs = Counter((label.human, label.classifier) for label in dataset_labels)
        rows = [
            {"human": words(FAILURES[human]), **{kind.value.lower(): count(pairs[human, kind]) for kind in kinds}}
            for human in kinds
        ]
        columns = (
            ReportColumn("human", "Human", numeric=False),
            *(ReportColumn(kind.value.lower(), FAILURES[kind], note="classifier") for kind in kinds),
        )
        title = f"Confusions of the failure classifier, {dataset_label(dataset)}"
        note = f"Rows are human labels, columns the classifier's. {_note(dataset_labels)}"
        identity = f"confusion_{file_name(dataset)}"
        if identity in tables:  # two names that give the same file name
            identity += f"-{len(tables) + 1}"
        tables[identity] = ReportTable(identity, title, note, columns, tuple(rows))
    return list(tables.values())


def _note(labels: Sequence[Label]) -> str:
    sizes = ", ".join(
        f"{dataset_label(name)} n = {len(dataset_labels)}" for name, dataset_labels in _by_dataset(labels).items()
    )
    return f"{_NOTE} Human labels: {sizes}; no model, encoder, protocol or interval is involved."


def _by_dataset(labels: Sequence[Label]) -> dict[str, list[Label]]:
    grouped: dict[str, list[Label]] = {}
    for label in labels:
        grouped.setdefault(label.dataset, []).append(label)
    return dict(sorted(grouped.items(), key=lambda item: (item[0] != "spider", item[0])))


def _classes(labels: Sequence[Label]) -> dict[FailureType, Agreement]:
    both = Counter(label.human for label in labels if label.human is label.classifier)
    human, classifier = Counter(label.human for label in labels), Counter(label.classifier for label in labels)
    present = [kind for kind in FAILURES if human[kind] or classifier[kind]]
    return {kind: Agreement(both[kind], classifier[kind], human[kind]) for kind in present}
