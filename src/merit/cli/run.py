"""`merit run`: a method over a stream."""

import asyncio
from pathlib import Path
from typing import Any

import click
from rich.progress import Progress as Bar
from rich.progress import TaskID

from merit.agent import find_method
from merit.benchmark import DataSpec
from merit.cache import cache_folder
from merit.cli.options import (
    AHEAD,
    CACHE,
    CONCURRENCY,
    DATA,
    DATASET,
    DISTINCT,
    ENCODER,
    JSON,
    LABEL,
    MAX_COST,
    MAX_PROMPT_TOKENS,
    MAX_TOKENS,
    MODEL,
    PRICES,
    PROMPTS,
    PROTOCOL,
    SPLIT,
    TIMEOUT,
    TRACE,
    TRUNCATE,
    allowed,
    chosen_distinct,
    drawing,
    note_limit,
    stoppable,
    traced,
)
from merit.cli.plain import Number, at_least
from merit.cli.progress import kept_so_far, progress_bar, warn_without_sql
from merit.cli.terminal import Console, inline, print_json, say
from merit.errors import InputError, counted
from merit.runs import ReviewPolicy
from merit.stream import (
    DEFAULT_BUDGET,
    Progress,
    Replies,
    RunSpec,
    Workshop,
    open_setup,
    predict_for_runs,
    run_stream,
    window,
)
from merit.types import Polarity, Regime, ReviewKind, ReviewOutcome

_OUT = click.Path(path_type=Path)
_FIRST = "first answers"


