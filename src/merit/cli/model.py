"""`merit model`: whether a model answers, and how fast."""

import asyncio
import time
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from merit import prompts
from merit.cache import cache_folder
from merit.cli.options import JSON
from merit.cli.plain import CommandGroup
from merit.cli.progress import progress_bar
from merit.cli.terminal import Console, print_json
from merit.errors import ModelFailed, Stopped
from merit.models import open_completer
from merit.models.fetch import SOURCES, fetch_model
from merit.models.greedy import NEUTRAL
from merit.models.retrying_client import names_of
from merit.stream.replies import beginning
from merit.types import Completer, Completion, NeutralCompleter, Question, Sampling, ServedCompleter

_PATH = click.Path(path_type=Path)
_SHORTEST_S = 0.01  # a shorter time of writing is lost in the variation of the network
_QUESTION = Question("check", "shop", "How many items cost more than 10?")
# Long enough for a small penalty to change a word: over the few tokens of a query, it rarely does.
_LONG = "Describe in about 50 words how a relational database answers a query that joins two tables."
_LONGER = Sampling(max_tokens=64)
_SCHEMA = "Database: shop\nTable: item\n  item_id number PRIMARY KEY\n  name text\n  price number"


@click.group(cls=CommandGroup)
def model() -> None:
    """Check a language model, or fetch a small one."""


@model.command()
@click.argument("uri")
@JSON
def check(uri: str, as_json: bool) -> None:
    """Ask a model one question and say what works and how fast.

    It is asked three times: twice to see whether the answer is the same, and once for the first token alone, so that
    the speed of writing leaves out the time for reading the prompt. An endpoint or a GGUF file then answers another
    prompt with neutral penalties and cut-offs stated, as runs do, and without: where the answers differ, its own
    defaults change what greedy means. Exit 1 if the reply holds no SQL. An openai: model is asked at OPENAI_BASE_URL
    with OPENAI_API_KEY; where a server takes longer than 45 seconds for an answer and says nothing meanwhile,
    MERIT_PATIENCE_S gives it more.
    """
    try:
        result = asyncio.run(_check(uri))
    except KeyboardInterrupt:
        raise Stopped(f"stopped; {uri} has not answered twice yet") from None
    if as_json:
        print_json(result)
    else:
        _show(result)
    if not result["sql"]:
        raise ModelFailed(
            f"{result['model']} answers, but the reply held no SQL; it {beginning(result['reply'])}; try another "
            "model, one that was trained to follow instructions"
        )


def _show(result: dict[str, Any]) -> None:
    """Print what a check found, for people."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]{escape(result['model'])}[/]  answers{'' if result['sql'] else ', but not with SQL'}")
    console.print(f"  SQL           {escape(result['sql']) or '[red]none found in the reply[/]'}")
    if result["address"]:
        console.print(f"  address       {escape(result['address'])}")
    if result["offered"] is not None:
        console.print(f"  note          the server lists other models: {escape(result['offered'])}")
    estimated = "  (estimated by merit: the endpoint does not count)" if result["tokens_estimated"] else ""
    console.print(f"  tokens        {result['prompt_tokens']} in, {result['output_tokens']} out{estimated}")
    console.print(f"  time          {result['seconds']:.2f} s for the answer, {_speed(result['tokens_per_second'])}")
    console.print(
        f"  repeatable    {'yes' if result['repeatable'] else 'no: the same greedy prompt got another answer'}"
    )
    if result["greedy"] is not None:
        console.print(f"  greedy        {_GREEDY[result['greedy']['defaults_differ']]}")
        if refused := result["greedy"]["refused"]:
            console.print(f"                left to the server, which refuses them: {', '.join(refused)}")
    if not result["sql"]:
        console.print(f"  reply         {escape(result['reply'])}")


_GREEDY = {
    False: "its own defaults give the same answer as neutral penalties and cut-offs",
    True: "its own defaults give another answer than the neutral penalties and cut-offs that merit states",
    None: "cannot be told, since the same request gets different answers",
}


async def _check(uri: str) -> dict[str, Any]:
    completer = open_completer(uri)
    try:
        served = completer if isinstance(completer, ServedCompleter) else None
        offered = await served.offered() if served else []
        prompt = prompts.initial(prompts.SPIDER, _QUESTION, _SCHEMA).text
        first, seconds = await _timed(completer, prompt, Sampling())
        second, again_s = await _timed(completer, prompt, Sampling())
        speed = await _tokens_per_second(completer, prompt, second.output_tokens, again_s)
        greedy = await _greedy(completer) if isinstance(completer, NeutralCompleter) else None
    finally:
        await completer.close()
    identity = completer.identity
    return {
        "model": identity.name,
        "revision": identity.revision,
        "reply": first.text,
        "sql": prompts.parse_sql(first.text),
        "prompt_tokens": first.prompt_tokens,
        "output_tokens": first.output_tokens,
        "seconds": round(seconds, 3),
        "tokens_estimated": first.tokens_estimated,
        "tokens_per_second": speed,
        "repeatable": first.text == second.text,
        "greedy": greedy,
        "address": served.address if served else None,
        "offered": names_of(offered) if offered and identity.name.removeprefix("openai:") not in offered else None,
    }


async def _greedy(completer: NeutralCompleter) -> dict[str, Any]:
    """What greedy requests state, what of it is refused, and whether answers differ where nothing is stated."""
    stated, default = await completer.complete(_LONG, _LONGER), await completer.complete_by_default(_LONG, _LONGER)
    differ: bool | None = stated.text != default.text
    if differ and (await completer.complete(_LONG, _LONGER)).text != stated.text:
        differ = None
    neutral = completer.neutral
    refused = [name for name in NEUTRAL if name not in neutral]
    return {"stated": dict(neutral), "refused": refused, "defaults_differ": differ}


async def _timed(completer: Completer, prompt: str, sampling: Sampling) -> tuple[Completion, float]:
    started = time.monotonic()
    return await completer.complete(prompt, sampling), time.monotonic() - started


async def _tokens_per_second(completer: Completer, prompt: str, tokens: int, seconds: float) -> float | None:
    """How fast an answer is written: what it takes beyond its first token, for which the prompt was read.

    The prompt has been read before, so that a server which remembers prompts saves the same time in both.
    """
    try:
        _, first_s = await _timed(completer, prompt, Sampling(max_tokens=1))
    except ModelFailed:
        return None  # some servers refuse answers as short as that
    writing_s = seconds - first_s
    return round((tokens - 1) / writing_s, 1) if tokens > 1 and writing_s > _SHORTEST_S else None


def _speed(tokens_per_second: float | None) -> str:
    if tokens_per_second is None:
        return "too short to tell how many tokens/s"
    return f"{tokens_per_second:.0f} tokens/s (without the time for the prompt)"


@model.command()
@click.argument("name", type=click.Choice(sorted(SOURCES)))
@click.option("--out", type=_PATH, help="The folder for it (default: models/ in the cache folder).")
@JSON
def fetch(name: str, out: Path | None, as_json: bool) -> None:
    """Get a small local model, checked against a pinned hash; --json prints one object with its path and URI."""
    source = SOURCES[name]
    with progress_bar() as bar:
        task = bar.add_task(f"{source.file}, MB", total=source.size // 10**6, detail="")
        path = fetch_model(name, out or cache_folder() / "models", lambda n: bar.update(task, completed=n // 10**6))
    if as_json:
        print_json({"model": name, "path": str(path), "uri": f"llamacpp:{path}", "bytes": path.stat().st_size})
        return
    click.echo(f"{path}\nuse it as llamacpp:{path}")
