"""`merit data`: what is in a dataset folder."""

import difflib
import shlex
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from merit.bundled import NAME, open_dataset
from merit.cache import cache_folder
from merit.cli.data_bundled import check_bundled
from merit.cli.options import DATA, DATASET, JSON, LABEL, SPLIT, note_limit, unknown_dataset
from merit.cli.plain import CommandGroup, at_least
from merit.cli.terminal import Console, print_json, say
from merit.data import LAYOUTS, Dataset, check_label, detect, survey
from merit.errors import InputError, counted
from merit.oracle import write_subset
from merit.oracle.check import faulty_references
from merit.sql import SQLiteSandbox

_MOST_FAULTY = 5  # references that are named


@click.group(cls=CommandGroup)
def data() -> None:
    """Check benchmark data, look at its schemas, and cut parts out of it."""


_ANY = click.argument("dataset", metavar="{spider|bird|bundled}")


@data.command()
@_ANY
@DATA
@LABEL
@click.option("--quick", is_flag=True, help="bundled: without the mutants.")
@JSON
def check(dataset: str, root: Path | None, label: str, as_json: bool, quick: bool) -> None:
    """Say what is there and what is missing.

    For example: merit data check spider --data path/to/spider. Counts, gaps and the content hash of every split are
    shown; exit 1 if a database is damaged or has no tables, or if a question or its reference is empty or no SQL. A
    folder alone, as in merit data check path/to/spider, is taken for what it holds. Of bundled, the benchmark that
    comes with merit, everything is proved again, and its test suites are tried on mutants of every reference. --json
    prints one object, with the splits under datasets.
    """
    if dataset == NAME:
        open_dataset(dataset, root, "dev", cache_folder(), label)  # refuses a folder or a name
        check_bundled(_bundled(), as_json=as_json, quick=quick)
        return
    parts = _splits(dataset, root, label)
    with closing(SQLiteSandbox(frozen=True)) as sandbox:
        surveys = [
            {**survey(part, sandbox.is_sound), "dataset": part.title, "layout": part.layout.name} for part in parts
        ]
        faulty = [faulty_references(part, sandbox) for part in parts]
    for result, references in zip(surveys, faulty, strict=True):
        result["faulty_references"] = [f"{reference.where} {reference.why}" for reference in references]
    if as_json:
        print_json({"datasets": surveys})
    else:
        console = Console(highlight=False, soft_wrap=True)
        for result in surveys:
            _show(result, console)
    damaged = list(dict.fromkeys(path for result in surveys for path in result["damaged"]))  # splits share files
    if damaged:
        others = f" and {counted(len(damaged) - 1, 'other')}" if len(damaged) > 1 else ""
        raise InputError(f"{damaged[0]}{others}: damaged or without tables; fetch the dataset again")
    unusable = [reference for references in faulty for reference in references if reference.unusable]
    if unusable:
        others = f" (and {counted(len(unusable) - 1, 'other')})" if len(unusable) > 1 else ""
        raise InputError(
            f"{unusable[0].where} {unusable[0].why}{others}; write the reference SQL, or take the entry out"
        )
    for part in parts:
        if not part.questions:
            raise InputError(f"{part.questions_file}: holds no question")
    if all(set(part.absent("db")) >= {question.db_id for question in part.questions} for part in parts):
        raise InputError(f"{parts[0].root}: no question has its database; fetch the databases")


def _print(record: dict[str, object], text: str, as_json: bool) -> None:
    if as_json:
        print_json(record)
    else:
        click.echo(text)


@data.command()
@_ANY
@click.argument("database", required=False)
@DATA
@JSON
def schema(dataset: str, database: str | None, root: Path | None, as_json: bool) -> None:
    """Print a database's schema as a model reads it.

    For example: merit data schema spider concert_singer --data path/to/spider. Without a database, it lists those that
    there are. --json prints one object.
    """
    if database is None and dataset not in LAYOUTS and not Path(dataset).exists() and "/" not in dataset:
        dataset, database = _benchmark_of(dataset, root), dataset
    splits = _splits(dataset, root)
    known = sorted({db_id for part in splits for db_id in part.schemas})
    if database is None:
        _print({"databases": known}, "\n".join(known), as_json)
        return
    for part in splits:
        if database in part.schemas:
            text = part.schemas[database].text()
            _print({"database": database, "schema": text}, text, as_json)
            return
    near = difflib.get_close_matches(database, known, 3)
    typed = shlex.join(["merit", "data", "schema", dataset, *(["--data", str(root)] if root else [])])
    hint = f"did you mean {' or '.join(near)}?" if near else f"`{typed}` lists those that there are"
    raise InputError(f"{root or dataset}: there is no database {database!r} in its tables file; {hint}")


