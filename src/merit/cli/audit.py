"""`merit audit`: the proof that a run is what it claims."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import click

from merit.audit import AuditData, Findings, audit_run
from merit.benchmark import Benchmark
from merit.bundled import NAME as BUNDLED
from merit.cache import cache_folder
from merit.cli.options import CACHE
from merit.cli.own_data import OwnData
from merit.cli.screen import Console, say
from merit.errors import AuditFailed, InputError, MeritError
from merit.models import CachedEncoder, open_encoder
from merit.runs import RunView, read_manifest, read_run, run_folders
from merit.runs.code import code_hash
from merit.runs.paths import MANIFEST
from merit.types import Encoder

_OWN_ENCODER = "wordllama"  # comes with merit
_SAID_ABOVE_S = 60.0  # of a statement's time limit: whoever waits should know why


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
def audit(
    runs: tuple[Path, ...],
    roots: tuple[Path, ...],
    examples: tuple[Path, ...],
    encoder: str | None,
    cache: Path | None,
) -> None:
    """Derive runs again from their records; exit 1 with the first contradiction of each.

    RUNS are run folders, or folders that hold some. What cannot be proven is listed at the end.
    """
    paths = [path for given in runs for path in run_folders(given)]
    _check_given(paths, roots, examples)
    with ExitStack() as stack:
        bench = _Bench(roots, examples, encoder, cache or cache_folder(), stack)
        if len(paths) == 1:
            show_trust([bench.audit(paths[0])])
            return
        audited = []
        for path in paths:
            try:
                audited.append(bench.audit(path))
            except MeritError as error:
                say(str(error), err=True)
    failed = len(paths) - len(audited)
    if not failed:
        click.echo(f"all {len(paths)} runs hold")
    show_trust(audited)
    if failed:
        raise AuditFailed(f"{failed} of {len(paths)} runs do not hold")


def _check_given(paths: Sequence[Path], roots: Sequence[Path], examples: Sequence[Path]) -> None:
    """Refuse folders and files that are not there or that no run could need."""
    names = set()
    for path in paths:
        with suppress(MeritError):  # said when its turn comes
            names.add(read_manifest(path).identity.dataset.name)
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


def gone_through(findings: Findings) -> str:
    """What an audit went through, for people."""
    ranked = "ranked again" if findings.ranked else "not ranked again (the run's encoder is not here; see --encoder)"
    judged = "judged again" if findings.judged else "verdicts taken from the run (see --data)"
    asked = "compared with the dataset" if findings.judged else "taken from the run"
    if findings.timeouts:
        judged += f", but for {findings.timeouts} that met the time limit then and not now"
    recalls = f", {findings.recalls} recalls legal and {ranked}" if findings.recalls else ""
    return (
        f"{findings.questions} of {findings.stream} questions ({asked}), {findings.attempts} attempts ({judged}), "
        f"{findings.prompts} prompts, {findings.entries} entries{recalls}"
    )


def show_trust(audited: Sequence[Findings], console: Console | None = None) -> None:
    """List what audits did not prove; what holds for some of them only says for how many."""
    counts = Counter(item for findings in audited for item in findings.on_trust)
    console = console or Console()
    if counts:
        console.print("taken on trust:")
    for item, count in counts.items():
        console.block(f"{item}{f' ({count} of {len(audited)} runs)' if count < len(audited) else ''}", 2, head="- ")


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
        self._data = OwnData(roots, cache)
        self._opened: dict[tuple[str, str, float], AuditData] = {}

    def audit(self, path: Path) -> Findings:
        """Audit one run and say what was gone through."""
        view = read_run(path)
        data = self._own_data(view)
        if data is not None and view.identity.timeout_s > _SAID_ABOVE_S:
            say(f"note: {path}: its statements may run for {view.identity.timeout_s:g} s each", err=True)
        with ExitStack() as stack:
            chosen = _encoder(view, self._encoder, self._cache, stack)
            findings = audit_run(view, encoder=chosen, data=data)
        Console().block(f"{path}: holds. {gone_through(findings)}", 0)
        if view.identity.code != code_hash():
            click.echo("note: it was made by another version of merit's code", err=True)
        return findings

    def _own_data(self, view: RunView) -> AuditData | None:
        """A run's own data, if it comes with merit or is in one of the folders given; None where none was given."""
        benchmark = self._data.find(view.identity.dataset)
        if benchmark is not None:
            return self._open(benchmark, view)
        if view.identity.dataset.name == BUNDLED:
            raise AuditFailed(
                f"{view.path / MANIFEST}: is not of the benchmark that comes with this merit (its content hash "
                "differs); it was edited, or made by another version of merit: audit it with that one "
                f"({view.manifest.made_with.merit})"
            )
        if self._roots:
            raise InputError(f"{self._roots[0]}: is not the data of {view.path} (its content hash differs)")
        return None

    def _open(self, benchmark: Benchmark, view: RunView) -> AuditData:
        key = (benchmark.content_hash, view.identity.protocol, view.identity.timeout_s)
        if key not in self._opened:
            judged = self._stack.enter_context(benchmark.judged_by(*key[1:]))
            self._opened[key] = AuditData(judged, self._examples)
        return self._opened[key]


def _encoder(view: RunView, uri: str | None, folder: Path, stack: ExitStack) -> Encoder | None:
    wanted = view.identity.encoder
    if wanted is None:
        return None
    if uri is None and wanted.name != _OWN_ENCODER:
        # A run's own word is not enough to load a model, fetch one or ask an endpoint: that takes --encoder.
        return None
    opened = open_encoder(uri or _OWN_ENCODER)
    if opened.identity != wanted:
        if uri is None:
            return None
        raise InputError(f"{uri}: is {opened.identity}, but the run was made with {wanted}")
    return stack.enter_context(closing(CachedEncoder(opened, folder)))
