"""Which failures a sample of labels was drawn from, for labels whose file does not say."""

from collections.abc import Sequence
from dataclasses import replace

from merit.report.group import RunGroup
from merit.report.labels import strata
from merit.report.validation import Label, Strata


def with_populations(labels: Sequence[Label], groups: Sequence[RunGroup]) -> list[Label]:
    """Labels with the failures that they were drawn from, taken from the reported runs where their file has none.

    Labels that name no run take the failures of their dataset's runs, if all of these failed alike.
    """
    runs: dict[str, Strata] = {}
    datasets: dict[str, list[Strata]] = {}
    for group in groups if labels else ():
        for run in group.all_runs():
            sizes = runs[run.view.manifest.run] = strata(run.view)
            known = datasets.setdefault(group.identity.dataset.title, [])
            if sizes not in known:
                known.append(sizes)

    def population(label: Label) -> Strata | None:
        if label.population is not None:
            return label.population
        if label.run:
            return runs.get(label.run)
        candidates = datasets.get(label.dataset, [])
        return candidates[0] if len(candidates) == 1 else None

    return [replace(label, population=population(label)) for label in labels]
