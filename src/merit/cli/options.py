"""Options that several commands share."""

import difflib
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from merit import tracing
from merit.benchmark import DEFAULT_TIMEOUT_S
from merit.cli.plain import Number, Price, at_least
from merit.cli.terminal import say
from merit.data import LAYOUTS, PROTOCOLS
from merit.errors import InputError, Stopped
from merit.models import Allowance, Prices, check_encoder
from merit.models.completers import KNOWN
from merit.prompts import VERSIONS
from merit.runs import LONGEST_TIMEOUT_S
from merit.types import Distinct, Sampling

_OWN_DATA = (
    "use bundled, spider or bird; a folder of your own in Spider's layout is `spider --data FOLDER --name NAME`, in "
    "BIRD's `bird --data FOLDER --name NAME`"
)
SECONDS = Number(float, 0.01, LONGEST_TIMEOUT_S)


class _DatasetName(click.Choice[str]):
    """A dataset's name; an unknown name gets a hint what to type."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, as it is written."""
        if isinstance(value, str) and value not in self.choices:
            self.fail(unknown_dataset(value), param, ctx)
        return super().convert(value, param, ctx)


def unknown_dataset(value: str) -> str:
    """A hint for an unknown dataset name."""
    if Path(value).is_dir():
        return f"{value!r} is a folder; type `spider --data {value}`, or `bird --data {value}` for BIRD's layout"
    near = difflib.get_close_matches(value.lower(), LAYOUTS, 1)
    return f"unknown dataset {value!r}; " + (f"did you mean {near[0]}?" if near else _OWN_DATA)


DATASET = click.argument("dataset", type=_DatasetName(list(LAYOUTS)))
DATA = click.option(
    "--data",
    "root",
    type=click.Path(path_type=Path),
    help="The folder of spider or bird; bundled comes with merit and takes none.",
)
LABEL = click.option(
    "--name", "label", default="", help="For data of your own: what to call it instead of spider or bird."
)
SPLIT = click.option(
    "--split", type=click.Choice(["dev", "train"]), default="dev", show_default=True, help="Which of its questions."
)
PROTOCOL = click.option(
    "--protocol",
    type=click.Choice(PROTOCOLS),
    help="db: judge on the original databases; suite: on the test suite (the default where there is one).",
)
DISTINCT = click.option(
    "--distinct",
    type=click.Choice([choice.value for choice in Distinct]),
    help="For spider and bundled: keep DISTINCT in both queries, as the paper did, or drop it, as leaderboards do "
    "(default: kept for bundled and for runs, dropped for `merit score`).",
)
PROMPTS = click.option(
    "--prompts",
    type=click.Choice(list(VERSIONS)),
    default="paper",
    show_default=True,
    help="The paper's prompts, or those for live use: CREATE TABLE text, example values, values that the question "
    "mentions.",
)
TIMEOUT = click.option(
    "--timeout",
    "timeout_s",
    type=SECONDS,
    default=DEFAULT_TIMEOUT_S,
    show_default=True,
    help="Seconds for one execution.",
)
CACHE = click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Folder for answers, embeddings and reference results (default: MERIT_CACHE or the user's cache folder).",
)
MODEL = click.option(
    "--model",
    required=True,
    metavar="URI",
    help=f"{KNOWN}.",
)


def known_encoder(_: click.Context, __: click.Parameter, uri: str | None) -> str | None:
    """Refuse an unknown encoder at once, even where none is needed."""
    if uri is not None:
        check_encoder(uri)
    return uri


ENCODER = click.option(
    "--encoder",
    callback=known_encoder,
    default="wordllama",
    show_default=True,
    metavar="URI",
    help="wordllama, sentence-transformers:NAME or openai:MODEL.",
)
CONCURRENCY = click.option(
    "--concurrency", type=at_least(1), default=32, show_default=True, help="Model calls under way at a time."
)
AHEAD = click.option(
    "--ahead",
    type=at_least(0),
    help="Turns whose answers are asked for early; changes the time, never the result (default: by --concurrency).",
)
_BOUND = "Holds for this command alone; calls under way by then, at most --concurrency, are still paid for."
MAX_TOKENS = click.option(
    "--max-tokens", type=at_least(1), help=f"Stop when so many tokens were sent and received. {_BOUND}"
)


