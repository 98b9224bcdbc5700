"""`merit methods`: what can be run."""

import json

import click
from rich.console import Console
from rich.table import Column, Table

from merit.agent import METHODS
from merit.cli.options import JSON


@click.command()
@JSON
def methods(as_json: bool) -> None:
    """List every method, baseline and ablation with what it changes.

    A method can be run with other fields, as NAME:field=value,field=value; --json lists the fields.
    """
    if as_json:
        click.echo(json.dumps([method.record() for method in METHODS.values()], indent=2))
        return
    table = Table(Column("method", no_wrap=True), "what it does", "recalls", "keeps", "online")
    for method in METHODS.values():
        policy = method.recall
        pools = policy.pools if policy is not None else {}
        recalls = ", ".join(f"{limit} {polarity or 'of one pool'}" for polarity, limit in pools.items()) or "-"
        keeps = ", ".join(sorted(method.writes)) or "-"
        table.add_row(method.name, method.summary, recalls, keeps, "yes" if method.online else "[bold red]no[/]")
    Console().print(table)
