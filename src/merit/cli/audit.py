"""`merit audit`: the proof that a run is what it claims."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import click

from merit.bundled import NAME as BUNDLED
from merit.bundled import open_dataset
from merit.cache import cache_folder
from merit.cli.options import CACHE
from merit.data import Dataset
from merit.errors import AuditFailed, EncoderFailed, InputError, MeritError
from merit.models import CachedEncoder, Encoder, open_encoder
from merit.oracle import Judge, open_judge
from merit.stream import Report, RunView, audit_run, read_run
from merit.stream.folder import run_folders
from merit.stream.manifest import code_hash


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--data",
    "roots",
    multiple=True,
    type=click.Path(path_type=Path),
    help="The dataset's folder: judge all attempts again. Give it once for each dataset.",
)
@click.option("--encoder", metavar="URI", help="Rank every recall again with this encoder (default: the run's own).")
@CACHE
def audit(runs: tuple[Path, ...], roots: tuple[Path, ...], encoder: str | None, cache: Path | None) -> None:
    """Derive runs again from their trajectories and memory; exit 1 with the first contradiction of each.

    RUNS are run folders, or folders that hold some.
    """
    paths = [path for given in runs for path in run_folders(given)]
    with ExitStack() as stack:
        bench = _Bench(roots, encoder, cache or cache_folder(), stack)
        if len(paths) == 1:
            bench.audit(paths[0])
            return
        failed = 0
        for path in paths:
            try:
                bench.audit(path)
            except MeritError as error:
                failed += 1
                click.echo(str(error), err=True)
    if failed:
        raise AuditFailed(f"{failed} of {len(paths)} runs do not hold")
    click.echo(f"all {len(paths)} runs hold")


def gone_through(report: Report) -> str:
    """What an audit went through, for people."""
    ranked = "ranked again" if report.ranked else "not ranked again (the run's encoder is not here; see --encoder)"
    judged = "judged again" if report.judged else "verdicts taken from the run (see --data)"
    if report.timeouts:
        judged += f", but for {report.timeouts} that met the time limit then and not now"
    recalls = f", {report.recalls} recalls legal and {ranked}" if report.recalls else ""
    return (
        f"{report.questions} of {report.stream} questions, {report.attempts} attempts ({judged}), "
        f"{report.prompts} prompts, {report.entries} entries{recalls}"
    )


class _Bench:
    """What audits share: data and judges, each opened once."""

    def __init__(self, roots: Sequence[Path], encoder: str | None, cache: Path, stack: ExitStack) -> None:
        self._roots = roots
        self._encoder = encoder
        self._cache = cache
        self._stack = stack
        self._datasets: dict[tuple[Path | None, str, str], tuple[Dataset, str]] = {}
        self._judges: dict[tuple[str, str, float], Judge] = {}

    def audit(self, path: Path) -> None:
        """Audit one run and say what was gone through."""
        view = read_run(path)
        with ExitStack() as stack:
            chosen = _encoder(view, self._encoder, self._cache, stack)
            report = audit_run(view, encoder=chosen, judge=self._judge(view))
        click.echo(f"{path}: holds. {gone_through(report)}")
        if view.identity["code"] != code_hash():
            click.echo("note: it was made by another version of merit's code", err=True)

    def _judge(self, view: RunView) -> Judge | None:
        """The judge of a run's own data, if one of the folders given is that."""
        identity = view.identity
        wanted = identity["dataset"]
        own = wanted["name"] == BUNDLED
        roots: list[Path | None] = [*self._roots, *([None] if own else [])]
        for root in roots:
            try:
                dataset, content = self._data(root, wanted["name"], wanted["split"])
            except InputError:
                if len(roots) == 1:
                    raise
                continue  # another dataset's folder
            if content == wanted["sha256"]:
                key = (content, identity["protocol"], identity["timeout_s"])
                if key not in self._judges:
                    opened = open_judge(dataset, key[1], cache=self._cache, timeout_s=key[2])
                    self._judges[key] = self._stack.enter_context(closing(opened))
                return self._judges[key]
        if self._roots and not own:
            raise InputError(f"{self._roots[0]}: is not the data of {view.path} (its content hash differs)")
        return None  # no folder was given, or another version of merit brought another version of its own benchmark

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
    if uri is None and Path(wanted["name"].partition(":")[2] or wanted["name"]).exists():
        return None  # a run's own word is not enough to load what lies in a folder: that takes --encoder
    try:
        opened = open_encoder(uri or wanted["name"])
    except (EncoderFailed, InputError):
        if uri is not None:
            raise
        try:
            opened = open_encoder(f"sentence-transformers:{wanted['name']}")
        except EncoderFailed:
            return None
    mine = opened.identity
    if (mine.name, mine.revision, mine.dimension) != (wanted["name"], wanted["revision"], wanted["dimension"]):
        if uri is None:
            return None
        raise InputError(f"{uri}: is {mine}, but the run was made with {wanted}")
    return stack.enter_context(closing(CachedEncoder(opened, folder)))