def _benchmark_of(database: str, root: Path | None) -> str:
    """The benchmark of a database that was named alone: that of the folder, or bundled if it has one."""
    if root is not None:
        return detect(root)[0].layout.name
    if database in _bundled().schemas:
        return NAME
    raise InputError(
        f"{database}: name the benchmark before the database: `merit data schema spider {shlex.quote(database)} --data "
        f"FOLDER`, or bird; without --data there are the databases of {NAME}: {', '.join(sorted(_bundled().schemas))}"
    )


@data.command()
@DATASET
@DATA
@SPLIT
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder for the part.")
@click.option("--databases", type=at_least(1), help="Only so many databases, drawn by --seed, each whole.")
@click.option("--distinct", is_flag=True, help="Only one question for each distinct reference SQL.")
@click.option("--limit", type=at_least(1), help="Of what is left, only so many questions, drawn by --seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides what is drawn.")
@JSON
def subset(
    dataset: str,
    root: Path | None,
    split: str,
    out: Path,
    databases: int | None,
    distinct: bool,
    limit: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Write a part as a benchmark of its own.

    For example: merit data subset spider --data path/to/spider --limit 100 --out small. Questions keep their ids. Use
    the part as spider --data small, with --name for a name of its own. --json prints one object.
    """
    whole = open_dataset(dataset, root, split, cache_folder())
    count = write_subset(whole, out, databases=databases, distinct=distinct, seed=seed, limit=limit)
    note_limit(limit, count)
    layout = "spider" if dataset == NAME else dataset  # a part of bundled is ordinary data in Spider's layout
    if as_json:
        print_json({"out": str(out), "layout": layout, "questions": count})
    else:
        say(
            f"{counted(count, 'question')} in {out}; use it as {layout} --data {out}, with --name for a name of its own"
        )


def _bundled() -> Dataset:
    return open_dataset(NAME, None, "dev", cache_folder())


def _splits(name: str, root: Path | None, label: str = "") -> Sequence[Dataset]:
    """Every split of a dataset that is there; a folder without a dataset's name is detected by its content."""
    if name == NAME:
        return [open_dataset(name, root, "dev", cache_folder(), label)]
    if name in LAYOUTS:
        if root is None and Path(name).is_dir():
            raise InputError(f"{name}: give its folder with --data; for the folder here, type `{name} --data {name}`")
        splits = [part for part in detect(root) if part.layout.name == name] if root and root.is_dir() else []
        if not splits:
            return [open_dataset(name, root, "dev", cache_folder(), label)]  # raises the error that says what is wrong
        if label:
            check_label(label, "the data's name")
        return [replace(part, label=label) for part in splits]
    if root is not None or label or not ("/" in name or Path(name).exists()):
        raise InputError(unknown_dataset(name))
    return detect(Path(name))


def _show(result: dict[str, Any], console: Console) -> None:
    suite = (
        f", test suite of {counted(result['suite_files'], 'file')} for {result['suite_databases']}"
        if result["suite_files"]
        else ""
    )
    console.print(f"[bold]{escape(result['dataset'])} {result['split']}[/]")
    console.print(f"  questions     {result['questions']}, of which {result['usable_questions']} have their database")
    console.print(f"  databases     {result['databases']}{suite}")
    for db_id, count in result["absent_databases"].items():
        console.print(f"  [yellow]missing[/]       {escape(db_id)}, {counted(count, 'question')}")
    for db_id in result["without_suite"]:
        console.print(f"  [yellow]no suite[/]      {escape(db_id)}")
    for sentence in result["faulty_references"][:_MOST_FAULTY]:
        console.print(f"  [yellow]reference[/]     {escape(sentence)}")
    if (more := len(result["faulty_references"]) - _MOST_FAULTY) > 0:
        console.print(f"  [yellow]reference[/]     and {more} more; --json lists all")
    for path in result["damaged"]:
        console.print(f"  [red]damaged[/]       {escape(path)}")
    console.print(f"  content hash  {result['content_hash']}")