_PRICE = Price(float, 0.0, 1e9)
PRICES = click.option(
    "--prices", type=(_PRICE, _PRICE), metavar="PROMPT OUTPUT", help="What a million prompt and output tokens cost."
)
MAX_COST = click.option(
    "--max-cost",
    type=Number(float, 0.0, 1e9, above=True),
    help=f"Stop when so much was spent. {_BOUND}",
)
MAX_PROMPT_TOKENS = click.option(
    "--max-prompt-tokens",
    type=at_least(1),
    help="With --truncate left: keep only so many tokens of a prompt, the last ones, as the model's tokenizer counts "
    "them (default: a prompt that does not fit is an error).",
)
TRUNCATE = click.option("--truncate", type=click.Choice(["left"]), help="Where --max-prompt-tokens cuts a prompt.")
TRACE = click.option("--trace", is_flag=True, help="Send OpenTelemetry spans to OTEL_EXPORTER_OTLP_ENDPOINT.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
REPLACE = click.option("--replace", is_flag=True, help="Write over a file that is there already.")


def check_new(out: Path, replace: bool) -> None:
    """Refuse to write over a file, unless that is asked for."""
    if not replace and os.path.lexists(out):
        raise InputError(f"{out}: is there already; name a new file, or write over it with --replace")


@contextmanager
def traced(trace: bool) -> Iterator[None]:
    """Record OpenTelemetry spans while something runs, if `trace` is set."""
    if trace:
        tracing.start()
    try:
        yield
    finally:
        tracing.stop()


@contextmanager
def stoppable(describe_kept: Callable[[], str], then: str = "the same command goes on") -> Iterator[None]:
    """Let Ctrl-C end something in one sentence; `describe_kept` says what is finished, `then` what to do."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(f"stopped; {describe_kept()}; {then}") from None


def chosen_distinct(value: str | None) -> Distinct | None:
    """What --distinct says; None where it was not given."""
    return None if value is None else Distinct(value)


def this_command() -> str:
    """How merit was called, so that a command that is proposed works as it is printed."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py" and called.parent.name == "merit":
        return f"{shlex.quote(sys.executable)} -m merit"
    if called.name != "merit" or shutil.which("merit") == str(called.absolute()):
        return "merit"
    return shlex.quote(str(called))


def drawing(max_prompt_tokens: int | None, truncate: str | None) -> Sampling:
    """How answers are drawn, as options say it: greedily, from whole prompts or from cut ones."""
    if (max_prompt_tokens is None) != (truncate is None):
        raise InputError(
            "--max-prompt-tokens and --truncate go together; give both, as in --max-prompt-tokens 4096 --truncate left"
        )
    return Sampling(max_prompt_tokens=max_prompt_tokens)


def note_limit(limit: int | None, there: int) -> None:
    """Say that a --limit is beyond what there is."""
    if limit is not None and limit > there:
        are = "is only 1 question, and it is" if there == 1 else f"are only {there} questions, and all are"
        say(f"merit: --limit {limit}: there {are} taken", err=True)


def allowed(max_tokens: int | None, max_cost: float | None, prices: tuple[float, float] | None) -> Allowance:
    """How much may be spent, as options say it."""
    if max_cost is not None and prices is None:
        raise InputError(
            "a limit on the cost needs prices: give --prices PROMPT OUTPUT, what a million tokens of each cost"
        )
    return Allowance(max_tokens, max_cost, Prices(*prices) if prices else None)


def check_out(out: Path | None) -> None:
    """Check where to write before the work, which may take hours."""
    if out is not None and not out.absolute().parent.is_dir():
        raise InputError(f"{out}: there is no folder {out.absolute().parent} to write to")
    if out is not None and out.is_dir():
        raise InputError(f"{out}: is a folder; name a file to write to")
