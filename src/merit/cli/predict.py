"""`merit predict`: the first answers that every method starts from."""

import asyncio
from pathlib import Path

import click

from merit.benchmark import DataSpec
from merit.cache import cache_folder
from merit.cli.options import (
    CACHE,
    CONCURRENCY,
    DATA,
    DATASET,
    DISTINCT,
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
    TRUNCATE,
    allowed,
    chosen_distinct,
    drawing,
    note_limit,
    stoppable,
)
from merit.cli.plain import at_least
from merit.cli.progress import kept_so_far, progress_bar, warn_without_sql
from merit.cli.terminal import print_json, say
from merit.errors import InputError
from merit.runs import beginnings
from merit.stream import Replies, Workshop, predict_all


@click.command()
@DATASET
@DATA
@LABEL
@MODEL
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The file of first answers; one that was begun is completed.",
)
@SPLIT
@PROTOCOL
@DISTINCT
@PROMPTS
@click.option("--limit", type=at_least(1), help="Only those that a run with this --limit takes.")
@click.option("--seed", type=int, default=0, show_default=True, help="With --limit: the seed of that run.")
@CONCURRENCY
@MAX_PROMPT_TOKENS
@TRUNCATE
@MAX_TOKENS
@MAX_COST
@PRICES
@CACHE
@JSON
def predict(
    dataset: str,
    root: Path | None,
    label: str,
    model: str,
    out: Path,
    split: str,
    protocol: str | None,
    distinct: str | None,
    prompts: str,
    limit: int | None,
    seed: int,
    concurrency: int,
    max_prompt_tokens: int | None,
    truncate: str | None,
    max_tokens: int | None,
    max_cost: float | None,
    prices: tuple[float, float] | None,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Ask a model for the first answers that every method starts from, once and greedily.

    For example: merit predict bundled --model openai:MODEL --out initial.jsonl. Every question whose database is there
    is asked, or with --limit the first ones of a run. A file that has some already is completed. `merit run` does this
    by itself where its file of first answers is not there. --json prints one object.
    """
    allowance, sampling = allowed(max_tokens, max_cost, prices), drawing(max_prompt_tokens, truncate)
    folder = cache or cache_folder()
    data = DataSpec(dataset, root, split, protocol, label=label, distinct=chosen_distinct(distinct), prompts=prompts)
    benchmark = data.for_runs().open(folder)
    loaded = benchmark.dataset
    if out.is_dir():
        raise InputError(f"{out}: is a folder; name a file for --out, such as {out / 'initial.jsonl'}")
    if not out.absolute().parent.is_dir():
        raise InputError(f"{out}: name a file in a folder that is there, or make {out.absolute().parent} first")
    if limit is None:
        questions = benchmark.present_questions
    else:
        with benchmark:
            questions = beginnings(benchmark.usable_questions(), [(seed, limit)])
        note_limit(limit, len(questions))
    bar = progress_bar()

    async def go() -> int:
        async with Workshop(model, "", folder, concurrency, allowance, sampling) as shop:
            with bar:
                task = bar.add_task(f"{loaded.title} {split}, first answers", total=len(questions), detail="")
                return await predict_all(
                    benchmark,
                    questions,
                    shop.completer,
                    shop.sampling,
                    out,
                    at_once=2 * concurrency,
                    on_answer=lambda done, total: bar.update(task, completed=done, total=total),
                )

    with stoppable(lambda: kept_so_far(bar, "first answer")):
        added = asyncio.run(go())
    warn_without_sql(Replies.in_file(out, loaded, benchmark.protocol))
    if as_json:
        print_json({"out": str(out), "questions": len(questions), "added": added})
    else:
        say(f"{added} first answers added to {out}")
