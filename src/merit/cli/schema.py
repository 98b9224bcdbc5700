"""`merit schema`: what of a schema goes into a prompt."""

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from merit.cli.live import DATABASE, KEPT_IN, NAME, check_learned, has_learned, open_agent
from merit.cli.options import JSON
from merit.cli.plain import CommandGroup
from merit.cli.terminal import Console, inline, print_json
from merit.data.schema import read_schemas
from merit.errors import InputError
from merit.files import is_file
from merit.live.opening import FOLDER
from merit.models.encoders import WordLlamaEncoder
from merit.selection import BUDGET_TOKENS, Selection, Selector, open_index
from merit.types import Schema


@click.group(cls=CommandGroup)
def schema() -> None:
    """Look at what of a schema a model would see."""


@schema.command()
@click.argument("question")
@DATABASE
@click.option("--tables", metavar="FILE", help="A tables file in Spider's layout, instead of a database.")
@click.option("--only", metavar="NAME", help="Which database of a tables file; without it, all of them in one schema.")
@click.option("--budget", type=click.IntRange(min=1), help="Tokens of the text (default: 8000, or merit.toml's).")
@click.option(
    "--missing", multiple=True, metavar="NAME", help="A table or column that a failed query lacked; repeatable."
)
@click.option("--text", "as_text", is_flag=True, help="Print the text that a prompt would show.")
@KEPT_IN
@NAME
@JSON
def select(
    question: str,
    url: str | None,
    tables: str | None,
    only: str | None,
    budget: int | None,
    missing: tuple[str, ...],
    as_text: bool,
    folder: Path,
    name: str,
    as_json: bool,
) -> None:
    """Choose the tables and columns for QUESTION, and say why each is in.

    For example: merit schema select "Who has unpaid invoices?" --database postgresql://reader@host/shop. It is the
    choice that `merit ask` would make, with what the memory has learned. Tokens are estimated, a little too high. A
    schema that fits the budget goes in whole.
    """
    if tables is not None:
        selection = _from_file(Path(tables), only, question, missing, budget)
    elif only is not None:
        raise InputError("--only is for --tables: a database is asked about as a whole")
    else:
        selection = _from_database(url, folder, name, question, missing, budget)
    if as_json:
        print_json(selection.record())
    elif as_text:
        click.echo(selection.text)
    else:
        _show(selection)


def _from_database(
    url: str | None, folder: Path, name: str, question: str, missing: Sequence[str], budget: int | None
) -> Selection:
    if folder != FOLDER:
        check_learned(folder)
    with ExitStack() as stack:
        if not has_learned(folder):  # choosing makes no folder
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="merit-")))
        return stack.enter_context(open_agent(url, folder, name)).select(question, missing=missing, budget=budget)


def _from_file(path: Path, only: str | None, question: str, missing: Sequence[str], budget: int | None) -> Selection:
    if not is_file(path):
        raise InputError(f"{path}: no such file; give a tables file (tables.json)")
    schemas = read_schemas(path)
    if only is not None and only not in schemas:
        raise InputError(f"{path}: has no database {only}; it has {', '.join(sorted(schemas)[:5])}, ...")
    found = schemas[only] if only is not None else _together(path.stem, list(schemas.values()))
    encoder = WordLlamaEncoder()
    selector = Selector(
        found, budget=budget or BUDGET_TOKENS, encoder=encoder, index=open_index(found, encoder=encoder)
    )
    return selector.select(question, missing=missing)


def _together(name: str, schemas: list[Schema]) -> Schema:
    """Several databases as one schema, with tables named `database.table`."""
    if len(schemas) == 1:
        return schemas[0]
    tables = []
    for schema in schemas:
        for table in schema.tables:
            columns = tuple(
                replace(column, foreign_keys=tuple(f"{schema.db_id}.{key}" for key in column.foreign_keys))
                for column in table.columns
            )
            tables.append(replace(table, name=f"{schema.db_id}.{table.name}", columns=columns))
    return Schema(name, tuple(tables))


def _show(selection: Selection) -> None:
    console = Console()
    if selection.whole:
        console.print(f"The whole schema fits: {len(selection.tables)} tables, {selection.tokens} tokens.")
        return
    left = f"{selection.left_out_columns} of their columns and {selection.left_out_tables} tables are left out"
    console.print(f"{len(selection.tables)} tables, {selection.tokens} tokens; {left}.")
    for table in selection.tables:
        console.print(f"\n[bold]{inline(table.name)}[/]: {inline('; '.join(table.reasons))}")
        for column in table.columns:
            console.print(f"  {inline(column.name)}: {inline('; '.join(column.reasons))}")
