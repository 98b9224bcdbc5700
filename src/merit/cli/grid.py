"""`merit grid`: many runs from one file."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.progress import Progress as Bar
from rich.table import Column, Table

from merit.cache import cache_folder
from merit.cli.options import (
    AHEAD,
    CACHE,
    CONCURRENCY,
    JSON,
    MAX_COST,
    MAX_TOKENS,
    PRICES,
    TRACE,
    allowed,
    stoppable,
    traced,
)
from merit.cli.progress import kept_so_far, progress_bar, warn_without_sql
from merit.cli.terminal import Console, inline, print_json, say
from merit.errors import InputError
from merit.models import Allowance
from merit.stream import Grid, Progress, Workshop, read_grid, run_grid, run_grid_on_ray


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@CONCURRENCY
@AHEAD
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="In this process, or as tasks of a Ray cluster that shares this file system (extra [ray]); there, "
    "--concurrency, --max-tokens and --max-cost hold for each run.",
)
@MAX_TOKENS
@MAX_COST
@PRICES
@TRACE
@CACHE
@JSON
def grid(
    file: Path,
    concurrency: int,
    ahead: int | None,
    engine: str,
    max_tokens: int | None,
    max_cost: float | None,
    prices: tuple[float, float] | None,
    trace: bool,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Run datasets x methods x seeds, side by side; the same command goes on where it stopped.

    FILE is TOML; paths in it are relative to it. out, model and a [[dataset]] are needed.

    \b
    out         the folder for all runs
    model       a model's URI, as --model of `merit run`
    encoder     an encoder's URI (wordllama)
    methods     a list of methods, or "all" (all)
    seeds       a list of stream seeds ([0, 1, 2])
    budget      repairs a question (7)
    regime      "denotation_confirmed", or "dbms_only": no oracle,
                or "reviewed": a simulated reviewer sees some answers
    review_shares  for "reviewed": a list of shares, such as [0, 0.3]
    review      for "reviewed": "corrections", "thumbs", or a list of both
    max_prompt_tokens  as --max-prompt-tokens of `merit run`
    truncate    "left", as --truncate of `merit run`
    max_tokens  as --max-tokens, where that is not given
    max_cost    as --max-cost, where that is not given
    prices      as --prices, where that is not given: [0.15, 0.60]

    Each [[dataset]], after those:

    \b
    name        spider, bird or bundled
    data        its folder; none for bundled
    label       for data of your own: what to call it
    initial     the file of first answers, made where it is missing
    split       "dev" or "train" ("dev")
    protocol    "db" or "suite" ("suite" where there is one)
    distinct    "kept" or "dropped" ("kept"); not for bird
    prompts     "paper" or "live" ("paper")
    timeout     seconds for one execution (30)
    limit       only so many questions of each stream (all)
    examples    the fixed examples of the method vanilla
    methods     other methods than those above, for this dataset

    --json prints one object: the folder `out`, and `runs` with the metrics of each by its folder's name in it.
    """  # noqa: D301 - click's own mark for lines that stay as they are
    read = read_grid(file)
    if max_cost is None and read.max_cost is not None and not (prices or read.prices):
        raise InputError(
            f"{file}: a limit on the cost needs prices: write prices = [PROMPT, OUTPUT], what a million tokens of each "
            "cost, above the first [[dataset]]"
        )
    allowance = allowed(max_tokens or read.max_tokens, max_cost or read.max_cost, prices or read.prices)
    folder = (cache or cache_folder()).absolute()
    bar = progress_bar()
    try:
        with (
            traced(trace),
            stoppable(lambda: "every finished turn is kept" if engine == "ray" else kept_so_far(bar, "turn")),
        ):
            if engine == "ray":
                metrics = run_grid_on_ray(read, folder, concurrency, ahead, allowance)
            else:
                metrics = asyncio.run(_run(read, concurrency, ahead, allowance, folder, bar))
    except BaseExceptionGroup as failures:
        raise first_of(failures) from None
    if as_json:
        print_json({"out": str(read.out), "runs": metrics})
    else:
        _show(metrics, read)


async def _run(
    read: Grid, concurrency: int, ahead: int | None, allowance: Allowance, cache: Path, bar: Bar
) -> dict[str, dict[str, Any]]:
    async with Workshop(read.model, read.encoder, cache, concurrency, allowance, read.sampling) as shop:
        seen: dict[str, Progress] = {}
        with bar:
            metrics = await run_grid(read, shop, ahead, following(bar, len(read.runs), seen))
        warn_without_sql(*(progress.replies for progress in seen.values()))
        return metrics


def following(bar: Bar, runs: int, seen: dict[str, Progress]) -> Callable[[str, Progress], None]:
    """A callback that shows on a bar how far each of so many runs is, and keeps it in `seen`."""
    task = bar.add_task(f"{runs} runs", total=None, detail="")

    def show_progress(name: str, progress: Progress) -> None:
        seen[name] = progress
        finished = sum(run.done == run.total for run in seen.values())
        tokens = sum(run.tokens for run in seen.values())
        about = "about " if any(run.estimated for run in seen.values()) else ""
        detail = f"{finished} of {runs} runs finished, {about}{tokens / 1e6:,.2f}M tokens"
        total = sum(run.total for run in seen.values()) if len(seen) == runs else None
        bar.update(task, completed=sum(run.done for run in seen.values()), total=total, detail=detail)

    return show_progress


def first_of(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first."""
    first: BaseException = failures
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first


def _show(metrics: dict[str, dict[str, Any]], read: Grid) -> None:
    reviewed = any("review" in run for run in metrics.values())
    figures = ("asked", "first", "accuracy", *(["2nd half"] if reviewed else []), "repaired", "calls", "tokens")
    folder, metrics = _within(read.out, metrics)
    table = Table(
        Column("run", overflow="fold", min_width=max(map(len, metrics))),  # names stay whole; other columns may fold
        *(Column(name, justify="right", overflow="fold") for name in figures),
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for name, run in metrics.items():
        table.add_row(
            inline(name + ("" if run["online"] else " (not online)")),
            str(run["questions"]),
            f"{run['initial_accuracy']:.2f}",
            f"{run['accuracy']:.2f}",
            *([f"{run['review']['second_half']['accuracy']:.2f}"] if reviewed else []),
            str(run["repaired"]),
            str(run["calls"]["total"]),
            f"{'~' if run['tokens'].get('estimated_calls') else ''}{run['tokens']['total']}",
        )
    console = Console()
    console.print(table, crop=False, soft_wrap=False)
    if any(run["tokens"].get("estimated_calls") for run in metrics.values()):
        say("~ tokens are estimated by merit: the endpoint did not count them")
    say(f"runs are in {folder}")


def _within(out: Path, metrics: dict[str, dict[str, Any]]) -> tuple[Path, dict[str, dict[str, Any]]]:
    """The folder that holds all runs, and the runs by their names in it, without the part that all names share."""
    datasets = {name.partition("/")[0] for name in metrics}
    if len(datasets) > 1:
        return out, metrics
    return out.joinpath(*datasets), {name.partition("/")[2]: run for name, run in metrics.items()}
