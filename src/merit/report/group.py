"""Which runs may be compared: those that share data, first answers, protocol, regime, budget, model and encoder."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations
from typing import Any

from merit.agent import Method
from merit.errors import MeritError
from merit.report.names import FEEDBACK, as_reviewed, dataset_label, file_name, method_order
from merit.runs import Identity, RunView, Turn, account
from merit.runs.kept_entries import kept_by
from merit.runs.retrievals import recall_summaries
from merit.runs.run_mismatch import field_name, plain_difference
from merit.types import EncoderIdentity, ModelIdentity, Regime

# What two runs must share, the most telling first: messages name the first field that differs.
_SHARED = (
    "dataset",
    "initial_sha256",
    "protocol",
    "distinct",
    "regime",
    "budget",
    "model",
    "sampling",
    "prompts",
    "timeout_s",
    "stream_sha256",
)
# Fields for the labels of groups, the most telling first; others, such as hashes, only if these are not enough.
_TELLING = {
    "dataset.split": "split",
    "dataset.questions": "questions",
    "answered": "answered",
    "protocol": "protocol",
    "distinct": "DISTINCT",
    "regime": "regime",
    "model.name": "model",
    "budget": "budget",
    "encoder.name": "encoder",
    "model.revision": "model revision",
    "encoder.revision": "encoder revision",
    "timeout_s": "timeout",
    "sampling.max_prompt_tokens": "prompts cut to",
}


class ScoredRun:
    """A run with everything the paper counts of it."""

    def __init__(self, view: RunView) -> None:
        self.view = view
        self.method = as_reviewed(view.method, view.identity.review)
        self.seed = view.identity.seed
        self.answers: list[Turn] = sorted(view.answers, key=lambda turn: turn.episode.task.position)
        self.counts: dict[str, Any] = account(view.turns, view.method, view.identity.regime)
        self.kept = kept_by(view)
        recalls = view.method.recall is not None
        self.recalls_shown = recall_summaries(view) if recalls else {}  # None where the log is not whole

    @property
    def accuracy(self) -> float:
        """Right at last, in percent, not rounded."""
        return 100.0 * float(self.counts["correct"]) / len(self.answers)

    @property
    def initial_accuracy(self) -> float:
        """Right at first, in percent, not rounded."""
        return 100.0 * float(self.counts["initial_correct"]) / len(self.answers)

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What it must share with runs it is compared with, but for the encoder."""
        identity = self.view.identity
        unlabelled = replace(identity, dataset=replace(identity.dataset, label=""))  # runs may call it differently
        record = unlabelled.record()
        return {**{name: record[name] for name in _SHARED}, "answered": len(self.answers)}


