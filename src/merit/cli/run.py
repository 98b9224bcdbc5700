"""`merit predict` and `merit run`: first answers, and a method over a stream."""

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Column

from merit.agent import find_method
from merit.cache import cache_folder
from merit.cli.options import (
    AHEAD,
    CACHE,
    CONCURRENCY,
    DATA,
    DATASET,
    ENCODER,
    JSON,
    MAX_COST,
    MAX_TOKENS,
    MODEL,
    PRICES,
    PROTOCOL,
    SPLIT,
    TIMEOUT,
    TRACE,
    allowed,
    open_data,
    stoppable,
    watched,
)
from merit.cli.screen import Console, inline, print_json, say
from merit.errors import InputError
from merit.oracle import open_judge
from merit.stream import (
    DataSpec,
    Progress,
    RunSpec,
    Workshop,
    family_named,
    predict_all,
    run_stream,
    stream_order,
    usable_questions,
    window,
)
from merit.stream.setup import DEFAULT_BUDGET
from merit.types import Regime

_OUT = click.Path(path_type=Path)


@click.command()
@DATASET
@DATA
@MODEL
@click.option("--out", type=_OUT, required=True, help="The file of first answers; one that was begun is completed.")
@SPLIT
@PROTOCOL
@click.option("--limit", type=click.IntRange(min=1), help="Only so many questions.")
@click.option("--seed", type=int, help="With --limit: the first of this seed's stream instead of the dataset's.")
@CONCURRENCY
@MAX_TOKENS
@MAX_COST
@PRICES
@CACHE
@JSON
def predict(
    dataset: str,
    root: Path | None,
    model: str,
    out: Path,
    split: str,
    protocol: str | None,
    limit: int | None,
    seed: int | None,
    concurrency: int,
    max_tokens: int | None,
    max_cost: float | None,
    prices: tuple[float, float] | None,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Generate the first answers that every method starts from, once and greedily."""
    allowance = allowed(max_tokens, max_cost, prices)
    loaded, chosen = open_data(dataset, root, split, protocol, cache)
    if not out.absolute().parent.is_dir() or out.is_dir():
        raise InputError(f"{out}: name a file in a folder that is there")
    folder = cache or cache_folder()
    if seed is None:
        absent = loaded.absent(chosen)
        questions = [question for question in loaded.questions if question.db_id not in absent]
    else:
        with closing(open_judge(loaded, chosen, cache=folder)) as judge:
            questions = stream_order(usable_questions(loaded, chosen, judge), seed)
    questions = questions[:limit]
    bar = progress_bar()

    async def go() -> int:
        async with Workshop(model, "", folder, concurrency, allowance) as shop:
            with bar:
                task = bar.add_task(f"{dataset} {split}, first answers", total=len(questions), said="")
                return await predict_all(
                    loaded,
                    questions,
                    family_named(dataset),
                    shop.completer,
                    shop.sampling,
                    out,
                    at_once=2 * concurrency,
                    on_answer=lambda done, total: bar.update(task, completed=done, total=total),
                )

    with stoppable(lambda: kept(bar, "first answer")):
        added = asyncio.run(go())
    if as_json:
        print_json({"out": str(out), "questions": len(questions), "added": added})
    else:
        say(f"{added} first answers added to {out}")


@click.command()
@DATASET
@DATA
@click.option("--initial", type=_OUT, required=True, help="First answers, from `merit predict` or any prediction file.")
@click.option("--method", "method_name", required=True, help="One of `merit methods`, or NAME:field=value,...")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides the order of the questions.")
@MODEL
@ENCODER
@click.option("--out", type=_OUT, required=True, help="The run's folder; a run that was begun goes on.")
@click.option(
    "--budget", type=click.IntRange(min=0), default=DEFAULT_BUDGET, show_default=True, help="Repairs a question."
)
@click.option("--limit", type=click.IntRange(min=1), help="Only the first questions of the stream.")
@click.option(
    "--regime",
    type=click.Choice([regime.value for regime in Regime]),
    default=Regime.DENOTATION_CONFIRMED.value,
    show_default=True,
    help="How much of the truth the agent is told.",
)
@click.option("--examples", type=_OUT, help="The fixed examples of the method vanilla: question and sql a line.")
@SPLIT
@PROTOCOL
@TIMEOUT
@CONCURRENCY
@AHEAD
@MAX_TOKENS
@MAX_COST
@PRICES
@TRACE
@CACHE
@JSON
def run(
    dataset: str,
    root: Path | None,
    initial: Path,
    method_name: str,
    seed: int,
    model: str,
    encoder: str,
    out: Path,
    budget: int,
    limit: int | None,
    regime: str,
    examples: Path | None,
    split: str,
    protocol: str | None,
    timeout_s: float,
    concurrency: int,
    ahead: int | None,
    max_tokens: int | None,
    max_cost: float | None,
    prices: tuple[float, float] | None,
    trace: bool,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Run a method over a stream of questions, or go on with a run."""
    allowance = allowed(max_tokens, max_cost, prices)
    spec = RunSpec(
        DataSpec(dataset, root, split, protocol, timeout_s),
        initial,
        find_method(method_name).name,
        seed,
        budget,
        Regime(regime),
        limit,
        examples,
    )
    bar = progress_bar()

    async def go() -> dict[str, Any]:
        async with Workshop(model, encoder, cache or cache_folder(), concurrency, allowance) as shop:
            setup = shop.setup(spec)
            far = window(shop.completer.places, 1) if ahead is None else ahead
            with bar:
                task = bar.add_task(f"{method_name}, seed {seed}", total=setup.length, said="")
                return await run_stream(setup, out, lambda progress: _heard(bar, task, progress), ahead=far)

    with watched(trace), stoppable(lambda: kept(bar, "turn")):
        found = asyncio.run(go())
    if as_json:
        print_json(found)
    else:
        _show(found, out)


def _heard(bar: Bar, task: TaskID, progress: Progress) -> None:
    first = 100 * progress.initial_right / max(1, progress.answered)
    now = 100 * progress.right / max(1, progress.answered)
    said = (
        f"{now:.1f}% right, {first:.1f}% at first, {progress.repaired} repaired, "
        f"{progress.entries} remembered, "
        f"{'about ' if progress.estimated else ''}{progress.tokens / 1000:,.0f}k tokens"
    )
    bar.update(task, completed=progress.done, total=progress.total, said=said)


def progress_bar() -> Bar:
    """How far something is, on a terminal: name, bar, count and time left always, then what there is room for."""
    console = Console(stderr=True)
    return Bar(
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, max_width=24)),
        BarColumn(bar_width=16, table_column=Column(no_wrap=True)),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[said]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
        console=console,
        disable=not console.is_terminal,
        expand=True,
        redirect_stdout=False,  # rich would take escapes in what others print for colours
        redirect_stderr=False,
    )


