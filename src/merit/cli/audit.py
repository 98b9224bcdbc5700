"""`merit audit`: the proof that a run is what it claims."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from merit.bundled import NAME as BUNDLED
from merit.bundled import open_dataset
from merit.cache import cache_folder
from merit.cli.options import CACHE, JSON
from merit.cli.run_data import find_data
from merit.cli.screen import Console, print_json, say
from merit.data import Dataset
from merit.errors import AuditFailed, InputError, MeritError, counted, short_hash
from merit.models import CachedEncoder, Encoder, open_encoder
from merit.oracle import open_judge
from merit.stream import AuditData, Report, RunView, audit_run, read_run
from merit.stream.folder import run_folders
from merit.stream.manifest import MANIFEST, code_hash, read_manifest

_OWN_ENCODER = "wordllama"  # comes with merit


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--data",
    "roots",
    multiple=True,
    type=click.Path(path_type=Path),
    help="The dataset's folder: compare all questions with it and judge all attempts again. Give it once for each "
    "dataset; a bundled run takes none.",
)
@click.option(
    "--examples",
    multiple=True,
    type=click.Path(path_type=Path),
    help="With --data: the file of fixed examples that a run was given, where they are not the training split's.",
)
@click.option(
    "--encoder",
    metavar="URI",
    help="Rank every recall again with this encoder (default: wordllama, for runs that used it).",
)
@CACHE
@JSON
def audit(
    runs: tuple[Path, ...],
    roots: tuple[Path, ...],
    examples: tuple[Path, ...],
    encoder: str | None,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Derive runs again from their records; exit 1 with the first contradiction of each.

    RUNS are run folders, or folders that hold some. What cannot be proven is listed at the end. --json prints one
    object: whether all hold, and for each run whether it holds (null where it could not be audited), the sentence that
    says why not, what was gone through, and what is taken on trust.
    """
    paths = [path for given in runs for path in run_folders(given)]
    _check_given(paths, roots, examples)
    outcomes = []
    with ExitStack() as stack:
        bench = _Bench(roots, examples, encoder, cache or cache_folder(), stack)
        for path in paths:
            outcomes.append(bench.audit(path))
            if not as_json and (len(paths) > 1 or outcomes[-1].holds):
                outcomes[-1].show()
    failed = [one for one in outcomes if one.holds is not True]
    if as_json:
        print_json({"holds": not failed, "runs": [one.record() for one in outcomes]})
    else:
        if len(paths) > 1 and not failed:
            click.echo(f"all {len(paths)} runs hold")
        show_trust([one.report for one in outcomes if one.report])
    if failed and len(paths) == 1 and failed[0].error:
        raise failed[0].error
    if failed:
        raise AuditFailed(_counted_failures(failed, len(paths)))


