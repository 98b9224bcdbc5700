"""`merit score`: judge a file of predictions."""

import sys
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from merit.benchmark import DataSpec
from merit.cli.options import (
    CACHE,
    DATA,
    DATASET,
    DISTINCT,
    LABEL,
    PROTOCOL,
    SPLIT,
    TIMEOUT,
    check_out,
    chosen_distinct,
)
from merit.cli.plain import at_least
from merit.cli.progress import progress_bar, warn_without_sql
from merit.cli.terminal import Console, print_json
from merit.data import Dataset, parse_predictions, protocol_title, read_predictions
from merit.errors import InputError
from merit.runs.accounting import accuracy
from merit.scoring import Score, write_verdicts
from merit.scoring import score as run
from merit.stream import Replies
from merit.types import QuestionId, Verdict

_MOST_BYTES = 64 << 20  # limit for standard input, which may be endless


@click.command()
@DATASET
@DATA
@LABEL
@click.option("--pred", type=click.Path(path_type=Path), required=True, help="The predictions; - for standard input.")
@PROTOCOL
@DISTINCT
@SPLIT
@click.option("--out", type=click.Path(path_type=Path), help="Write each verdict here, one JSON object a line.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--partial", is_flag=True, help="Score only the questions that the file answers.")
@TIMEOUT
@click.option("--jobs", type=at_least(1), default=1, show_default=True, help="Predictions judged at a time.")
@CACHE
@click.option("--no-cache", is_flag=True, help="Compute every reference result anew.")
def score(
    dataset: str,
    root: Path | None,
    label: str,
    pred: Path,
    protocol: str | None,
    distinct: str | None,
    split: str,
    out: Path | None,
    as_json: bool,
    partial: bool,
    timeout_s: float,
    jobs: int,
    cache: Path | None,
    no_cache: bool,
) -> None:
    """Score predicted SQL as the benchmark's official evaluator does.

    The file of predictions can have any of these layouts. An id is the question's question_id, or else its index in
    dev.json, from 0.

    \b
    {"id": 17, "sql": "SELECT ..."}    one object a line
    {"17": "SELECT ..."}               one object, SQL by id; also BIRD's own
    id,sql                             CSV with these columns
    SQL, or SQL<TAB>db_id              one a line, in question order (Spider's own)

    For example: merit score spider --data path/to/spider --pred predictions.jsonl, or --pred - to read what a pipe
    brings. --json prints one object.
    """  # noqa: D301 - click's own mark for lines that stay as they are
    _check_swapped(root, pred)
    _check_out(out, pred)
    data = DataSpec(
        name=dataset,
        root=root,
        split=split,
        protocol=protocol,
        timeout_s=timeout_s,
        label=label,
        distinct=chosen_distinct(distinct),
    )
    benchmark = data.open(cache, keep_results=not no_cache)
    loaded, chosen = benchmark.dataset, benchmark.protocol
    predictions = _read(pred, loaded, chosen)
    with benchmark, progress_bar() as bar:
        named = protocol_title(chosen, benchmark.distinct)
        task = bar.add_task(f"{loaded.title} {split}, {named}", total=len(predictions), detail="")
        right = 0

        def show_verdict(verdict: Verdict | None) -> None:
            nonlocal right
            right += verdict is not None and verdict.correct
            bar.update(task, advance=1, detail=f"{right} right")

        result = run(
            loaded,
            chosen,
            benchmark.distinct,
            predictions,
            benchmark.judge.judge,
            partial=partial,
            jobs=jobs,
            on_verdict=show_verdict,
        )
    if out is not None:
        write_verdicts(result, out)
    if 2 * result.empty > len(result.verdicts) and str(pred) != "-":
        warn_without_sql(Replies.in_file(pred, loaded, chosen))
    if as_json:
        print_json(result.summary())
    else:
        show(result, Console())


def _read(pred: Path, dataset: Dataset, protocol: str) -> dict[QuestionId, str]:
    absent = dataset.absent(protocol)
    if str(pred) != "-":
        return read_predictions(pred, dataset.questions, absent)
    source = Path("standard input")
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InputError(f"{source}: more than {_MOST_BYTES >> 20} MiB; are these predictions?")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    return parse_predictions(text, source, dataset.questions, absent)


def _check_swapped(root: Path | None, pred: Path) -> None:
    """Refuse --data and --pred that were given in each other's place."""
    if root is not None and root.is_file() and pred.is_dir():
        raise InputError(f"--data {root} is a file and --pred {pred} a folder; type --data {pred} --pred {root}")


def _check_out(out: Path | None, pred: Path) -> None:
    check_out(out)
    if out is not None and out.exists() and pred.exists() and out.samefile(pred):
        raise InputError(f"{out}: is the prediction file itself; write the verdicts to another one")


def show(result: Score, console: Console) -> None:
    """Print a score as a person wants to read it."""
    total = len(result.verdicts)
    table = Table(title=escape(result.title), title_justify="left")
    for heading in ("database", "questions", "correct", "accuracy"):
        table.add_column(heading, justify="left" if heading == "database" else "right")
    for db_id, (right, count) in result.by_database().items():
        table.add_row(escape(db_id), str(count), str(right), f"{accuracy(right, count):.2f}")
    table.add_section()
    table.add_row("overall", str(total), str(result.correct), f"{accuracy(result.correct, total):.2f}", style="bold")
    console.print(table)
    for status, count in result.by_status().items():
        console.print(f"  {status:<20}{count:>6}", highlight=False)
    for line in result.warnings():
        console.print(f"[bold yellow]warning:[/] {escape(line)}", highlight=False, soft_wrap=True)
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
