"""`merit doctor`: whether a database can be reached, and whether its role only reads."""

from contextlib import closing
from typing import Any

import click
from rich.markup import escape

from merit.cache import cache_folder
from merit.cli.live import settings_here
from merit.cli.options import JSON
from merit.cli.terminal import Console, inline, print_json
from merit.errors import counted
from merit.live.opening import full_url
from merit.sql.connect import masked, open_engine
from merit.types import Health, Schema


@click.command()
@click.argument("url", required=False, envvar="MERIT_DATABASE")
@JSON
def doctor(url: str | None, as_json: bool) -> None:
    """Check a database and the role that reads it.

    For example: merit doctor postgresql://reader@localhost/shop; without a URL, the database of MERIT_DATABASE or
    merit.toml. It says which engine answers, how many tables are
    seen, and what the role could do if nothing of merit stood between: write, create, administrate, reach files. Where
    that is more than reading, it prints the statements that make a role for reading; an administrator has to run them.
    Nothing is changed or tried out. Exit 1 if the database cannot be reached. Other URLs are sqlite:///file,
    duckdb:///file and mysql://user@host/database.
    """
    url = full_url(url or settings_here().database.resolved_url())
    with closing(open_engine(url, cache=cache_folder())) as engine:
        health, schema = engine.health(), engine.schema()
    if as_json:
        print_json(_record(url, health, schema))
    else:
        _show(url, health, schema)


def _record(url: str, health: Health, schema: Schema) -> dict[str, Any]:
    return {
        "url": masked(url),
        "engine": health.engine,
        "version": health.version,
        "role": health.role,
        "read_only_role": health.good,
        "findings": [{"good": finding.good, "text": finding.text} for finding in health.findings],
        "remedy": list(health.remedy),
        "tables": sum(not table.view for table in schema.tables),
        "views": sum(table.view for table in schema.tables),
        "columns": sum(len(table.columns) for table in schema.tables),
    }


def _show(url: str, health: Health, schema: Schema) -> None:
    """Print what was found, for people."""
    console = Console(highlight=False, soft_wrap=True)
    views = sum(table.view for table in schema.tables)
    columns = sum(len(table.columns) for table in schema.tables)
    console.print(f"[bold]{inline(masked(url))}[/]  {inline(health.engine)} {inline(health.version)}")
    tables = counted(len(schema.tables) - views, "table")
    console.print(f"  sees    {tables}, {counted(views, 'view')}, {counted(columns, 'column')}")
    if health.role:
        console.print(f"  role    {inline(health.role)}")
    for finding in health.findings:
        head = "  [green]good[/]    " if finding.good else "  [yellow]check[/]   "
        Console(highlight=False).block(finding.text, 0, head=head)
    if health.remedy:
        console.print("\nThe role can do more than read. These statements make one that cannot:\n")
        for statement in health.remedy:
            console.print(f"  {escape(statement)}")
