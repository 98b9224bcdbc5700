"""`merit demo`: everything for real over the benchmark that comes with merit, with recorded answers or a live model."""

import asyncio
import shlex
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import click

from merit.agent import METHODS as ALL_METHODS
from merit.agent import find_method
from merit.audit import AuditData, audit_run
from merit.benchmark import DataSpec
from merit.bundled import NAME, Recording, read_sources, recorded
from merit.cache import cache_folder
from merit.cli.audit import gone_through, show_trust
from merit.cli.demo_live import show_live
from merit.cli.grid import first_of, following
from merit.cli.importing import AGAIN
from merit.cli.options import CACHE, CONCURRENCY, ENCODER, JSON, stoppable, this_command
from merit.cli.plain import at_least
from merit.cli.progress import progress_bar, warn_without_sql
from merit.cli.tables import show_table
from merit.cli.terminal import Console, inline, print_json, say
from merit.errors import InputError, counted
from merit.files import atomic_write, unfinished_path
from merit.models import CachingEncoder, open_encoder
from merit.models.completers import KNOWN, check_uri
from merit.report import Report, build, summary_table, write_report
from merit.report.page import write_page
from merit.runs import RunView, account, read_run
from merit.stream import Gap, Grid, Progress, RunSpec, Workshop, run_covered
from merit.types import QuestionId

METHODS = "zero_shot,grounded,iterative,reflexion,dynamic_rag,merit,precedent,resample"
_AGAINST = ("merit", "iterative", "zero_shot")  # what the others are compared with: the first that was run
_MARKER = "made-by-merit-demo.txt"  # says that the folder is a demo's, which the next one may make anew
_DATA = DataSpec(NAME, None)
_RUNS, _REPORT, _INITIAL, _LIVE = "runs", "report", "initial.jsonl", "live"
_MADE = (_RUNS, _REPORT, _INITIAL, _LIVE)
_EARLIER = "earlier"  # where the demo that is to be replaced waits until the new one has run


