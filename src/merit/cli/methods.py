"""`merit methods`: what can be run."""

import json

import click
from rich.console import Console
from rich.table import Table

from merit.agent import METHODS
from merit.cli.options import JSON


@click.command()
@JSON
def methods(as_json: bool) -> None:
    """List every method, baseline and ablation with what it changes."""
    if as_json:
        click.echo(json.dumps([method.record() for method in METHODS.values()], indent=2))
        return
    table = Table("method", "what it does", "recalls", "keeps", "online")
    for method in METHODS.values():
        policy = method.recall
        recalls = "-"
        if policy is not None:
            recalls = f"{policy.positives + policy.negatives} of one pool" if policy.one_pool else ""
            recalls = recalls or f"{policy.positives} positive, {policy.negatives} negative"
        keeps = ", ".join(sorted(method.writes)) or "-"
        table.add_row(method.name, method.summary, recalls, keeps, "yes" if method.online else "[bold red]no[/]")
    Console().print(table)
