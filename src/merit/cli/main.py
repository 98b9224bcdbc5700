"""`merit`: the commands, and how every error reaches a person as one sentence."""

import sys

import click

from merit import __version__
from merit.cli.audit import audit
from merit.cli.data import data
from merit.cli.demo import demo
from merit.cli.grid import grid
from merit.cli.label import label
from merit.cli.memory import memory
from merit.cli.methods import methods
from merit.cli.model import answers, model
from merit.cli.report import report
from merit.cli.run import predict, run
from merit.cli.score import score
from merit.cli.show import show
from merit.cli.view import view
from merit.errors import MeritError, Stopped


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="merit")
def cli() -> None:
    """Repair Text-to-SQL failures, and remember what was learned."""


for command in (
    answers,
    audit,
    data,
    demo,
    grid,
    label,
    memory,
    methods,
    model,
    predict,
    report,
    run,
    score,
    show,
    view,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line; exit 1 with one sentence on anything that went wrong."""
    try:
        cli(prog_name="merit")
    except Stopped as stopped:
        click.echo(f"merit: {stopped}", err=True)
        sys.exit(130)  # as shells say it
    except MeritError as error:
        sys.exit(f"merit: {error}")
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        sys.exit(f"merit: {place}{error.strerror or error}")