def kept(bar: Bar, what: str) -> str:
    """What is finished, as far as a bar was told."""
    done = sum(int(task.completed) for task in bar.tasks)
    return f"everything up to {what} {done} is kept" if done else f"no {what} was finished"


def tokens_shown(tokens: dict[str, int]) -> str:
    """All tokens of a run, and for how many calls merit estimated them."""
    estimated = tokens.get("estimated_calls", 0)
    if not estimated:
        return f"{tokens['total']} tokens"
    return f"about {tokens['total']} tokens (estimated by merit for {estimated} calls: the endpoint did not count)"


def _show(found: dict[str, Any], out: Path) -> None:
    console = Console()
    label = "" if found["online"] else "  [bold red]not an online method: it reads the whole stream[/]"
    console.print(f"[bold]{inline(found['method'])}[/]{label}")
    console.print(
        f"  accuracy      {found['accuracy']:.2f}% of {found['questions']} questions, "
        f"{found['initial_accuracy']:.2f}% at first"
    )
    console.print(f"  repaired      {found['repaired']}, {found['steps']:.3f} steps for each wrong first answer")
    console.print(f"  oscillation   {found['oscillation']:.2f}%")
    console.print(f"  calls         {found['calls']['total']}, {tokens_shown(found['tokens'])}")
    kept = found["entries"]
    answers = f", {kept['precedent']} precedents" if kept["precedent"] else ""
    console.print(f"  memory        {kept['positive']} positive, {kept['negative']} negative entries{answers}")
    console.print(f"  run           {inline(str(out))}")