@dataclass
class RunGroup:
    """Runs that may be compared: by method, then by seed."""

    shared: dict[str, Any]  # what all its runs share, as a manifest has it
    identity: Identity  # of one of them
    encoder: EncoderIdentity | None
    label: str = ""
    runs: dict[str, dict[int, ScoredRun]] = field(default_factory=dict)

    @property
    def answered(self) -> int:
        """How many questions each of its runs answered."""
        return int(self.shared["answered"])

    @property
    def methods(self) -> list[Method]:
        """Its methods, in the paper's order."""
        return sorted((next(iter(seeds.values())).method for seeds in self.runs.values()), key=method_order)

    @property
    def seeds(self) -> list[int]:
        """Its seeds: those that more than half of its methods ran, so two at least where there are several."""
        ran = Counter(seed for seeds in self.runs.values() for seed in seeds)
        return sorted(seed for seed, times in ran.items() if times > len(self.runs) / 2)

    def of(self, method: str) -> list[ScoredRun]:
        """A method's runs by seed; none where it was not run."""
        return [run for _, run in sorted(self.runs.get(method, {}).items())]

    def common_seeds(self, method: str, other: str) -> list[int]:
        """The seeds that both were run with."""
        return sorted(self.runs.get(method, {}).keys() & self.runs.get(other, {}).keys())

    def ranking(self, methods: Iterable[Method]) -> "RunGroup":
        """The runs by which methods are ranked: of the seeds of these methods, and of those that ran all of them."""
        chosen = replace(self, runs={method.name: self.runs[method.name] for method in methods})
        seeds = set(chosen.seeds)
        whole = {name: runs for name, runs in chosen.runs.items() if seeds and seeds <= runs.keys()}
        return replace(self, runs={name: {seed: runs[seed] for seed in seeds} for name, runs in whole.items()})

    def all_runs(self) -> Iterator[ScoredRun]:
        """All its runs."""
        for method in self.methods:
            yield from self.of(method.name)

    @property
    def about(self) -> str:
        """What its numbers describe: data, model and settings."""
        identity = self.identity
        encoder = f"encoder {_named(self.encoder)}" if self.encoder else "no encoder"
        seeds = self.seeds
        estimated = any(run.counts["tokens"].get("estimated_calls") for run in self.all_runs())
        cut = identity.sampling.max_prompt_tokens
        others = [f"{name} {_seeds(runs)}" for name, runs in self.runs.items() if sorted(runs) != seeds]
        return (
            f"{self.label}: n = {self.answered} of the {identity.dataset.questions} questions of "
            f"{_dataset(self)} {identity.dataset.split}, protocol {identity.judged_by}, {FEEDBACK[identity.regime]}, "
            f"budget {identity.budget}, model {_named(identity.model)}, {encoder}, "
            + (f"prompts cut on the left to {cut} tokens, " if cut else "")
            + (f"seeds {_seeds(seeds)}" if seeds else "no seed in common")
            + (f" (but {'; '.join(others)})" if others else "")
            + ("; merit estimated tokens that the endpoint did not count" if estimated else "")
            + "."
        )

    def add(self, run: ScoredRun) -> str | None:
        """Add a run, or return why it cannot be added."""
        seeds = self.runs.setdefault(run.method.name, {})
        for other in seeds.values():
            if other.seed == run.seed:
                return f"{run.view.path}: left out, {other.view.path} is of the same method and seed"
            if differs := plain_difference(_method(other), _method(run)):
                return f"{run.view.path}: left out, it is another method than {other.view.path}: {differs}"
        seeds[run.seed] = run
        return None


def group_runs(views: Iterable[RunView]) -> tuple[list[RunGroup], list[str], list[str]]:
    """Groups of comparable runs, a sentence for each run that is compared with fewer, one for each left out."""
    left_out: dict[str, None] = {}
    runs = []
    for view in views:
        try:
            run = ScoredRun(view)
        except MeritError as error:
            left_out[f"{view.path}: left out, {error}"] = None
            continue
        if run.answers:
            runs.append(run)
        else:
            left_out[f"{view.path}: left out, no question is answered yet"] = None
    groups: list[RunGroup] = []
    for run in runs:
        encoder = run.view.identity.encoder
        if encoder and not any((group.shared, group.encoder) == (run.shared, encoder) for group in groups):
            groups.append(RunGroup(run.shared, run.view.identity, encoder))
    for run in runs:
        if not any(group.shared == run.shared for group in groups):
            groups.append(RunGroup(run.shared, run.view.identity, None))
    for run in runs:
        encoder = run.view.identity.encoder
        for group in groups:
            if group.shared == run.shared and encoder in (None, group.encoder) and (why := group.add(run)):
                left_out[why] = None
    groups.sort(
        key=lambda group: (_dataset_order(_dataset(group)), -sum(map(len, group.runs.values())))
    )  # the fullest first
    _label(groups)
    return groups, list(_apart(groups)), list(left_out)


def file_suffix(groups: Sequence[RunGroup], group: RunGroup) -> str:
    """What tells a group's files from another's."""
    name = file_name(_dataset(group))
    same = [other for other in groups if file_name(_dataset(other)) == name]
    return f"-{name}" + ("" if len(same) == 1 else f"-{same.index(group) + 1}")


