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
from merit.cli.terminal import Console, inline
from merit.errors import InputError, counted, short_hash
from merit.oracle import Excerpt, Explainer, ReferenceComparison
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
Answers = dict[str, dict[str, Any]]  # by stream and protocol, then by the question's number in it, then by SQL


@contextmanager
def explainers(roots: Sequence[Path]) -> Iterator[Callable[[RunView], Explainer]]:
    """What explains the answers of a run: over its own data, found among the folders by its content."""
    opened: dict[tuple[str, str], Explainer] = {}
    data = OwnData(roots, cache_folder())

    def of(view: RunView) -> Explainer:
        key = (view.identity.dataset.sha256, view.identity.judged_by)
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
    return Explainer(benchmark.dataset, view.identity.protocol, view.identity.distinct)


def answers(views: Sequence[RunView], roots: Sequence[Path]) -> Answers:
    """For a page: every question with a wrong first or final answer, compared with its reference."""
    collected: Answers = {}
    if roots and all(view.identity.dataset.name == BUNDLED for view in views):
        raise InputError(
            f"--data {roots[0]}: every run here is over {BUNDLED}, which comes with merit; leave --data out"
        )
    with explainers(roots) as of:
        for view in views:
            numbers = {question_id: str(number) for number, question_id in enumerate(view.questions)}
            of_stream = collected.setdefault(f"{stream_key(view.identity)}/{view.identity.judged_by}", {})
            for turn in view.answers:
                question = turn.episode.task.question
                wrong = [] if turn.initial_correct else [turn.episode.first.sql]
                wrong += [] if turn.final_correct else [turn.episode.final.sql]
                by_sql = of_stream.setdefault(numbers[question.id], {}) if wrong else {}
                for sql in wrong:
                    if sql not in by_sql:
                        by_sql[sql] = asdict(of(view).explain(question, sql))
    return collected


def check_asked(roots: Sequence[Path], with_references: bool) -> None:
    """Data is for references alone: a folder without the option would do nothing."""
    if roots and not with_references:
        raise InputError("--data is for --with-references; give both, or neither")


class ReferencePrinter:
    """Prints the answers of one episode beside their reference, which is printed once."""

    def __init__(self, view: RunView, console: Console, explainer: Explainer) -> None:
        self._view = view
        self._console = console
        self._explainer = explainer
        self._shown: set[str] = set()

    @classmethod
    def opened(
        cls, view: RunView, console: Console, roots: Sequence[Path], with_references: bool
    ) -> "ReferencePrinter | None":
        """A printer that is closed with its command; None without --with-references."""
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
        comparison, console = self._explainer.explain(question, sql), self._console
        first = not self._shown
        self._shown.add(sql)
        if first:
            console.print(f"  [dim]reference[/]  [green]{inline(' '.join(comparison.reference_sql.split()))}[/]")
        elif comparison.own.failure:
            return
        how = f"this attempt has none: {comparison.own.failure}" if comparison.own.failure else _HOW[comparison.differs]
        console.print(f"  [dim]first rows on {inline(where(comparison))}; {inline(how)}[/]")
        tables = Table.grid(padding=(0, 4, 0, 2))
        sides = [_table("reference", comparison.reference)]
        sides += [] if comparison.own.failure else [_table("this attempt", comparison.own)]
        tables.add_row(*sides)
        console.print(tables)


def where(comparison: ReferenceComparison) -> str:
    """The database of a comparison."""
    return f"{comparison.database}, a database of the test suite" if comparison.suite else comparison.database


def _table(title: str, excerpt: Excerpt) -> Table:
    rows = f"{excerpt.count} {'row' if excerpt.count == '1' else 'rows'}"
    head = excerpt.failure or f"{rows}, {counted(excerpt.columns, 'column')}"
    table = Table(title=f"{title}: {inline(head)}", title_justify="left", show_header=False, title_style="dim")
    for row in excerpt.rows:
        table.add_row(*map(inline, row))
    return table