@click.command()
@click.option("--model", metavar="URI", help=f"A live model instead of the recorded answers: {KNOWN}.")
@ENCODER
@click.option(
    "--methods",
    default=METHODS,
    show_default=METHODS.replace(",", ", "),
    help="Methods, with commas between them, or all.",
)
@click.option("--seeds", default="0", show_default=True, help="Stream seeds, with commas between them.")
@click.option("--limit", type=at_least(1), help="Only the first questions of each stream.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("merit-demo"),
    show_default=True,
    help="The folder for runs and report; an earlier demo in it is replaced once this one has run to its end.",
)
@CONCURRENCY
@CACHE
@JSON
def demo(
    model: str | None,
    encoder: str,
    methods: str,
    seeds: str,
    limit: int | None,
    out: Path,
    concurrency: int,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Run methods over the bundled benchmark, compare and audit them, write the report, and ask and correct live.

    Without --model, the answers are those that a real model gave when they were recorded, and no model is called. What
    the recording does not cover is left out with a note. Exit 1 where nothing could be run. --json prints one object:
    the report, the metrics of every run by its folder's name (null for one that was left out), and the live answers.
    """
    started = time.monotonic()
    console = Console(stderr=as_json)  # with --json, text for people goes to stderr
    if model:
        check_uri(model)
    recording = None if model else recorded()
    grid = _grid(recording.uri if recording else str(model), encoder, methods, seeds, limit, out)
    folder = (cache or cache_folder()).absolute()
    with _demo_folder(out):
        _announce(console, grid, recording, limit)
        gaps = _run(grid, folder, concurrency)
        views = [read_run(grid.out / name) for name, gap in gaps.items() if gap is None]
        if not views:
            _show_left_out(console, left_out(grid, gaps))
            raise InputError("nothing could be run: the recording covers none of it; ask a live model with --model")
    ran_methods = {view.method.name for view in views}
    against = next((name for name in _AGAINST if name in ran_methods), _AGAINST[0])
    made = build(views, against=against)
    show_table(console, summary_table(made.groups, against))  # the differences of the report's paired table
    _show_left_out(console, left_out(grid, gaps))
    with stoppable(lambda: f"the runs in {grid.out} are finished, the report is not", AGAIN):
        _audit(console, views, encoder, folder)
        page = _write(made, views, out)
    console.print()
    console.block(f"{page}  (open it in a browser; every episode is in it)", 10, head="[bold]report[/]")
    console.block(f"{grid.out}, {time.monotonic() - started:.0f} s in all", 10, head="runs")
    console.print(f"next      {inline(_episode(views))}", soft_wrap=True)  # in one line, to be copied
    with stoppable(lambda: f"the runs in {grid.out} and their report are finished, the live part is not", AGAIN):
        live = show_live(console, model, encoder, out / _LIVE, folder)
    if as_json:
        ran = {name: account(view.turns, view.method) for name, view in _by_name(grid, views).items()}
        runs = {name: ran.get(name) for name in grid.runs}
        print_json({"report": str(page), "out": str(grid.out), "runs": runs, "live": live})
    more = f"{this_command()} demo --model openai:NAME (make demo MODEL=...) asks a live model; then your own data"
    console.block(more, 10)


def _episode(views: Sequence[RunView]) -> str:
    """The command that shows an episode worth a look: a repair of the method that has most of them."""
    best = max(views, key=lambda view: len(_repaired(view)))
    question = (_repaired(best) or [best.turns[0].episode.task.question.id])[-1]
    return f"{this_command()} show {shlex.quote(str(best.path))} {shlex.quote(str(question))}"


def _by_name(grid: Grid, views: Sequence[RunView]) -> dict[str, RunView]:
    return {str(view.path.relative_to(grid.out)): view for view in views}


def _repaired(view: RunView) -> list[QuestionId]:
    return [turn.episode.task.question.id for turn in view.turns if turn.final_correct and not turn.initial_correct]


def _grid(model: str, encoder: str, methods: str, seeds: str, limit: int | None, out: Path) -> Grid:
    wanted = list(ALL_METHODS) if methods.strip() == "all" else methods.split(",")
    names = dict.fromkeys(find_method(name.strip()).name for name in wanted)
    pairs = [(name, seed) for name in names for seed in _seeds(seeds)]
    runs = {f"{name}/seed{seed}": RunSpec(_DATA, out / _INITIAL, name, seed, limit=limit) for name, seed in pairs}
    return Grid(out / _RUNS, model, encoder, runs)


def _seeds(text: str) -> list[int]:
    try:
        return list(dict.fromkeys(int(seed) for seed in text.split(",")))
    except ValueError:
        raise InputError(f"--seeds {text}: give whole numbers with commas between them, such as 0,1,2") from None


def _announce(console: Console, grid: Grid, recording: Recording | None, limit: int | None) -> None:
    names = dict.fromkeys(spec.method for spec in grid.runs.values())
    if limit is not None and limit >= sum(len(source.questions) for source in read_sources()):
        limit = None
    asked = f"the first {counted(limit, 'question')}" if limit else "all questions"
    seeds = dict.fromkeys(spec.seed for spec in grid.runs.values())
    console.print(
        f"[bold]merit demo[/]: {', '.join(names)}\n"
        f"over {asked} of the benchmark that comes with merit, seed"
        f"{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}: {counted(len(grid.runs), 'run')}.\n"
        "Judge, failure classifier, memory, recall and audit work for real.",
    )
    if recording is not None:
        about = recording.manifest
        made = "; ".join(f"{name}: {text}" for name, text in about["made"].items())
        console.print(
            f"[bold]No model is called[/]: the answers are recorded ones, {about['answers']} of "
            f"{inline(about['model']['name'])} ({inline(about['model']['revision'])})."
        )
        console.block(f"{made}.\n" if made else "", 0)
    elif grid.model.startswith("replay:"):
        console.print(f"[bold]No model is called[/]: the answers are those recorded in {inline(grid.model[7:])}.\n")
    else:
        console.print(f"The answers are asked of {inline(grid.model)}, live; each is kept and asked for once.\n")


@contextmanager
def _demo_folder(out: Path) -> Iterator[None]:
    """An empty folder for a demo; an earlier demo is restored if this one fails, and other files are never touched."""
    if out.exists() and not (out / _MARKER).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: is there and holds no earlier demo; choose another --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be made ({error.strerror}); choose another --out") from None
    if (earlier := out / _EARLIER).is_symlink():  # what is moved there and back is replaced
        raise InputError(f"{earlier}: is a link, which no demo makes; remove it, or choose another --out")
    with atomic_write(out / _MARKER, way_out="choose another --out") as file:
        file.write(b"Made by `merit demo`; the next one with this --out replaces its runs and report.\n")
    _move(earlier, out)  # left by a demo that was killed
    unfinished_path(out / _INITIAL).unlink(missing_ok=True)
    if any((out / name).exists() for name in _MADE):
        say(f"merit: {out}: the earlier demo there is replaced once this one has run to its end", err=True)
        earlier.mkdir(exist_ok=True)
        _move(out, earlier)
    try:
        yield
    except BaseException:
        if earlier.is_dir():
            shutil.rmtree(out / _RUNS, ignore_errors=True)
            for path in (out / _INITIAL, unfinished_path(out / _INITIAL)):
                path.unlink(missing_ok=True)
            _move(earlier, out)
            earlier.rmdir()
        raise
    shutil.rmtree(earlier, ignore_errors=True)


def _move(source: Path, target: Path) -> None:
    """Move the runs, report and first answers of a demo to another folder; they replace those there."""
    for name in _MADE:
        if (source / name).exists():
            if (target / name).is_dir():
                shutil.rmtree(target / name)
            (source / name).replace(target / name)


def _show_left_out(console: Console, sentences: Iterator[str]) -> None:
    for sentence in sentences:
        console.block(sentence, 10, head="left out")


def _run(grid: Grid, cache: Path, concurrency: int) -> dict[str, Gap | None]:
    async def go() -> dict[str, Gap | None]:
        async with Workshop(grid.model, grid.encoder, cache, concurrency) as shop:
            seen: dict[str, Progress] = {}
            with progress_bar() as bar:
                gaps = await run_covered(grid, shop, following(bar, len(grid.runs), seen))
            warn_without_sql(*(progress.replies for progress in seen.values()))
            return gaps

    try:
        with stoppable(lambda: _left(grid), AGAIN):
            return asyncio.run(go())
    except BaseExceptionGroup as failures:
        raise first_of(failures) from None


def _left(grid: Grid) -> str:
    """What there is when a demo is stopped before all its runs are done."""
    out = grid.out.parent
    if (out / _EARLIER).is_dir():
        runs = f"the earlier demo in {out} is back as it was"
    else:
        runs = f"the runs in {out} are not finished"
    return runs if grid.model.startswith("replay:") else f"every answer of {grid.model} is kept, {runs}"


def left_out(grid: Grid, gaps: Mapping[str, Gap | None]) -> Iterator[str]:
    """A sentence for each method that a recording does not cover, with the seeds where."""
    by_method: dict[str, dict[int, Gap]] = {}
    for name, gap in gaps.items():
        if gap is not None:
            by_method.setdefault(grid.runs[name].method, {})[grid.runs[name].seed] = gap
    for method, missing in by_method.items():
        yield f"{method}, seed {', '.join(map(str, missing))}: {Gap.together(missing.values())}"


def _audit(console: Console, views: Sequence[RunView], encoder: str, cache: Path) -> None:
    """Derive every run again, with a judge and a memory of its own."""
    with ExitStack() as stack:
        data = AuditData(stack.enter_context(_DATA.open(cache)))
        ranking = None
        if any(view.method.encodes for view in views):
            ranking = stack.enter_context(closing(CachingEncoder(open_encoder(encoder), cache)))
        audited = []
        for view in views:
            audited.append(audit_run(view, encoder=ranking, data=data))
            about = f"{view.method.name}, seed {view.identity.seed}: holds, {gone_through(audited[-1])}"
            console.block(about, 10, head="audit")
    show_trust(audited, console)


def _write(made: Report, views: Sequence[RunView], out: Path) -> Path:
    for sentence in (*made.refused, *made.notes):
        say(f"merit: {sentence}", err=True)
    write_report(made, out / _REPORT)
    page = out / _REPORT / "report.html"
    write_page(made, views, page)
    return page
