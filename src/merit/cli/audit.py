"""`merit audit`: the proof that a run is what it claims."""

from contextlib import ExitStack, closing
from pathlib import Path

import click

from merit.bundled import NAME as BUNDLED
from merit.bundled import open_dataset
from merit.cache import cache_folder
from merit.cli.options import CACHE
from merit.errors import EncoderFailed, InputError
from merit.models import CachedEncoder, Encoder, open_encoder
from merit.oracle import Judge, open_judge
from merit.stream import Report, RunView, audit_run, read_run
from merit.stream.manifest import code_hash


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--data", "root", type=click.Path(path_type=Path), help="The dataset's folder: judge all attempts again.")
@click.option("--encoder", metavar="URI", help="Rank every recall again with this encoder (default: the run's own).")
@CACHE
def audit(run: Path, root: Path | None, encoder: str | None, cache: Path | None) -> None:
    """Derive a run again from its trajectories and memory; exit 1 with the first contradiction."""
    view = read_run(run)
    folder = cache or cache_folder()
    with ExitStack() as stack:
        chosen = _encoder(view, encoder, folder, stack)
        report = audit_run(view, encoder=chosen, judge=_judge(view, root, folder, stack))
    click.echo(f"{run}: holds. {gone_through(report)}")
    if view.identity["code"] != code_hash():
        click.echo("note: it was made by another version of merit's code", err=True)


def gone_through(report: Report) -> str:
    """What an audit went through, for people."""
    ranked = "ranked again" if report.ranked else "not ranked again (the run's encoder is not here; see --encoder)"
    judged = "judged again" if report.judged else "verdicts taken from the run (see --data)"
    recalls = f", {report.recalls} recalls legal and {ranked}" if report.recalls else ""
    return (
        f"{report.questions} of {report.stream} questions, {report.attempts} attempts ({judged}), "
        f"{report.prompts} prompts, {report.entries} entries{recalls}"
    )


def _encoder(view: RunView, uri: str | None, folder: Path, stack: ExitStack) -> Encoder | None:
    wanted = view.identity["encoder"]
    if wanted is None:
        return None
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


def _judge(view: RunView, root: Path | None, folder: Path, stack: ExitStack) -> Judge | None:
    identity = view.identity
    name = identity["dataset"]["name"]
    if root is None and name != BUNDLED:
        return None
    dataset = open_dataset(name, root, identity["dataset"]["split"], folder)
    if dataset.content_hash() != identity["dataset"]["sha256"]:
        if root is None:  # another version of merit brought another version of it
            return None
        raise InputError(f"{root}: is not the data of this run (its content hash differs)")
    judge = open_judge(dataset, identity["protocol"], cache=folder, timeout_s=identity["timeout_s"])
    return stack.enter_context(closing(judge))