@click.command()
@DATASET
@DATA
@LABEL
@click.option(
    "--initial",
    type=_OUT,
    required=True,
    help="First answers, from `merit predict` or any file that `merit score` reads; made where it is not there.",
)
@click.option("--method", "method_name", required=True, help="One of `merit methods`, or NAME:field=value,...")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides the order of the questions.")
@MODEL
@ENCODER
@click.option("--out", type=_OUT, required=True, help="The run's folder; a run that was begun goes on.")
@click.option("--budget", type=at_least(0), default=DEFAULT_BUDGET, show_default=True, help="Repairs a question.")
@click.option(
    "--limit",
    type=at_least(1),
    help="Only the first questions of the stream. To extend the run later, make the first answers to all questions "
    "before it, by `merit predict` without --limit.",
)
@click.option(
    "--regime",
    type=click.Choice([regime.value for regime in Regime]),
    default=Regime.DENOTATION_CONFIRMED.value,
    show_default=True,
    help="How much of the truth the agent is told.",
)
@click.option(
    "--review-share",
    type=Number(float, 0, 1),
    help="With --regime reviewed: the share of answers that a simulated reviewer sees afterwards, such as 0.3.",
)
@click.option(
    "--review",
    type=click.Choice([kind.value for kind in ReviewKind]),
    help="With --regime reviewed: whether the reviewer corrects wrong answers or only says that they are wrong "
    "(default: corrections).",
)
@click.option("--examples", type=_OUT, help="The fixed examples of the method vanilla: question and sql a line.")
@SPLIT
@PROTOCOL
@DISTINCT
@PROMPTS
@TIMEOUT
@CONCURRENCY
@AHEAD
@MAX_PROMPT_TOKENS
@TRUNCATE
@MAX_TOKENS
@MAX_COST
@PRICES
@TRACE
@CACHE
@JSON
def run(
    dataset: str,
    root: Path | None,
    label: str,
    initial: Path,
    method_name: str,
    seed: int,
    model: str,
    encoder: str,
    out: Path,
    budget: int,
    limit: int | None,
    regime: str,
    review_share: float | None,
    review: str | None,
    examples: Path | None,
    split: str,
    protocol: str | None,
    distinct: str | None,
    prompts: str,
    timeout_s: float,
    concurrency: int,
    ahead: int | None,
    max_prompt_tokens: int | None,
    truncate: str | None,
    max_tokens: int | None,
    max_cost: float | None,
    prices: tuple[float, float] | None,
    trace: bool,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Run a method over a stream of questions, or go on with a run.

    For example: merit run bundled --initial initial.jsonl --method merit --model openai:MODEL --out runs/merit-0.
    --json prints one object.
    """
    allowance, sampling = allowed(max_tokens, max_cost, prices), drawing(max_prompt_tokens, truncate)
    spec = RunSpec(
        data=DataSpec(
            name=dataset,
            root=root,
            split=split,
            protocol=protocol,
            timeout_s=timeout_s,
            label=label,
            distinct=chosen_distinct(distinct),
            prompts=prompts,
        ),
        initial=initial,
        method=find_method(method_name).name,
        seed=seed,
        budget=budget,
        regime=Regime(regime),
        limit=limit,
        examples=examples,
        review=_reviewing(Regime(regime), review_share, review),
    )
    spec.check_place(out)
    bar, replies = progress_bar(), Replies()

    async def go() -> dict[str, Any]:
        async with Workshop(model, encoder, cache or cache_folder(), concurrency, allowance, sampling) as shop:
            await _answer_first(spec, shop, bar)
            setup = open_setup(spec, shop)
            note_limit(limit, setup.length)
            far = window(shop.completer.concurrency, 1) if ahead is None else ahead
            with bar:
                task = bar.add_task(f"{method_name}, seed {seed}", total=setup.length, detail="")

                def note_progress(progress: Progress) -> None:
                    nonlocal replies
                    replies = progress.replies
                    _show_progress(bar, task, progress)

                return await run_stream(setup, out, note_progress, ahead=far)

    with traced(trace), stoppable(lambda: kept_so_far(bar, "first answer" if _asking_first(bar) else "turn")):
        metrics = asyncio.run(go())
    warn_without_sql(replies)
    if as_json:
        print_json(metrics)
    else:
        _show(metrics, out)


def _reviewing(regime: Regime, share: float | None, kind: str | None) -> ReviewPolicy | None:
    """How answers are reviewed, in the regime that has it."""
    if regime is not Regime.REVIEWED and (share is not None or kind is not None):
        given = "--review" if share is None else "--review-share"
        raise InputError(f"{given}: there is a reviewer only with --regime reviewed; give that too, or leave it out")
    if regime is Regime.REVIEWED and share is None:
        raise InputError("--regime reviewed: give --review-share too, the share of answers that are seen, such as 0.3")
    return None if share is None else ReviewPolicy(share, ReviewKind(kind or ReviewKind.CORRECTIONS))


async def _answer_first(spec: RunSpec, shop: Workshop, bar: Bar) -> None:
    """Ask for first answers where there is no file of them, and say so: it may have been mistyped, and calls cost."""
    if spec.initial.exists():
        return
    shop.benchmark(spec.data)  # data that cannot be opened is refused first
    say(f"merit: {spec.initial}: not there yet; asking {shop.model} for the first answers", err=True)
    with bar:
        task = bar.add_task(_FIRST, total=None, detail="")
        await predict_for_runs([spec], shop, lambda done, total: bar.update(task, completed=done, total=total))
    bar.remove_task(task)


def _asking_first(bar: Bar) -> bool:
    return any(task.description == _FIRST for task in bar.tasks)


def _show_progress(bar: Bar, task: TaskID, progress: Progress) -> None:
    first = 100 * progress.initial_right / max(1, progress.answered)
    now = 100 * progress.right / max(1, progress.answered)
    detail = (
        f"{now:.1f}% right, {first:.1f}% at first, {progress.repaired} repaired, "
        f"{progress.entries} remembered, "
        f"{'about ' if progress.estimated else ''}{progress.tokens / 1000:,.0f}k tokens"
    )
    bar.update(task, completed=progress.done, total=progress.total, detail=detail)


def tokens_shown(tokens: dict[str, int]) -> str:
    """All tokens of a run, and for how many calls merit estimated them."""
    estimated = tokens.get("estimated_calls", 0)
    if not estimated:
        return f"{tokens['total']} tokens"
    return f"about {tokens['total']} tokens (estimated by merit for {estimated} calls: the endpoint did not count)"


def _show(metrics: dict[str, Any], out: Path) -> None:
    console = Console()
    label = "" if metrics["online"] else "  [bold red]not an online method: it reads the whole stream[/]"
    console.print(f"[bold]{inline(metrics['method'])}[/]{label}")
    console.print(
        f"  accuracy      {metrics['accuracy']:.2f}% of {metrics['questions']} questions, "
        f"{metrics['initial_accuracy']:.2f}% at first"
    )
    method = find_method(metrics["method"])
    repeats = ", draws that repeat a candidate among them" if method.draws > 1 else ""
    steps = f"{metrics['steps']:.3f} steps for each wrong first answer"
    console.print(f"  repaired      {metrics['repaired']}, {steps}{repeats}", soft_wrap=True)
    console.print(f"  oscillation   {metrics['oscillation']:.2f}%")
    console.print(f"  calls         {metrics['calls']['total']}, {tokens_shown(metrics['tokens'])}")
    entries = metrics["entries"]
    keeps_answers = Polarity.PRECEDENT in method.writes or "review" in metrics
    answers = f", {counted(entries['precedent'], 'precedent')}" if keeps_answers else ""
    console.print(f"  memory        {entries['positive']} positive, {entries['negative']} negative entries{answers}")
    if "review" in metrics:
        _show_review(metrics["review"], console)
    console.print(f"  run           {inline(str(out))}")


def _show_review(review: dict[str, Any], console: Console) -> None:
    """What the reviewer said, and how answers fared before that."""

    def right(part: str) -> str:
        return f"{review[part]['accuracy']:.2f}% of {review[part]['questions']}"

    outcomes = ", ".join(f"{review[word]} {word}" for word in ReviewOutcome)
    console.print(f"  reviewed      {counted(review['reviewed']['questions'], 'answer')}: {outcomes}")
    console.print(f"  right before  {right('reviewed')} reviewed, {right('unreviewed')} others")
    console.print(f"  by half       {right('first_half')}, then {right('second_half')}")