def _apart(groups: Sequence[RunGroup]) -> Iterator[str]:
    """A sentence for each run that is not in its dataset's fullest group."""
    first: dict[str, RunGroup] = {}
    for group in groups:
        main = first.setdefault(_dataset(group), group)
        inside = {run.view.path for run in main.all_runs()}
        differs = plain_difference(_with_encoder(main), _with_encoder(group))
        for run in group.all_runs():
            if run.view.path not in inside:
                path = next(main.all_runs()).view.path
                yield f"{run.view.path}: not compared with {path}: {differs}"


def versions(groups: Sequence[RunGroup]) -> Iterator[str]:
    """A sentence for each group whose runs were made by different versions of merit."""
    for group in groups:
        made_by = Counter(run.view.identity.code for run in group.all_runs())
        if len(made_by) > 1:
            each = ", ".join(f"{code[:8]} made {times}" for code, times in sorted(made_by.items()))
            yield f"{group.label}: its runs were made by {len(made_by)} versions of merit's code: {each}"


def _label(groups: Sequence[RunGroup]) -> None:
    """Name groups by their dataset and, where one has several, by the fewest fields that differ."""
    for dataset in {_dataset(group) for group in groups}:
        same = [group for group in groups if _dataset(group) == dataset]
        fields = [dict(_flat(_with_encoder(group))) for group in same]
        for group, chosen in zip(same, _distinguishing_fields(fields), strict=True):
            group.label = ", ".join([dataset_label(dataset), *chosen])


def _distinguishing_fields(groups: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """The fewest fields, with their values, that differ between all groups; those in `_TELLING` are tried first."""
    names = dict.fromkeys((*_TELLING, *(name for fields in groups for name in fields)))
    values = {name: [_short(fields.get(name)) for fields in groups] for name in names}
    differing = [name for name in names if len(set(values[name])) > 1]
    telling = [name for name in differing if name in _TELLING]
    for chosen in chain(_subsets(telling), _subsets(differing)):
        labels = [tuple(_said(name, values[name][i]) for name in chosen) for i in range(len(groups))]
        if len(set(labels)) == len(groups):
            return labels
    return [(f"group {i}",) for i in range(1, len(groups) + 1)]  # no short label tells them apart


def _said(field: str, value: str) -> str:
    """A field and its value in a label, in the words of readers."""
    if field == "regime":
        return FEEDBACK[Regime(value)]
    return f"{_TELLING.get(field) or field_name(field).removeprefix('the ')} {value}"


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))


def _dataset_order(dataset: str) -> tuple[bool, str]:
    return dataset != "spider", dataset  # Spider first, as in the paper, then by name


def _dataset(group: RunGroup) -> str:
    """The dataset's name in a group: the label that its runs give it, or else the benchmark's name."""
    given = sorted({run.view.identity.dataset.label for run in group.all_runs()} - {""})
    return " or ".join(given) or group.identity.dataset.name


def _with_encoder(group: RunGroup) -> dict[str, Any]:
    """What the runs of a group share, the encoder last."""
    return {**group.shared, "encoder": asdict(group.encoder) if group.encoder else None}


def _method(run: ScoredRun) -> dict[str, Any]:
    """What two runs of one method share: everything except the seeds of draws and of random recall."""
    identity = run.view.identity.record()
    record = {name: value for name, value in identity["method"].items() if name != "seed"}
    if record["recall"] is not None:
        record["recall"] = {**record["recall"], "random_seed": record["recall"]["random_seed"] is not None}
    return {"method": record, "demonstrations": identity["demonstrations"]}


def _flat(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _short(value: Any) -> str:
    text = "none" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:8]}..."


def _named(identity: ModelIdentity | EncoderIdentity) -> str:
    return f"{identity.name} ({_short(identity.revision)})" if identity.revision else identity.name


def _seeds(seeds: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(seeds)))
