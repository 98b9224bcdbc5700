"""`merit data check bundled`: everything about the benchmark that comes with merit is proved again."""

from contextlib import closing
from typing import Any

import click
from rich.table import Column, Table

from merit.bundled import DIFFICULTIES, read_sources
from merit.cli.progress import progress_bar
from merit.cli.terminal import Console, print_json, say
from merit.data import Dataset, survey
from merit.errors import InputError, counted
from merit.sql import SQLiteSandbox

_HEADINGS = (
    "database",
    "tables",
    "rows",
    f"questions ({'/'.join(DIFFICULTIES)})",
    "like another",
    "suite",
    "mutants",
    "differing",
    "killed by original",
    "killed",
    "kill rate",
)
_WITHOUT_MUTANTS = 6  # of the headings


def check_bundled(dataset: Dataset, *, as_json: bool, quick: bool) -> None:
    """Check it and print what came out; without `quick`, wrong answers are tried on its test suites."""
    from merit import mutation  # its parser takes a moment to load, which other commands need not wait for

    sources = read_sources()
    questions = sum(len(source.questions) for source in sources)
    if not quick:
        say(
            f"merit: trying wrong answers (mutants) to {counted(questions, 'question')} on their test suites, which "
            "takes minutes; --quick leaves that out",
            err=True,
        )
    with closing(SQLiteSandbox(frozen=True)) as sandbox:
        surveyed = survey(dataset, sandbox.is_sound)
    if surveyed["damaged"]:
        raise InputError(f"{surveyed['damaged'][0]}: damaged; remove its folder, and it is built anew")
    with progress_bar() as bar:
        task = bar.add_task("bundled", total=questions, detail="questions")
        result = mutation.check(sources, quick=quick, on_progress=lambda done: bar.update(task, completed=done))
    if as_json:
        print_json({"content_hash": surveyed["content_hash"], **result})
    else:
        show_check(result, surveyed["content_hash"], quick, Console(highlight=False))


def show_check(result: dict[str, Any], content_hash: str, quick: bool, console: Console) -> None:
    """A table on a terminal; in a pipe or file whole lines, with tabs between the cells."""
    headings = _HEADINGS[: _WITHOUT_MUTANTS if quick else None]
    rows = [_cells(row, quick) for row in (*result["databases"], result["overall"])]
    if console.soft_wrap:
        for cells in (headings, *rows):
            click.echo("\t".join(cells))
    else:
        columns = (Column(name, justify="right", overflow="fold") for name in headings[1:])
        table = Table(Column(headings[0], no_wrap=True), *columns, padding=0)
        for number, cells in enumerate(rows, 1):
            table.add_row(*cells, end_section=number == len(rows) - 1)
        console.print(table)
    console.print(f"  content hash  {content_hash}", soft_wrap=True)
    console.block(_totals(result, quick), 16, head="  in all")


def _cells(row: dict[str, Any], quick: bool) -> list[str]:
    levels = "/".join(str(row["difficulty"].get(level, 0)) for level in DIFFICULTIES)
    cells = [row["database"], row["tables"], row["rows"], f"{row['questions']} ({levels})", row["like"], row["suite"]]
    if not quick:
        cells += [row["mutants"], row["differing"], row["killed_by_original"], row["killed"]]
        cells.append(f"{100 * row['kill_rate']:.2f}%")
    return list(map(str, cells))


def _totals(result: dict[str, Any], quick: bool) -> str:
    """The sums, shown when the terminal is too narrow for the table."""
    total = result["overall"]
    totals = (
        f"{counted(len(result['databases']), 'database')}, {counted(total['tables'], 'table')}, "
        f"{counted(total['rows'], 'row')}, {counted(total['questions'], 'question')}"
    )
    if quick:
        return totals
    rate = f"{100 * total['kill_rate']:.2f}%"
    return f"{totals}; suites tell {total['killed']} of {total['differing']} differing mutants, {rate}"