def _counted_failures(failed: Sequence["_Outcome"], total: int) -> str:
    wrong = sum(one.holds is False for one in failed)
    said = [f"{wrong} of {total} runs {'does' if wrong == 1 else 'do'} not hold"] if wrong else []
    if others := len(failed) - wrong:
        said.append(f"{others} of {total} runs could not be audited")
    return ", and ".join(said)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What an audit of one run came to."""

    path: Path
    holds: bool | None  # None where it could not be audited
    report: Report | None = None
    error: MeritError | None = None
    other_code: bool = False  # whether another version of merit made the run

    def show(self) -> None:
        """Say it to a person."""
        if self.report is None:
            say(str(self.error), err=True)
            return
        Console().block(f"{self.path}: holds. {gone_through(self.report)}", 0)
        if self.other_code:
            click.echo("note: it was made by another version of merit's code", err=True)

    def record(self) -> dict[str, Any]:
        """The same for a program."""
        report = self.report
        return {
            "run": str(self.path),
            "holds": self.holds,
            "why": str(self.error) if self.error else None,
            "findings": asdict(report) | {"other_code": self.other_code} if report else None,
            "on_trust": report.on_trust if report else [],
        }


def _check_given(paths: Sequence[Path], roots: Sequence[Path], examples: Sequence[Path]) -> None:
    """Refuse folders and files that are not there or that no run could need."""
    names = set()
    for path in paths:
        with suppress(MeritError):  # said when its turn comes
            names.add(read_manifest(path)["identity"]["dataset"]["name"])
    if roots and names == {BUNDLED}:
        raise InputError("--data: a bundled run takes none, its data comes with merit; leave --data out")
    if examples and not roots and BUNDLED not in names:
        raise InputError("--examples: only an audit with the data compares examples; give --data too")
    for root in roots:
        if not root.is_dir():
            raise InputError(f"{root}: no such folder; give the dataset's folder with --data")
    for file in examples:
        if not file.is_file():
            raise InputError(f"{file}: no such file; give a file of examples with --examples")


def gone_through(report: Report) -> str:
    """What an audit went through, for people."""
    ranked = "ranked again" if report.ranked else "not ranked again (the run's encoder is not here; see --encoder)"
    judged = "judged again" if report.judged else "verdicts taken from the run (see --data)"
    asked = "compared with the dataset" if report.judged else "taken from the run"
    if report.timeouts:
        judged += f", but for {report.timeouts} that met the time limit then and not now"
    recalls = f", {counted(report.recalls, 'recall')} legal and {ranked}" if report.recalls else ""
    return (
        f"{report.questions} of {counted(report.stream, 'question')} ({asked}), {counted(report.attempts, 'attempt')} "
        f"({judged}), {counted(report.prompts, 'prompt')}, {counted(report.entries, 'entry', 'entries')}{recalls}"
    )


def show_trust(reports: Sequence[Report], console: Console | None = None) -> None:
    """List what audits did not prove; what holds for some of them only says for how many."""
    counts = Counter(item for report in reports for item in report.on_trust)
    console = console or Console()
    if counts:
        console.print("taken on trust:")
    for item, count in counts.items():
        console.block(f"{item}{f' ({count} of {len(reports)} runs)' if count < len(reports) else ''}", 2, head="- ")


class _Bench:
    """What audits share: data and judges, each opened once."""

    def __init__(
        self, roots: Sequence[Path], examples: Sequence[Path], encoder: str | None, cache: Path, stack: ExitStack
    ) -> None:
        self._roots = roots
        self._examples = examples
        self._encoder = encoder
        self._cache = cache
        self._stack = stack
        self._datasets: dict[tuple[Path | None, str, str], tuple[Dataset, str]] = {}
        self._opened: dict[tuple[str, str, float], AuditData] = {}

    def audit(self, path: Path) -> _Outcome:
        """Audit one run."""
        with ExitStack() as stack:
            try:
                view = read_run(path)
            except MeritError as error:
                return _Outcome(path, False, error=error)
            try:
                data, chosen = self._own_data(view), _encoder(view, self._encoder, self._cache, stack)
            except MeritError as error:
                return _Outcome(path, False if isinstance(error, AuditFailed) else None, error=error)
            try:
                report = audit_run(view, encoder=chosen, data=data)
            except MeritError as error:
                return _Outcome(path, False, error=error)
            return _Outcome(path, True, report, other_code=view.identity["code"] != code_hash())

    def _own_data(self, view: RunView) -> AuditData | None:
        """A run's own data, if it comes with merit or is in one of the folders given; None where none was given."""
        wanted = view.identity["dataset"]
        if wanted["name"] != BUNDLED:
            return self._open(*find_data(view, self._roots, self._data), view) if self._roots else None
        dataset, content = self._data(None, wanted["name"], wanted["split"])
        if content == wanted["sha256"]:
            return self._open(dataset, content, view)
        made_by = view.manifest["made_with"]["merit"]
        raise AuditFailed(
            f"{view.path / MANIFEST}: is not of the benchmark that comes with this merit (its content hash "
            f"differs); it was edited, or made by another version of merit: audit it with that one ({made_by})"
        )

    def _open(self, dataset: Dataset, content: str, view: RunView) -> AuditData:
        key = (content, view.identity["protocol"], view.identity["timeout_s"])
        if key not in self._opened:
            judge = open_judge(dataset, key[1], cache=self._cache, timeout_s=key[2])
            self._stack.callback(judge.close)
            self._opened[key] = AuditData(dataset, content, key[1], judge, self._examples)
        return self._opened[key]

    def _data(self, root: Path | None, name: str, split: str) -> tuple[Dataset, str]:
        key = (root, name, split)
        if key not in self._datasets:
            dataset = open_dataset(name, root, split, self._cache)
            self._datasets[key] = (dataset, dataset.content_hash())
        return self._datasets[key]


def _encoder(view: RunView, uri: str | None, folder: Path, stack: ExitStack) -> Encoder | None:
    wanted = view.identity["encoder"]
    if wanted is None:
        return None
    if uri is None and wanted["name"] != _OWN_ENCODER:
        return (
            None  # a run's own word is not enough to load a model, fetch one or ask an endpoint: that takes --encoder
        )
    opened = open_encoder(uri or _OWN_ENCODER)
    own = (opened.identity.name, opened.identity.revision, opened.identity.dimension)
    theirs = (wanted["name"], wanted["revision"], wanted["dimension"])
    if own != theirs:
        if uri is None:
            return None
        here, there = (
            f"{name} ({short_hash(revision)}), of {size} dimensions" for name, revision, size in (own, theirs)
        )
        raise InputError(f"{view.path}: was made with the encoder {there}, but --encoder {uri} is {here}; give its own")
    return stack.enter_context(closing(CachedEncoder(opened, folder)))
