"""Reference answers for people who ask for them: `--with-references` of `merit show` and `merit report`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from merit.bundled import NAME as BUNDLED
from merit.cache import cache_folder
from merit.cli.own_data import OwnData, about
from merit.cli.screen import Console, inline
from merit.errors import InputError, counted, short_hash
from merit.oracle import Comparison, Excerpt, Explainer
from merit.report.page.pack import stream_key
from merit.runs import RunView
from merit.types import Question

DATA = click.option(
    "--data",
    "roots",
    multiple=True,
    type=click.Path(path_type=Path),
    help="The dataset's folder, for --with-references; bundled comes with merit. Once for each dataset.",
)
WITH_REFERENCES = click.option(
    "--with-references", is_flag=True, help="Show reference answers, and their rows beside those of wrong ones."
)
_HOW = {
    True: "where they differ",
    False: "no difference was seen on any database",
    None: "too much to compare here",
}
Answers = dict[str, dict[str, Any]]  # by stream and protocol, then by the question's place in it, then by SQL


@contextmanager
def explainers(roots: Sequence[Path]) -> Iterator[Callable[[RunView], Explainer]]:
    """What explains the answers of a run: over its own data, found among the folders by its content."""
    opened: dict[tuple[str, str], Explainer] = {}
    data = OwnData(roots, cache_folder())

    def of(view: RunView) -> Explainer:
        key = (view.identity.dataset.sha256, view.identity.protocol)
        if key not in opened:
            opened[key] = _open(view, data)
        return opened[key]

    try:
        yield of
    finally:
        for explainer in opened.values():
            explainer.close()


def _open(view: RunView, data: OwnData) -> Explainer:
    dataset = view.identity.dataset
    benchmark = data.find(view)
    if benchmark is None and dataset.name != BUNDLED:
        raise InputError(f"{view.path}: --with-references needs the data of {about(dataset)}; give --data its folder")
    if benchmark is None:
        raise InputError(
            f"{view.path}: was made with another version of the benchmark that comes with merit (content hash "
            f"{short_hash(dataset.sha256)}); use the merit that made it, {view.manifest.made_with.merit}"
        )
    return Explainer(benchmark.dataset, view.identity.protocol)


def answers(views: Sequence[RunView], roots: Sequence[Path]) -> Answers:
    """For a page: every question that went wrong somewhere, with its reference beside what stood there."""
    found: Answers = {}
    with explainers(roots) as of:
        for view in views:
            places = {question_id: str(place) for place, question_id in enumerate(view.questions)}
            of_stream = found.setdefault(f"{stream_key(view.identity)}/{view.identity.protocol}", {})
            for turn in view.answers:
                attempts, question = turn.episode.attempts, turn.episode.task.question
                wrong = [] if turn.initial_correct else [attempts[0].sql]
                wrong += [] if turn.final_correct else [turn.episode.final.sql]
                kept = of_stream.setdefault(places[question.id], {}) if wrong else {}
                for sql in wrong:
                    if sql not in kept:
                        kept[sql] = asdict(of(view).explain(question, sql))
    return found


def check_asked(roots: Sequence[Path], with_references: bool) -> None:
    """Data is for references alone: a folder without the option would do nothing."""
    if roots and not with_references:
        raise InputError("--data is for --with-references; give both, or neither")


class Beside:
    """Prints the answers of one episode beside their reference, which is printed once."""

    def __init__(self, view: RunView, console: Console, explainer: Explainer) -> None:
        self._view = view
        self._console = console
        self._explainer = explainer
        self._shown: set[str] = set()

    @classmethod
    def opened(cls, view: RunView, console: Console, roots: Sequence[Path], with_references: bool) -> "Beside | None":
        """One that is closed with its command; None where nobody asked for references."""
        check_asked(roots, with_references)
        if not with_references:
            return None
        if roots and view.identity.dataset.name == BUNDLED:
            raise InputError(f"{view.path}: is a run over bundled, whose data comes with merit; leave --data out")
        of = click.get_current_context().with_resource(explainers(roots))
        return cls(view, console, of(view))

    def show(self, question: Question, sql: str) -> None:
        """The reference with the first attempt that is wrong, and rows with every one that has some."""
        if sql in self._shown:
            self._console.print("  [dim]the same rows as before[/]")
            return
        found, console = self._explainer.explain(question, sql), self._console
        first = not self._shown
        self._shown.add(sql)
        if first:
            console.print(f"  [dim]reference[/]  [green]{inline(' '.join(found.reference_sql.split()))}[/]")
        elif found.own.failure:
            return
        how = f"this attempt has none: {found.own.failure}" if found.own.failure else _HOW[found.differs]
        console.print(f"  [dim]first rows on {inline(where(found))}; {inline(how)}[/]")
        tables = Table.grid(padding=(0, 4, 0, 2))
        sides = [_table("reference", found.reference)]
        sides += [] if found.own.failure else [_table("this attempt", found.own)]
        tables.add_row(*sides)
        console.print(tables)


def where(found: Comparison) -> str:
    """The database of a comparison."""
    return f"{found.database}, a database of the test suite" if found.suite else found.database


def _table(title: str, excerpt: Excerpt) -> Table:
    rows = f"{excerpt.count} {'row' if excerpt.count == '1' else 'rows'}"
    head = excerpt.failure or f"{rows}, {counted(excerpt.columns, 'column')}"
    table = Table(title=f"{title}: {inline(head)}", title_justify="left", show_header=False, title_style="dim")
    for row in excerpt.rows:
        table.add_row(*map(inline, row))
    return table
