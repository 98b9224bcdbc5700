"""`merit score`: judge a file of predictions."""

import json
import math
from contextlib import closing
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from merit.cache import cache_folder
from merit.cli.options import CACHE, DATA, DATASET, PROTOCOL, SPLIT, TIMEOUT, open_data
from merit.cli.run import progress_bar
from merit.cli.screen import Console
from merit.data import read_predictions
from merit.errors import InputError
from merit.oracle import open_judge
from merit.score import Score, accuracy, write_verdicts
from merit.score import score as run
from merit.types import Verdict


@click.command()
@DATASET
@DATA
@click.option(
    "--pred", type=click.Path(path_type=Path), required=True, help="JSON lines with id and sql, or one SQL a line."
)
@PROTOCOL
@SPLIT
@click.option("--out", type=click.Path(path_type=Path), help="Write each verdict here, one JSON object a line.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--partial", is_flag=True, help="Score only the questions that the file answers.")
@TIMEOUT
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Predictions judged at a time.")
@CACHE
@click.option("--no-cache", is_flag=True, help="Compute every reference result anew.")
def score(
    dataset: str,
    root: Path | None,
    pred: Path,
    protocol: str | None,
    split: str,
    out: Path | None,
    as_json: bool,
    partial: bool,
    timeout_s: float,
    jobs: int,
    cache: Path | None,
    no_cache: bool,
) -> None:
    """Score predicted SQL as the benchmark's official evaluator does."""
    _check_out(out, pred)
    if math.isnan(timeout_s):
        raise InputError("--timeout: nan is no number of seconds")
    loaded, chosen = open_data(dataset, root, split, protocol, cache)
    predictions = read_predictions(pred, loaded.questions, loaded.absent(chosen))
    folder = None if no_cache else (cache or cache_folder())
    with (
        closing(open_judge(loaded, chosen, cache=folder, timeout_s=timeout_s)) as judge,
        progress_bar() as bar,
    ):
        task = bar.add_task(f"{dataset} {split}, {chosen}", total=len(predictions), said="")
        right = 0

        def heard(verdict: Verdict | None) -> None:
            nonlocal right
            right += verdict is not None and verdict.correct
            bar.update(task, advance=1, said=f"{right} right")

        result = run(loaded, chosen, predictions, judge, partial=partial, jobs=jobs, on_verdict=heard)
    if out is not None:
        write_verdicts(result, out)
    if as_json:
        click.echo(json.dumps(result.summary(), indent=2))
    else:
        show(result, Console())


def _check_out(out: Path | None, pred: Path) -> None:
    """Complain about a place to write to before hours of judging, not after."""
    if out is None:
        return
    if not out.absolute().parent.is_dir():
        raise InputError(f"{out}: there is no folder {out.absolute().parent} to write to")
    if out.is_dir():
        raise InputError(f"{out}: is a folder; name a file to write to")
    if out.exists() and pred.exists() and out.samefile(pred):
        raise InputError(f"{out}: is the prediction file itself; write the verdicts to another one")


def show(result: Score, console: Console) -> None:
    """Print a score as a person wants to read it."""
    total = len(result.verdicts)
    title = f"{result.dataset.layout.name} {result.dataset.split}, protocol {result.protocol}"
    table = Table(title=title, title_justify="left")
    for heading in ("database", "questions", "correct", "accuracy"):
        table.add_column(heading, justify="left" if heading == "database" else "right")
    for db_id, (right, count) in result.by_database().items():
        table.add_row(escape(db_id), str(count), str(right), f"{accuracy(right, count):.2f}")
    table.add_section()
    table.add_row("overall", str(total), str(result.correct), f"{accuracy(result.correct, total):.2f}", style="bold")
    console.print(table)
    for status, count in result.by_status().items():
        console.print(f"  {status:<20}{count:>6}", highlight=False)
    for line in left_out(result):
        console.print(f"[yellow]left out:[/] {escape(line)}", highlight=False, soft_wrap=True)


def left_out(result: Score) -> list[str]:
    """What was not scored, and why; nothing of it counts as wrong."""
    kind = "test suite" if result.protocol == "suite" else "database"
    lines = [f"{count} questions on {db_id}: its {kind} is absent" for db_id, count in result.absent.items()]
    lines += list(result.unjudged.values())
    if result.unpredicted:
        lines.append(f"{result.unpredicted} questions without a prediction")
    return lines
