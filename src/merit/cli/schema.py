"""`merit schema`: what of a schema goes into a prompt."""

from dataclasses import replace
from pathlib import Path

import click

from merit.cli.options import JSON
from merit.cli.plain import CommandGroup
from merit.cli.screen import Console, inline, print_json
from merit.data.schema import read_schemas
from merit.errors import InputError
from merit.files import is_file
from merit.models.encoders import WordLlamaEncoder
from merit.selection import BUDGET_TOKENS, Selection, Selector, open_index
from merit.sql import SQLiteEngine
from merit.types import Schema


@click.group(cls=CommandGroup)
def schema() -> None:
    """Look at what of a schema a model would see."""


@schema.command()
@click.argument("question")
@click.option(
    "--db", "source", metavar="FILE", required=True, help="A SQLite file, or a tables file in Spider's layout."
)
@click.option(
    "--database", metavar="NAME", help="Which database of a tables file; without it, all of them in one schema."
)
@click.option(
    "--budget", type=click.IntRange(min=1), default=BUDGET_TOKENS, show_default=True, help="Tokens of the text."
)
@click.option(
    "--missing", multiple=True, metavar="NAME", help="A table or column that a failed query lacked; repeatable."
)
@click.option("--text", "as_text", is_flag=True, help="Print the text that a prompt would show.")
@JSON
def select(
    question: str,
    source: str,
    database: str | None,
    budget: int,
    missing: tuple[str, ...],
    as_text: bool,
    as_json: bool,
) -> None:
    """Choose the tables and columns for QUESTION, and say why each is in.

    Tokens are estimated, a little too high. A schema that fits the budget goes in whole.
    """
    found, dialect = _open(Path(source), database)
    encoder = WordLlamaEncoder()
    index = open_index(found, dialect=dialect, encoder=encoder)
    selector = Selector(found, budget=budget, dialect=dialect, encoder=encoder, index=index)
    selection = selector.select(question, missing=missing)
    if as_json:
        print_json(selection.record())
    elif as_text:
        click.echo(selection.text)
    else:
        _show(selection)


def _open(source: Path, database: str | None) -> tuple[Schema, str]:
    """A schema and the dialect of its database."""
    if not is_file(source):
        raise InputError(f"{source}: no such file; give a SQLite file or a tables file (tables.json)")
    if source.suffix != ".json":
        if database is not None:
            raise InputError(f"{source}: --database is for tables files; a SQLite file is one database")
        engine = SQLiteEngine(source)
        try:
            return engine.schema(), engine.dialect
        finally:
            engine.close()
    schemas = read_schemas(source)
    if database is not None:
        if database not in schemas:
            raise InputError(f"{source}: has no database {database}; it has {', '.join(sorted(schemas)[:5])}, ...")
        return schemas[database], "sqlite"
    return _together(source.stem, list(schemas.values())), "sqlite"


def _together(name: str, schemas: list[Schema]) -> Schema:
    """Several databases as one schema, with tables named `database.table`."""
    if len(schemas) == 1:
        return schemas[0]
    tables = []
    for one in schemas:
        for table in one.tables:
            columns = tuple(
                replace(column, foreign_keys=tuple(f"{one.db_id}.{key}" for key in column.foreign_keys))
                for column in table.columns
            )
            tables.append(replace(table, name=f"{one.db_id}.{table.name}", columns=columns))
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
