"""`merit data`: what is in a dataset folder."""

import json
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.table import Column, Table

from merit.bundled import DIFFICULTIES, NAME, open_dataset, read_sources
from merit.cache import cache_folder
from merit.cli.options import DATA, DATASET, SPLIT
from merit.cli.run import progress_bar
from merit.cli.screen import Console
from merit.data import Dataset, detect, survey
from merit.errors import InputError
from merit.oracle import write_subset

_HEADINGS = (
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


@click.group()
def data() -> None:
    """Look at benchmark data."""


@data.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--quick", is_flag=True, help="bundled: without the mutants.")
def check(folder: Path, as_json: bool, quick: bool) -> None:
    """Say what is there, what is missing, and the content hash; exit 1 if a database is damaged.

    FOLDER `bundled` is the benchmark that comes with merit: everything about it is proved again, and its test suites
    are tried on mutants of every reference.
    """
    if str(folder) == NAME:
        _check_bundled(as_json, quick)
        return
    surveys = [survey(dataset) for dataset in detect(folder)]
    if as_json:
        click.echo(json.dumps(surveys, indent=2))
    else:
        console = Console(highlight=False, soft_wrap=True)
        for found in surveys:
            _show(found, console)
    damaged = [path for found in surveys for path in found["damaged"]]
    if damaged:
        others = f" and {len(damaged) - 1} others" if len(damaged) > 1 else ""
        raise InputError(f"{damaged[0]}{others}: damaged; fetch the dataset again")


@data.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("database")
def schema(folder: Path, database: str) -> None:
    """Print a database's schema as a model reads it; FOLDER `bundled` is the benchmark that comes with merit."""
    for dataset in [_bundled()] if str(folder) == NAME else detect(folder):
        if database in dataset.schemas:
            click.echo(dataset.schemas[database].text())
            return
    raise InputError(f"{folder}: there is no database {database!r} in its tables file")


@data.command()
@DATASET
@DATA
@SPLIT
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder for the part.")
@click.option("--databases", type=click.IntRange(min=1), help="Only so many databases, drawn by --seed, each whole.")
@click.option("--distinct", is_flag=True, help="Only one question for each distinct reference SQL.")
@click.option("--seed", type=int, default=0, show_default=True)
def subset(
    dataset: str, root: Path | None, split: str, out: Path, databases: int | None, distinct: bool, seed: int
) -> None:
    """Write a part of a benchmark as a benchmark of its own; questions keep their ids."""
    count = write_subset(
        open_dataset(dataset, root, split, cache_folder()), out, databases=databases, distinct=distinct, seed=seed
    )
    click.echo(f"{count} questions in {out}")


def _bundled() -> Dataset:
    return open_dataset(NAME, None, "dev", cache_folder())


def _check_bundled(as_json: bool, quick: bool) -> None:
    from merit import mutation  # its parser takes a moment to load, which other commands need not wait for

    surveyed = survey(_bundled())
    if surveyed["damaged"]:
        raise InputError(f"{surveyed['damaged'][0]}: damaged; remove its folder, and it is built anew")
    sources = read_sources()
    with progress_bar() as bar:
        task = bar.add_task("bundled", total=len(sources), said="")
        found = mutation.check(sources, quick=quick, on_database=lambda name: bar.update(task, advance=1, said=name))
    if as_json:
        click.echo(json.dumps({"content_hash": surveyed["content_hash"], **found}, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    headings = (Column(name, justify="right", overflow="fold") for name in _HEADINGS[: 5 if quick else None])
    table = Table(Column("database", no_wrap=True), *headings, padding=0)
    for one in [*found["databases"], found["overall"]]:
        if one is found["overall"]:
            table.add_section()
        levels = "/".join(str(one["difficulty"].get(level, 0)) for level in DIFFICULTIES)
        cells = [one["tables"], one["rows"], f"{one['questions']} ({levels})", one["like"], one["suite"]]
        if not quick:
            cells += [one["mutants"], one["differing"], one["killed_by_original"], one["killed"]]
            cells.append(f"{100 * one['kill_rate']:.2f}%")
        table.add_row(one["database"], *map(str, cells))
    console.print(table)
    console.print(f"  content hash  {surveyed['content_hash']}")
    console.print(f"  in all        {_totals(found, quick)}")


def _totals(found: dict[str, Any], quick: bool) -> str:
    """The sums, for whoever has no room for the table."""
    total = found["overall"]
    said = (
        f"{len(found['databases'])} databases, {total['tables']} tables, {total['rows']} rows, "
        f"{total['questions']} questions"
    )
    if quick:
        return said
    rate = f"{100 * total['kill_rate']:.2f}%"
    return f"{said}; suites tell {total['killed']} of {total['differing']} differing mutants, {rate}"


def _show(found: dict[str, Any], console: Console) -> None:
    suite = (
        f", test suite of {found['suite_files']} files for {found['suite_databases']}" if found["suite_files"] else ""
    )
    console.print(f"[bold]{found['dataset']} {found['split']}[/]")
    console.print(f"  questions     {found['questions']}, of which {found['usable_questions']} have their database")
    console.print(f"  databases     {found['databases']}{suite}")
    for db_id, count in found["absent_databases"].items():
        console.print(f"  [yellow]missing[/]       {escape(db_id)}, {count} questions")
    for db_id in found["without_suite"]:
        console.print(f"  [yellow]no suite[/]      {escape(db_id)}")
    for path in found["damaged"]:
        console.print(f"  [red]damaged[/]       {escape(path)}")
    console.print(f"  content hash  {found['content_hash']}")
